/** The way from a secret to a key's context: errors, what it holds, when it is forgotten, what is noted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { firstStart } from "../src/account/first-start.ts";
import { type KeyRow, newKey } from "../src/account/key.ts";
import { Keyring } from "../src/account/keyring.ts";
import { LastUsed } from "../src/account/last-used.ts";
import { hashSecret, newSecret } from "../src/account/secret.ts";
import { AccountTables } from "../src/account/tables.ts";
import type { ErrorName } from "../src/errors.ts";
import { WeirError } from "../src/errors.ts";
import { openStore, type Store } from "../src/store/store.ts";

const PLAN = { rpm: 60, tpm: 10_000, concurrency: 5, keys: 50, projects: 5 };
let dataDir: string;
let store: Store;
let accounts: AccountTables;
let lastUsed: LastUsed;
let nowMs: number;
let live: string;
const clock = { now: () => nowMs, monotonic: () => nowMs };

beforeEach(async () => {
  nowMs = Date.UTC(2026, 8, 9);
  dataDir = mkdtempSync(join(tmpdir(), "weir-keyring-"));
  store = openStore(dataDir);
  accounts = new AccountTables(store);
  lastUsed = new LastUsed(accounts);
  live = (await firstStart({ accounts, clock, dataDir, planId: "free" }))?.liveSecret ?? "";
});
afterEach(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true });
});

const keyring = (capacity?: number): Keyring =>
  new Keyring({
    accounts,
    clock,
    lastUsed,
    plan: () => PLAN,
    ...(capacity === undefined ? {} : { capacity }),
  });

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

const rowOf = (secret: string): KeyRow => {
  const row = accounts.keyByHash(hashSecret(secret));
  if (row === undefined) throw new Error("no such key");
  return row;
};
const change = (secret: string, to: Partial<KeyRow>) =>
  accounts.transact(() => accounts.replaceKey({ ...rowOf(secret), ...to }));

async function addKey(secret = newSecret("live")): Promise<string> {
  await accounts.transact(() => accounts.addKey(newKey(rowOf(live), secret, nowMs)));
  return secret;
}

test("a context holds everything a call needs, frozen", async () => {
  await change(live, { limits: { rpm: 7 }, budget: { dailyMicroUsd: 5, hard: false } });
  const context = keyring().resolve(live);
  expect(context).toMatchObject({
    keyId: rowOf(live).id,
    environment: "live",
    status: "active",
    limits: { rpm: 7, tpm: 10_000, concurrency: 5 },
    keyBudget: { dailyMicroUsd: 5, hard: false },
    projectBudget: undefined,
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

test("each way of having no valid key has its own error, and none repeats what was sent (T61)", () => {
  const ring = keyring();
  const typo = live.slice(0, 20) + (live[20] === "a" ? "b" : "a") + live.slice(21);
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
    [{ expiresAtMs: nowMs + 1000 }, "expired_key"],
    [{ revokedAtMs: nowMs + 1000 }, "revoked_key"],
    [{ expiresAtMs: nowMs + 1000, revokedAtMs: nowMs + 9000 }, "expired_key"],
    [{ expiresAtMs: nowMs + 9000, revokedAtMs: nowMs + 1000 }, "revoked_key"],
  ];
  const start = nowMs;
  for (const [times, kind] of cases) {
    nowMs = start;
    const secret = await addKey();
    await change(secret, times);
    const ring = keyring();
    nowMs = start + 999;
    expect(ring.resolve(secret).status).toBe(times.revokedAtMs === undefined ? "active" : "rotating");
    nowMs = start + 1000;
    expect(refusal(ring, secret)[0]).toBe(kind);
    expect(ring.size).toBe(0);
    expect(refusal(keyring(), secret)[0]).toBe(kind);
  }
});

test("T59: a change is seen by the first call after it, and a context held by a running call never comes back", async () => {
  const ring = keyring();
  const held = ring.resolve(live);
  const committed = change(live, { revokedAtMs: nowMs });
  // Calls that race the commit are let in by the old state: each may fill the cache again.
  ring.forgetKey(hashSecret(live));
  ring.resolve(live);
  await committed;
  ring.forgetKey(hashSecret(live));
  expect(held.status).toBe("active");
  expect(refusal(ring, live)[0]).toBe("revoked_key");
});

test("T59: after every one of 200 commits a load reads what was committed", async () => {
  const ring = keyring();
  for (let rpm = 1; rpm <= 200; rpm++) {
    const committed = change(live, { limits: { rpm } });
    ring.resolve(live);
    accounts.key(rowOf(live).id);
    await committed;
    ring.forgetKey(hashSecret(live));
    expect(ring.resolve(live).limits.rpm).toBe(rpm);
  }
});

test("a change to a project or an org is forgotten for their keys only", async () => {
  const ring = keyring();
  const context = ring.resolve(live);
  const other = await addKey();
  await change(other, { projectId: "prj_other", orgId: "org_other" });
  const org = accounts.org(context.orgId);
  const project = accounts.project(context.projectId);
  if (org === undefined || project === undefined) throw new Error("not seeded");
  await accounts.transact(() => {
    accounts.addOrg({ ...org, id: "org_other" });
    accounts.addProject({ ...project, id: "prj_other", orgId: "org_other" });
  });
  const otherContext = ring.resolve(other);
  await accounts.transact(() =>
    accounts.replaceProject({ ...project, budget: { monthlyMicroUsd: 9, hard: true } }),
  );
  ring.forgetProject(project.id);
  expect(ring.resolve(live).projectBudget).toEqual({ monthlyMicroUsd: 9, hard: true });
  await accounts.transact(() => accounts.addOrg({ ...org, status: "closed", closedAtMs: nowMs }));
  ring.forgetOrg(org.id);
  expect(refusal(ring, live)[0]).toBe("org_closed");
  expect(ring.resolve(other)).toBe(otherContext);
  ring.forgetAll();
  expect(ring.resolve(other)).not.toBe(otherContext);
});

test("the cache is bounded and keeps what is in use", async () => {
  const ring = keyring(10);
  const used = ring.resolve(live);
  for (let i = 0; i < 40; i++) {
    ring.resolve(await addKey());
    expect(ring.resolve(live)).toBe(used);
    expect(ring.size).toBeLessThanOrEqual(10);
  }
});

test("the time of last use is seen at once, written in batches, and survives", async () => {
  const ring = keyring();
  const id = ring.resolve(live).keyId;
  expect(lastUsed.at(id)).toBe(nowMs);
  expect(accounts.keyLastUsedMs(id)).toBeUndefined();
  const flushed = lastUsed.flush();
  await Promise.resolve(); // the flush has taken its notes and waits for the commit
  expect(lastUsed.at(id)).toBe(nowMs);
  nowMs += 5;
  ring.resolve(live);
  await flushed;
  expect(accounts.keyLastUsedMs(id)).toBe(nowMs - 5);
  expect(lastUsed.at(id)).toBe(nowMs);
  lastUsed.start();
  await lastUsed.stop();
  expect(new LastUsed(accounts).at(id)).toBe(nowMs);
});
