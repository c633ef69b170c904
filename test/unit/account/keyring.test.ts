/** The way from a secret to a key's context: errors, what it holds, when it is forgotten, what is noted. */
import { expect, test } from "vitest";
import type { KeyRow } from "../../../src/account/key.ts";
import type { Keyring } from "../../../src/account/keyring.ts";
import { LastUsed } from "../../../src/account/keys/last-used.ts";
import { newSecret } from "../../../src/account/secret.ts";
import type { ErrorName } from "../../../src/base/errors.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { accountRig } from "./fixtures.ts";

const rig = accountRig();
const { newKeyring: keyring, rowOf, addKey } = rig;

/** The name of the error that a secret is refused with, and its message. */
function refusal(ring: Keyring, secret: string | undefined): [ErrorName, string] {
  try {
    ring.resolve(secret);
  } catch (error) {
    if (error instanceof WeirError) return [error.kind, error.message];
    throw error;
  }
  throw new Error("was let in");
}

const change = (secret: string, to: Partial<KeyRow>) =>
  rig.accounts.act(() => rig.accounts.replaceKey({ ...rowOf(secret), ...to }));

test("a context holds everything a call needs, frozen", async () => {
  await change(rig.secrets.live, { limits: { rpm: 7 }, budget: { dailyMicroUsd: 5, hard: false } });
  const context = keyring().resolve(rig.secrets.live);
  expect(context).toMatchObject({
    keyId: rowOf(rig.secrets.live).id,
    environment: "live",
    status: "active",
    limits: { rpm: 7, tpm: 10_000, concurrency: 5 },
    keyBudget: { dailyMicroUsd: 5, hard: false },
    projectBudget: undefined,
    orgBudget: undefined,
    spikeAlertPct: undefined,
    dataPolicy: { logging: "on", zdr: false, redact: { presets: ["api_key", "card"] } },
    timeZone: "UTC",
    onDisconnect: "cancel",
    svcVersion: "2026-09-09",
    expiresAtMs: undefined,
    endsAtMs: Number.POSITIVE_INFINITY,
  });
  expect([...context.scopes]).toContain("write:keys");
  expect(Object.isFrozen(context)).toBe(true);
  expect(Object.isFrozen(context.limits)).toBe(true);
});

test("each reason for an invalid key has its own error, and none repeats the credential (T61)", () => {
  const ring = keyring();
  const typo =
    rig.secrets.live.slice(0, 20) + (rig.secrets.live[20] === "a" ? "b" : "a") + rig.secrets.live.slice(21);
  const cases: [string | undefined, ErrorName, RegExp][] = [
    [undefined, "missing_key", /No API key/],
    ["", "missing_key", /No API key/],
    ["sk-proj-123", "invalid_key", /not an API key of this gateway/],
    ["x".repeat(52), "invalid_key", /not an API key of this gateway/],
    ["x".repeat(100_000), "invalid_key", /not an API key of this gateway/],
    [typo, "invalid_key", /mistyped/],
    [newSecret("live"), "invalid_key", /no such/],
  ];
  for (const [sent, kind, message] of cases) {
    const [gotKind, gotMessage] = refusal(ring, sent);
    expect(gotKind).toBe(kind);
    expect(gotMessage).toMatch(message);
    if (sent) expect(gotMessage).not.toContain(sent);
  }
  expect(ring.size).toBe(0);
});

test("expiry, revocation and the end of a grace apply at their millisecond, cached or not", async () => {
  const cases: [Partial<KeyRow>, ErrorName][] = [
    [{ expiresAtMs: rig.clock.now() + 1000 }, "expired_key"],
    [{ revokedAtMs: rig.clock.now() + 1000 }, "revoked_key"],
    [{ expiresAtMs: rig.clock.now() + 1000, revokedAtMs: rig.clock.now() + 9000 }, "expired_key"],
    [{ expiresAtMs: rig.clock.now() + 9000, revokedAtMs: rig.clock.now() + 1000 }, "revoked_key"],
  ];
  const start = rig.clock.now();
  for (const [times, kind] of cases) {
    rig.clock.set(start);
    const secret = await addKey();
    await change(secret, times);
    const ring = keyring();
    rig.clock.set(start + 999);
    expect(ring.resolve(secret).status).toBe(times.revokedAtMs === undefined ? "active" : "rotating");
    rig.clock.set(start + 1000);
    expect(refusal(ring, secret)[0]).toBe(kind);
    expect(ring.size).toBe(0);
    expect(refusal(keyring(), secret)[0]).toBe(kind);
  }
});

test("T59: a change is seen by the first call after it, and a context held by a running call never comes back", async () => {
  const ring = keyring();
  const held = ring.resolve(rig.secrets.live);
  const committed = change(rig.secrets.live, { revokedAtMs: rig.clock.now() });
  // Calls that race the commit are let in by the old state.
  ring.resolve(rig.secrets.live);
  await committed;
  expect(held.status).toBe("active");
  expect(refusal(ring, rig.secrets.live)[0]).toBe("revoked_key");
});

test("T59: after every one of 200 commits a load reads what was committed", async () => {
  const ring = keyring();
  for (let rpm = 1; rpm <= 200; rpm++) {
    const committed = change(rig.secrets.live, { limits: { rpm } });
    ring.resolve(rig.secrets.live);
    rig.accounts.key(rowOf(rig.secrets.live).id);
    await committed;
    expect(ring.resolve(rig.secrets.live).limits.rpm).toBe(rpm);
  }
});

test("C14: a call that has waited is told its key as it is by then, or why it works no more", async () => {
  const ring = keyring();
  const held = ring.resolve(rig.secrets.live);
  expect(ring.current(held, "inference")).toBe(held);
  await change(rig.secrets.live, { budget: { dailyMicroUsd: 5, hard: true } });
  expect(ring.current(held, "inference").keyBudget).toEqual({ dailyMicroUsd: 5, hard: true });
  expect(ring.current(held, "inference")).toBe(ring.resolve(rig.secrets.live));
  await change(rig.secrets.live, { revokedAtMs: rig.clock.now() + 1000 });
  expect(ring.current(held, "inference").status).toBe("rotating");
  rig.clock.advance(1000);
  expect(() => ring.current(held, "inference")).toThrow(/revoked/);
  await change(rig.secrets.live, { revokedAtMs: null, scopes: ["read:usage"] });
  expect(() => ring.current(held, "inference")).toThrow(/lacks the scope "inference"/);
  const org = rig.accounts.org(held.orgId);
  if (org === undefined) throw new Error("not seeded");
  await rig.accounts.act(() =>
    rig.accounts.addOrg({ ...org, status: "closed", closedAtMs: rig.clock.now() }),
  );
  expect(() => ring.current(held, "inference")).toThrow(/closed/);
  expect(() => ring.current({ keyId: "key_none" }, "inference")).toThrow(/no such/);
});

test("a change to a project or an org is forgotten for their keys only", async () => {
  const ring = keyring();
  const context = ring.resolve(rig.secrets.live);
  const other = await addKey();
  await change(other, { projectId: "prj_other", orgId: "org_other" });
  const org = rig.accounts.org(context.orgId);
  const project = rig.accounts.project(context.projectId);
  if (org === undefined || project === undefined) throw new Error("not seeded");
  await rig.accounts.act(() => {
    rig.accounts.addOrg({ ...org, id: "org_other" });
    rig.accounts.addProject({ ...project, id: "prj_other", orgId: "org_other" });
  });
  const otherContext = ring.resolve(other);
  await rig.accounts.act(() =>
    rig.accounts.replaceProject({ ...project, budget: { monthlyMicroUsd: 9, hard: true } }),
  );
  expect(ring.resolve(rig.secrets.live).projectBudget).toEqual({ monthlyMicroUsd: 9, hard: true });
  await rig.accounts.act(() =>
    rig.accounts.addOrg({ ...org, status: "closed", closedAtMs: rig.clock.now() }),
  );
  expect(refusal(ring, rig.secrets.live)[0]).toBe("org_closed");
  expect(ring.resolve(other)).toBe(otherContext);
});

test("the cache is bounded and keeps contexts in use", async () => {
  const ring = keyring(10);
  const used = ring.resolve(rig.secrets.live);
  for (let i = 0; i < 40; i++) {
    ring.resolve(await addKey());
    expect(ring.resolve(rig.secrets.live)).toBe(used);
    expect(ring.size).toBeLessThanOrEqual(10);
  }
});

test("the time of last use is seen at once, written in batches, and survives", async () => {
  const ring = keyring();
  const id = ring.resolve(rig.secrets.live).keyId;
  expect(rig.lastUsed.at(id)).toBe(rig.clock.now());
  expect(rig.accounts.keyLastUsedMs(id)).toBeUndefined();
  const flushed = rig.lastUsed.flush();
  await Promise.resolve(); // the flush has taken its notes and waits for the commit
  expect(rig.lastUsed.at(id)).toBe(rig.clock.now());
  rig.clock.advance(5);
  ring.resolve(rig.secrets.live);
  await flushed;
  expect(rig.accounts.keyLastUsedMs(id)).toBe(rig.clock.now() - 5);
  expect(rig.lastUsed.at(id)).toBe(rig.clock.now());
  rig.lastUsed.start();
  await rig.lastUsed.stop();
  expect(new LastUsed(rig.accounts).at(id)).toBe(rig.clock.now());
});
