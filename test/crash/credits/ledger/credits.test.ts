import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import { openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { openStore } from "../../../../src/store/store.ts";
import {
  audit,
  ManualClock,
  openCredits,
  tempFolder,
  wholeLedger,
} from "../../../support/credits/fixtures.ts";
import { amount } from "../../../support/effort.ts";

const KILLS = amount(3, 2);
const SETTLER = fileURLToPath(new URL("settler.ts", import.meta.url));
const folder = tempFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the settler and kills it -9 once it has acknowledged so many calls. Returns what it acknowledged. */
async function settleUntilKilled(seed: number, calls: number): Promise<string[]> {
  const child = spawn(process.execPath, [SETTLER, folder, String(seed)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > calls) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [code, signal] = await once(child, "close");
  expect([code, signal, errors]).toEqual([null, "SIGKILL", ""]);
  // A line without its newline was cut off by the kill.
  return said.split("\n").slice(0, -1);
}

test(`T26 T35: kill -9 while settling, ${KILLS} times: what was acknowledged is in the ledger once, no more, no less`, async () => {
  const random = seededRandom(20260301);
  const acknowledged: string[] = [];
  for (let round = 1; round <= KILLS; round++) {
    acknowledged.push(...(await settleUntilKilled(round, 100 + Math.floor(random() * 1500))));

    const clock = new ManualClock("2026-03-01T10:00:00Z");
    const store = openStore(folder);
    const credits = openCredits({ store, clock });
    const budgets = openBudgets({ store, clock, book: credits.book });
    const outbox = store.table<number>("outbox-of-this-test");
    const charged = new Map<string, number>();
    for (const org of ["org_a", "org_b"]) {
      const entries = wholeLedger(credits, org);
      expect(audit(entries)).toBe(credits.balance(org).balanceMicroUsd);
      expect(entries.filter((e) => e.kind === "grant")).toHaveLength(1);

      const settles = entries.filter((e) => e.kind === "settle");
      for (const e of settles) charged.set(`${org} ${e.requestId}`, -e.amountMicroUsd);
      // One entry a request, and its outbox row beside it: the same transaction.
      const rows = [...outbox.range({ start: [org, ""], end: [org, "\uffff"] })];
      const paid = rows
        .filter(({ value }) => value > 0)
        .map(({ key, value }) => [(key as string[])[1], value]);
      expect(new Map(settles.map((e) => [e.requestId, -e.amountMicroUsd]))).toEqual(
        new Map(paid as [string, number][]),
      );
      expect(settles).toHaveLength(paid.length);

      const spent = settles.reduce((sum, e) => sum - e.amountMicroUsd, 0);
      const zone = { timeZone: "Asia/Kolkata" };
      const ofProjects = [0, 1, 2, 3].map((i) =>
        budgets.spendOfProject({ projectId: `prj_${org}_${i}`, ...zone }),
      );
      for (const period of ["todayMicroUsd", "monthMicroUsd"] as const)
        expect(ofProjects.reduce((sum, spend) => sum + spend[period], 0)).toBe(spent);
      expect(budgets.spendOfOrg({ orgId: org, ...zone })).toEqual({
        todayMicroUsd: spent,
        monthMicroUsd: spent,
      });
      // The holds of before are gone; a hard budget has exactly the room that the ledger leaves.
      const orgMonthly = { limitMicroUsd: spent + 500, hard: true };
      const scope = { keyId: `key_${org}`, projectId: `prj_${org}_9`, orgId: org, orgMonthly, ...zone };
      expect([budgets.wouldHold(scope, 500), budgets.wouldHold(scope, 501)]).toEqual([true, false]);
    }
    const wrong = acknowledged.filter((line) => {
      const [org, requestId, cost] = line.split(" ");
      return (charged.get(`${org} ${requestId}`) ?? 0) !== Number(cost);
    });
    expect(wrong).toEqual([]);
    expect(credits.open()).toEqual({ holds: 0, heldMicroUsd: 0 });
    await store.close();
  }
});
