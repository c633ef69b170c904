/** The daily look at keys that are about to expire. */

import { beforeEach, expect, test } from "vitest";
import { type KeyRow, newKey, revokedKey } from "../../../../src/account/key.ts";
import { readEml } from "../../../../src/account/mail/eml.ts";
import { newSecret } from "../../../../src/account/secret.ts";
import { DAY_MS } from "../../../../src/base/time.ts";
import { until } from "../../../support/wait.ts";
import { mailRig, writtenMails } from "./fixtures.ts";

const rig = mailRig();

beforeEach(async () => {
  await rig.member("owner@acme.example", "owner");
});

let made = 0;
function keyOf(lifetimeDays: number | null, differing: Partial<KeyRow> = {}): KeyRow {
  const lifetimeMs = lifetimeDays === null ? null : lifetimeDays * DAY_MS;
  const order = {
    orgId: rig.org.id,
    projectId: "prj_1",
    name: `key ${++made}`,
    environment: "live" as const,
    scopes: [],
    limits: {},
    budget: { dailyMicroUsd: null, hard: false },
    onDisconnect: "cancel" as const,
    svcVersion: "2026-09-09" as const,
    lifetimeMs,
    rotatedFrom: null,
  };
  return { ...newKey(order, newSecret("live"), rig.clock.now()), ...differing };
}
const add = (...keys: KeyRow[]) =>
  rig.store.act(() => {
    for (const key of keys) rig.accounts.addKey(key);
  });

/** Lets days pass, one at a time, and reads what was written since the beginning. */
async function mailsAfter(days: number) {
  for (let day = 0; day < days; day++) {
    const looked = rig.jobs.metrics().byKind.get("mail.keys_expiring")?.done ?? 0;
    rig.advance(DAY_MS);
    await until("keys were looked at", () => {
      rig.advance(1000);
      return (rig.jobs.metrics().byKind.get("mail.keys_expiring")?.done ?? 0) > looked;
    });
  }
  rig.advance(1000);
  return (await writtenMails(rig)).map((text) => readEml(Buffer.from(text, "latin1")));
}

test("a key that ends within a week is told of once, to whoever made it", async () => {
  const maker = await rig.member("maker@acme.example", "member");
  const key = keyOf(30, { createdBy: maker.id });
  await add(key, keyOf(90), keyOf(null));
  expect(await mailsAfter(22)).toEqual([]);
  const mails = await mailsAfter(6);
  expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
    ["maker@acme.example", `A key of Acme expires soon: ${key.name}`],
  ]);
  expect(mails[0]?.text).toContain("because you made this key of “Acme”");
  expect(mails[0]?.text).toContain("Expires: 9 October 2026 at 10:00 (UTC)");
  expect(mails[0]?.text).toContain(`https://gateway.example/console/acme/keys/${key.id}\n`);
});

test("one whose maker has left is told of to those who answer for the org", async () => {
  const gone = await rig.member("gone@acme.example", "member", "disabled");
  await add(keyOf(30, { createdBy: gone.id }), keyOf(30, { createdBy: "key_1" }));
  const mails = await mailsAfter(24);
  expect(mails.map(({ to }) => to)).toEqual(["owner@acme.example", "owner@acme.example"]);
  for (const { text } of mails) expect(text).toContain("because you own “Acme”");
});

test("a key of the playground is not told of, however long its person has had it", async () => {
  const nowMs = rig.clock.now();
  const person = await rig.member("player@acme.example", "member");
  const owner = {
    orgId: rig.org.id,
    personId: person.id,
    projectId: "prj_1",
    environment: "live",
  } as const;
  // Its secret is replaced in its place: it has the age of the first one, and the end of the last.
  const times = { createdAtMs: nowMs - 30 * DAY_MS, expiresAtMs: nowMs + 1.5 * DAY_MS };
  const row = keyOf(null, { kind: "playground", createdBy: person.id, personId: person.id, ...times });
  await rig.store.act(() => rig.accounts.putPlaygroundKey(owner, row));
  expect(await mailsAfter(1)).toEqual([]);
});

test("keys of two weeks or less, revoked ones and those that a rotation replaced are not told of", async () => {
  const nowMs = rig.clock.now();
  await add(keyOf(14), revokedKey(keyOf(20), nowMs), keyOf(20, { revokedAtMs: nowMs + 19 * DAY_MS }));
  expect(await mailsAfter(15)).toEqual([]);
});

test("a new date is told of anew", async () => {
  const key = keyOf(20);
  await add(key);
  expect(await mailsAfter(14)).toHaveLength(1);
  await rig.store.act(() => rig.accounts.replaceKey({ ...key, expiresAtMs: key.createdAtMs + 40 * DAY_MS }));
  expect(await mailsAfter(5)).toHaveLength(1);
  expect(await mailsAfter(16)).toHaveLength(2);
});

test("it goes on after a restart, and looks at all keys of all orgs, slice by slice", async () => {
  const keys = Array.from({ length: 1200 }, () => keyOf(null));
  // At the ends of slices, and behind them.
  const ending = [0, 499, 500, 1199].map((i) => (keys[i] as KeyRow).id);
  const lifetimeMs = 20 * DAY_MS;
  await add(
    ...keys.map((key) =>
      ending.includes(key.id) ? { ...key, lifetimeMs, expiresAtMs: key.createdAtMs + lifetimeMs } : key,
    ),
  );
  await rig.restart();
  const text = (await mailsAfter(14)).map((mail) => mail.text).join();
  for (const id of ending) expect(text).toContain(id);
  expect(text.match(/console\/acme\/keys\/key_/g)).toHaveLength(4);
});

test("keys that end soon are noted for whoever asks what needs attention, the soonest first", async () => {
  const [late, soon, far] = [keyOf(30), keyOf(29), keyOf(90)];
  await add(late, soon, far, keyOf(3));
  const expiring = () => {
    const nowMs = rig.clock.now();
    return rig.accounts.expiringKeys(rig.org.id, nowMs, nowMs + 7 * DAY_MS, 10).map(({ id }) => id);
  };
  await mailsAfter(20);
  expect(expiring()).toEqual([]);
  await mailsAfter(5);
  expect(expiring()).toEqual([soon.id, late.id]);
  expect(rig.accounts.expiringKeys("org_other", 0, rig.clock.now() + 7 * DAY_MS, 10)).toEqual([]);
  await mailsAfter(7);
  expect(expiring()).toEqual([]);
});
