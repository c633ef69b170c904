/** The token of a directory: how long it works, and what its rows say. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { DAY_MS } from "../../../../src/base/time.ts";
import { directoryRig, type Rig } from "./directory.fixtures.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await directoryRig();
});
afterEach(() => rig.close());

const make = () => rig.accounts.act(() => rig.tokens.make(rig.one).secret);

test("a token that was replaced works to the last millisecond of a day", async () => {
  const first = await make();
  const second = await make();
  rig.clock.advance(DAY_MS - 1);
  expect([first, second].map((secret) => rig.tokens.resolve(secret)?.orgId)).toEqual([rig.one, rig.one]);
  rig.clock.advance(1);
  expect([first, second].map((secret) => rig.tokens.resolve(secret)?.orgId)).toEqual([undefined, rig.one]);
});

test("of three, the oldest ends at once", async () => {
  const [first, second, third] = [await make(), await make(), await make()];
  const works = [first, second, third].map((secret) => rig.tokens.resolve(secret) !== undefined);
  expect(works).toEqual([false, true, true]);
});

test("none works once it is revoked, and a new one does not bring the old one back", async () => {
  const old = [await make(), await make()];
  expect(await rig.accounts.act(() => rig.tokens.revoke(rig.one))).toBe(true);
  expect(await rig.accounts.act(() => rig.tokens.revoke(rig.one))).toBe(false);
  expect([rig.tokens.isLive(rig.one), rig.tokens.isLive(rig.two)]).toEqual([false, false]);
  const secret = await make();
  expect(old.map((one) => rig.tokens.resolve(one))).toEqual([undefined, undefined]);
  expect(rig.tokens.resolve(secret)?.previous).toBeNull();
});

test("only its hash is stored", async () => {
  const secret = await make();
  expect(JSON.stringify(rig.tokens.of(rig.one))).not.toContain(secret.slice("svc-scim-".length, -4));
  for (const wrong of ["", `${secret}x`, secret.toLowerCase(), "svc-scim-", "x".repeat(1_000_000)]) {
    expect(rig.tokens.resolve(wrong)).toBeUndefined();
  }
});

test("the log keeps its rows for thirty days", async () => {
  await rig.createUser("ann@example.com");
  expect([...rig.log.of(rig.one)].map(({ userName }) => userName)).toEqual(["ann@example.com"]);
  expect(rig.tokens.lastUsed(rig.one)).toBe("2026-09-09");
  expect([...rig.log.of(rig.two)]).toEqual([]);
});

test("of an org that is erased nobody knows a token, the one before included, and nothing is left of them", async () => {
  const [first, second] = [await make(), await make()];
  const other = await rig.accounts.act(() => rig.tokens.make(rig.two).secret);
  await rig.accounts.act(() => rig.tokens.erase(rig.one));
  expect([first, second].map((secret) => rig.tokens.resolve(secret))).toEqual([undefined, undefined]);
  expect([rig.tokens.of(rig.one), rig.tokens.resolve(other)?.orgId]).toEqual([undefined, rig.two]);
});
