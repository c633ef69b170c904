/** Reports of secrets: what they revoke, what they tell nobody, and how many there may be. */
import { describe, expect, test, vi } from "vitest";
import { reportLimit } from "../../../src/account/keys/report-limit.ts";
import { newSecret } from "../../../src/account/secret.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { ManualClock } from "../../support/credits/fixtures.ts";
import { accountRig, failure, failureKind } from "./fixtures.ts";

const rig = accountRig();
const nobody = (): Caller => ({
  requestId: "01J00000000000000000000000",
  origin: rig.owner.origin,
  environment: "live",
  actor: { kind: "nobody", id: "" },
  orgId: "",
  projectId: "",
  scopes: new Set(),
});
const report = (secret: string) => rig.call<undefined>("reportKey", nobody(), { body: { secret } });
const resolved = (secret: string) => failureKind(() => rig.caller(secret));

describe("whoever shows the secret of a key", () => {
  test("revokes it from the next request on, in one act with event, audit and mail", async () => {
    const key = await rig.create({ scopes: ["inference"] });
    expect(await resolved(key.secret)).toBe("done");
    const eventsBefore = rig.trail.eventsOf(rig.owner.orgId).length;
    expect(await report(`  ${key.secret}\n`)).toBeUndefined();
    expect(await resolved(key.secret)).toBe("revoked_key");
    const [event, ...older] = rig.trail.eventsOf(rig.owner.orgId);
    expect(event).toMatchObject({ type: "key.revoked", data: { id: key.id, status: "revoked" } });
    expect(older).toHaveLength(eventsBefore);
    const [row] = rig.trail.auditOf(rig.owner.orgId);
    expect(row).toMatchObject({
      act: "key.revoke",
      target: key.id,
      reason: "reported",
      actor: { kind: "nobody", id: "anyone" },
    });
    expect(row?.changes).toContainEqual({ field: "status", before: "active", after: "revoked" });
    expect(rig.reported).toEqual([key.id]);
    for (const told of [event, row]) expect(JSON.stringify(told)).not.toContain(key.secret);
  });

  test("does so once, however often and at once it is shown", async () => {
    const key = await rig.create();
    await Promise.all(Array.from({ length: 20 }, () => report(key.secret)));
    const revokes = rig.trail.eventsOf(rig.owner.orgId).filter(({ type }) => type === "key.revoked");
    expect([revokes.length, rig.reported]).toEqual([1, [key.id]]);
  });

  test("revokes the last key that can make keys, a test key, a rotated key and one of a suspended org", async () => {
    const rotated = await rig.create();
    await rig.rotate(rotated.id, { grace_seconds: 3600 });
    const { orgId } = rig.owner;
    for (const secret of [rotated.secret, rig.secrets.test, rig.secrets.live]) await report(secret);
    for (const secret of [rotated.secret, rig.secrets.test, rig.secrets.live])
      expect(await resolved(secret)).toBe("revoked_key");
    const secret = await rig.addKey();
    const org = rig.accounts.org(orgId);
    await rig.accounts.act(() => org && rig.accounts.replaceOrg({ ...org, status: "suspended" }));
    await report(secret);
    expect(rig.rowOf(secret).isRevoked).toBe(true);
  });
});

test("any other text gets the same answer after the same commit, and changes nothing", async () => {
  const { secret } = await rig.create();
  const [revoked, expired] = [await rig.create(), await rig.create({ expires_in: "1h" })];
  await rig.revoke(revoked.id);
  rig.clock.advance(3_600_000);
  const { orgId } = rig.owner;
  const before = [rig.trail.eventsOf(orgId).length, rig.trail.auditOf(orgId).length];
  const noted = vi.spyOn(rig.accounts, "noteKeyReport");
  const mistyped = `${secret.slice(0, -1)}${secret.endsWith("a") ? "b" : "a"}`;
  const others = [newSecret("live"), newSecret("scim"), mistyped, revoked.secret, expired.secret, "x", "ü"];
  for (const text of others) expect(await report(text)).toBeUndefined();
  expect(noted).toHaveBeenCalledTimes(others.length);
  expect([rig.trail.eventsOf(orgId).length, rig.trail.auditOf(orgId).length]).toEqual(before);
  expect([await resolved(secret), rig.reported]).toEqual(["done", []]);
});

describe("an address", () => {
  const outcomes = (clock: ManualClock, mostClients?: number) => {
    const assertWithin = reportLimit(clock, mostClients);
    return async (address: string, times: number) => {
      const all = [];
      for (let i = 0; i < times; i++) all.push(await failure(() => assertWithin(address)));
      return all.filter((outcome) => outcome === "rpm").length;
    };
  };

  test("reports 30 secrets a minute", async () => {
    const clock = new ManualClock("2026-09-09T00:00:00Z");
    const refused = outcomes(clock);
    expect(await refused("192.0.2.7", 35)).toBe(5);
    expect(await refused("192.0.2.8", 30)).toBe(0);
    clock.advance(59_999);
    expect(await refused("::ffff:192.0.2.7", 1)).toBe(1);
    clock.advance(1);
    expect(await refused("192.0.2.7", 31)).toBe(1);
  });

  test("of IPv6 counts by its network", async () => {
    const refused = outcomes(new ManualClock("2026-09-09T00:00:00Z"));
    expect(await refused("2001:db8::1", 30)).toBe(0);
    expect(await refused("2001:db8::ffff:1", 1)).toBe(1);
    expect(await refused("2001:db8:0:1::1", 1)).toBe(0);
  });

  test("is forgotten where there are too many, the first one first", async () => {
    const refused = outcomes(new ManualClock("2026-09-09T00:00:00Z"), 2);
    for (const address of ["192.0.2.1", "192.0.2.2"]) expect(await refused(address, 31)).toBe(1);
    expect(await refused("192.0.2.3", 1)).toBe(0);
    expect([await refused("192.0.2.2", 1), await refused("192.0.2.1", 1)]).toEqual([1, 0]);
  });
});
