/** The job that erases an org: in slices, from the beginning after a kill, told once. Its steps' own work is tested at the gateway. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { erasureHandler } from "../../../../src/account/erasure/erasure.ts";
import type { ErasureStep } from "../../../../src/account/erasure/erasure-steps.ts";
import { newOrg, type OrgRow } from "../../../../src/account/org.ts";
import { AccountTables } from "../../../../src/account/tables.ts";
import { Audit } from "../../../../src/store/events/audit.ts";
import { Events } from "../../../../src/store/events/events.ts";
import { openStore } from "../../../../src/store/store.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-03-01T00:00:00Z");

async function erasure(change: Partial<OrgRow>, more: readonly ErasureStep[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "weir-erasure-"));
  const store = openStore(folder);
  const clock = { nowMs: START, now: () => clock.nowMs, monotonic: () => clock.nowMs };
  const onFailure = (error: unknown) => {
    // A table that a test left open sweeps on after its store was closed.
    if (!String(error).includes("closed database")) throw error;
  };
  const events = new Events({ store, clock, onFailure });
  const audit = new Audit({ store, clock, onFailure });
  const accounts = new AccountTables(store);
  onTestFinished(async () => {
    events.close();
    audit.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const given = { slug: "acme", name: "Acme", kind: "team", billingCountry: "IN", planId: "local" } as const;
  const org = { ...newOrg(given, START), legalName: "Acme Ltd", ...change };
  await accounts.act(() => accounts.addOrg(org));
  const log: string[] = [];
  const step = (name: string, slices: number, isOutside = false): ErasureStep => {
    let left = slices;
    const erase = () => {
      log.push(name);
      return --left > 0;
    };
    return isOutside ? { name, eraseOutside: erase } : { name, erase };
  };
  const steps = [...more, step("rows", 3), step("files", 2, true)];
  const caughtUp = () => store.caughtUp();
  const forgetRemoved = async () => void log.push("forget");
  const mail = { isOut: true };
  const mails = {
    putBegun: (_orgId: string, name: string) => [`mail ${log.push(`mail of ${name}`)}`],
    isOut: () => mail.isOut,
  };
  const handler = erasureHandler({
    accounts,
    clock,
    trail: { events, audit },
    creditLeft: () => ({ paidMicroUsd: 5, grantedMicroUsd: 0, refunds: [] }),
    mails,
    steps,
    caughtUp,
    forgetRemoved,
    onErased: () => log.push("erased"),
  });
  const run = async (signal = new AbortController().signal) => {
    const job = { key: org.id, orgId: org.id, createdAtMs: START, attempt: 1, signal };
    const ending = await handler.run({ orgId: org.id }, job);
    if (ending?.act !== undefined) await store.act(ending.act);
    return ending?.againAtMs;
  };
  const told = () => Array.from(events.of(org.id), ({ type }) => type).sort();
  const closing = () => Array.from(events.of(org.id)).find(({ type }) => type === "org.closed")?.data;
  return { clock, log, mail, run, told, closing, row: () => accounts.org(org.id) as OrgRow };
}

const asked = { erasureRequestedAtMs: START, erasureDueAtMs: START + 30 * DAY };

test("an erasure that was cancelled, or is not due, removes nothing", async () => {
  const cancelled = await erasure({});
  expect([await cancelled.run(), cancelled.log]).toEqual([undefined, []]);
  const early = await erasure(asked);
  expect([await early.run(), early.log, early.row().status]).toEqual([START + 30 * DAY, [], "active"]);
});

test("an open org is closed first; what is outside is asked again, and the end is told once", async () => {
  const { clock, log, run, told, closing, row } = await erasure(asked);
  clock.nowMs += 30 * DAY;
  expect(await run()).toBe(clock.nowMs + 5000);
  expect(closing()).toMatchObject({ closing: { by: "erasure", refund_requested: false, paid_micro: 5 } });
  expect([row().status, row().name, log.join(" ")]).toEqual([
    "closed",
    "Acme",
    "mail of Acme rows rows rows files",
  ]);
  clock.nowMs += 5000;
  // Calls that were under way are looked for once more.
  expect(await run()).toBe(clock.nowMs + 20 * 60_000);
  expect(row()).toMatchObject({ slug: expect.stringMatching(/^erased-/), name: "", legalName: "" });
  expect(row()).toMatchObject({ billingCurrency: "INR", erasureDueAtMs: null, erasedAtMs: clock.nowMs });
  clock.nowMs += 20 * 60_000;
  expect(await run()).toBeUndefined();
  expect(told()).toEqual(["erasure.done", "org.closed"]);
  expect(log.filter((what) => what === "forget")).toHaveLength(2);
});

test("a stop between two slices ends the run, and the next run goes on", async () => {
  const closed = { ...asked, status: "closed", closedAtMs: START } as const;
  const { clock, log, run, told, row } = await erasure(closed);
  clock.nowMs += 30 * DAY;
  await expect(run(AbortSignal.abort())).rejects.toThrow("stopped while erasing rows");
  expect([log, row().name]).toEqual([["mail of Acme"], "Acme"]);
  await run();
  clock.nowMs += 5000;
  expect(await run()).toBeUndefined();
  expect([row().name, told()]).toEqual(["", ["erasure.done"]]);
});

test("nothing is removed before people were told, for which the erasure waits an hour at most", async () => {
  const { clock, log, mail, run } = await erasure(asked);
  mail.isOut = false;
  clock.nowMs += 30 * DAY;
  expect(await run()).toBe(clock.nowMs + 250);
  clock.nowMs += 3_599_999;
  expect([await run(), log]).toEqual([clock.nowMs + 5000, ["mail of Acme"]]);
  clock.nowMs += 1;
  await run();
  expect(log).toEqual(["mail of Acme", "rows", "rows", "rows", "files"]);
});

test("an erasure that a former release had almost finished goes on", async () => {
  const { clock, log, run } = await erasure({ status: "closed", closedAtMs: START, erasedAtMs: START + DAY });
  clock.nowMs += 30 * DAY;
  await run();
  expect(log).toEqual(["rows", "rows", "rows", "files"]);
});

test("a walk goes over all rows once, and a slice that takes long is followed by smaller ones", async () => {
  const closed = { ...asked, status: "closed", closedAtMs: START } as const;
  const seen: [number, unknown][] = [];
  let clock = { nowMs: 0 };
  const walk = (_orgId: string, most: number, after: unknown) => {
    seen.push([most, after]);
    // The fourth is slow, and so is the fifth.
    if (seen.length === 4 || seen.length === 5) clock.nowMs += 2;
    return seen.length < 7 ? `r${seen.length}` : undefined;
  };
  const rig = await erasure(closed, [{ name: "walked", walk }]);
  clock = rig.clock;
  clock.nowMs += 30 * DAY;
  await rig.run();
  expect(seen).toEqual([
    [25, undefined],
    [50, "r1"],
    [100, "r2"],
    [200, "r3"],
    [100, "r4"],
    [50, "r5"],
    [100, "r6"],
  ]);
});
