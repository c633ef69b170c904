/** Keys over their life: created, changed, rotated, revoked; and who may do what. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { SCOPES } from "../../../src/base/operation/access.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { accountRig, failure, START, type Wire } from "./fixtures.ts";

const rig = accountRig();
const { caller, create, get, patch, revoke, rotate, list } = rig;

/** `svc-…` of a key that may be let in, else the error. */
function entry(secret: string): string {
  try {
    return rig.keyring.resolve(secret).status;
  } catch (error) {
    return error instanceof WeirError ? error.kind : String(error);
  }
}

test("a key created with nothing but a name gets the documented defaults", async () => {
  const { secret, ...shown } = await create();
  expect(secret).toMatch(/^svc-live-[0-9A-Za-z]{43}$/);
  expect(shown).toEqual({
    id: expect.stringMatching(/^key_[0-9A-HJKMNP-TV-Z]{26}$/),
    project_id: rig.owner.projectId,
    name: "k",
    hint: `svc-live-…${secret.slice(-4)}`,
    environment: "live",
    scopes: ["inference", "read:usage"],
    status: "active",
    limits: {},
    budget: { daily_micro: 0, hard: false },
    on_disconnect: "cancel",
    svc_version: "2026-09-09",
    created_at: "2026-09-09T00:00:00.000Z",
    created_by: rig.owner.actor.id,
  });
  expect(await get(shown.id)).toEqual(shown);
  expect(entry(secret)).toBe("active");
  expect(await get(shown.id)).toEqual({ ...shown, last_used_at: "2026-09-09T00:00:00.000Z" });
});

test("a key created with everything set shows it, and its calls are held to it", async () => {
  const made = await create({
    scopes: ["read:usage", "inference", "inference"],
    environment: "test",
    limits: { rpm: 10, concurrency: 2 },
    budget: { daily_micro: 5_000_000, hard: false },
    expires_in: "48h",
    on_disconnect: "drain",
    svc_version: "2026-09-09",
  });
  expect(made).toMatchObject({
    scopes: ["inference", "read:usage"],
    environment: "test",
    limits: { rpm: 10, concurrency: 2 },
    budget: { daily_micro: 5_000_000, hard: false },
    expires_at: "2026-09-11T00:00:00.000Z",
  });
  expect(rig.keyring.resolve(made.secret)).toMatchObject({
    environment: "test",
    limits: { rpm: 10, tpm: 10_000, concurrency: 2 },
    keyBudget: { dailyMicroUsd: 5_000_000, hard: false },
    onDisconnect: "drain",
    expiresAtMs: START + 48 * 3_600_000,
  });
});

test("the org's default expiry applies unless the key names its own", async () => {
  const org = rig.accounts.org(rig.owner.orgId);
  if (org === undefined) throw new Error("not seeded");
  await rig.accounts.act(() =>
    rig.accounts.addOrg({ ...org, security: { ...org.security, keyDefaultExpiryDays: 30 } }),
  );
  expect((await create()).expires_at).toBe("2026-10-09T00:00:00.000Z");
  expect((await create({ expires_in: "1h" })).expires_at).toBe("2026-09-09T01:00:00.000Z");
});

test.each([
  [{ scopes: ["inference", "fly"] }, ["scopes", 1]],
  [{ scopes: [] }, ["scopes"]],
  [{ limits: { rpm: 0 } }, ["limits", "rpm"]],
  [{ limits: { rpd: 1 } }, ["limits"]],
  [{ budget: { daily_micro: 0.5 } }, ["budget", "daily_micro"]],
  [{ budget: { daily_micro: 0 } }, ["budget", "daily_micro"]],
  [{ budget: { daily_micro: 0, hard: true } }, ["budget", "daily_micro"]],
  [{ expires_in: "2d" }, ["expires_in"]],
  [{ expires_in: "0h" }, ["expires_in"]],
  [{ on_disconnect: "leave" }, ["on_disconnect"]],
  [{ on_disconnect: null }, ["on_disconnect"]],
  [{ name: " " }, ["name"]],
  [{ colour: "red" }, []],
])("creation refuses %j and points at it", (body, path) => {
  const result = rig.ops.createKey.body?.safeParse({ name: "k", ...body });
  expect(result?.error?.issues.map((issue) => issue.path)).toEqual([path]);
});

test("creation refuses values that conflict with the account's state, naming the field", async () => {
  expect(await failure(create({ project_id: "prj_none" }))).toBe("invalid_value /project_id");
  expect(await failure(create({ limits: { rpm: 61 } }))).toBe("invalid_value /limits/rpm");
  expect(await failure(create({ svc_version: "2020-01-01" }))).toBe("unsupported_version /svc_version");
  expect((await list()).data).toHaveLength(2);
});

test("O28: a hard budget without an amount is refused with a pointer; no budget reads the same and may be sent back", async () => {
  const refused = "invalid_value /budget/daily_micro";
  expect(await failure(create({ budget: { hard: true } }))).toBe(refused);
  expect(await failure(create({ budget: { hard: true, daily_micro: null } }))).toBe(refused);
  const key = await create({ budget: { daily_micro: 5, hard: true } });
  expect(await failure(patch(key.id, { budget: { daily_micro: null, hard: true } }))).toBe(refused);
  expect((await get(key.id)).budget).toEqual({ daily_micro: 5, hard: true });
  const none = { daily_micro: 0, hard: false };
  for (const budget of [{ daily_micro: null }, { daily_micro: null, hard: false }, none, { hard: false }]) {
    const made = await create({ budget });
    expect([made.budget, (await get(made.id)).budget]).toEqual([none, none]);
    expect(rig.keyring.resolve(made.secret).keyBudget).toBeUndefined();
    expect(await failure(patch(made.id, { budget: { hard: true } }))).toBe(refused);
    expect((await patch(made.id, { budget: none })).budget).toEqual(none);
    expect((await patch(made.id, { budget: { daily_micro: 9 } })).budget).toEqual({
      daily_micro: 9,
      hard: true,
    });
    expect((await patch(made.id, { budget: none })).budget).toEqual(none);
    expect((await list()).data[0]?.budget).toEqual(none);
  }
});

test("C4: on a plan without limits a key may have any, at creation and by a change, and the plan may get limits and lose them", async () => {
  const limited = rig.plan;
  const unlimited = { ...limited, rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 };
  rig.plan = unlimited;
  const limits = { rpm: 90, tpm: 3_000_000, concurrency: 700 };
  const key = await rig.create({ limits });
  expect(rig.keyring.resolve(key.secret).limits).toEqual(limits);
  const more = { rpm: 9000, tpm: 4_000_000, concurrency: 1 };
  expect((await rig.patch(key.id, { limits: more })).limits).toEqual(more);
  // Without its own a key has the plan's: none.
  await rig.patch(key.id, { limits: { rpm: null } });
  expect(rig.keyring.resolve(key.secret).limits).toEqual({ ...more, rpm: 0 });
  rig.plan = limited;
  expect(await failure(rig.patch(key.id, { limits: { rpm: limited.rpm + 1 } }))).toBe(
    "invalid_value /limits/rpm",
  );
  // What it had before it may keep.
  expect((await rig.patch(key.id, { limits: { tpm: more.tpm } })).limits).toMatchObject({ tpm: more.tpm });
  expect(await failure(rig.patch(key.id, { limits: { tpm: more.tpm + 1 } }))).toBe(
    "invalid_value /limits/tpm",
  );
  rig.plan = unlimited;
  expect((await rig.patch(key.id, { limits: { tpm: more.tpm + 1 } })).limits).toMatchObject({
    tpm: more.tpm + 1,
  });
});

test("a limit granted above the plan may be set again up to its current value", async () => {
  const { id, secret } = await create();
  await rig.accounts.act(() => rig.accounts.replaceKey({ ...rig.rowOf(secret), limits: { rpm: 600 } }));
  expect((await patch(id, { limits: { rpm: 500 } })).limits).toEqual({ rpm: 500 });
  expect(await failure(patch(id, { limits: { rpm: 501 } }))).toBe("invalid_value /limits/rpm");
});

test("a change keeps absent fields, null clears one, and the next call sees it", async () => {
  const { id, secret } = await create({
    limits: { rpm: 10, tpm: 100 },
    budget: { daily_micro: 7, hard: false },
    expires_in: "1h",
  });
  expect(entry(secret)).toBe("active");
  const first = await patch(id, {
    name: "new",
    limits: { rpm: null, concurrency: 3 },
    budget: { hard: true },
  });
  expect(first).toMatchObject({
    name: "new",
    limits: { tpm: 100, concurrency: 3 },
    budget: { daily_micro: 7, hard: true },
  });
  expect(first.limits).not.toHaveProperty("rpm");
  expect(first.expires_at).toBe("2026-09-09T01:00:00.000Z");
  expect(rig.keyring.resolve(secret).limits).toEqual({ rpm: 60, tpm: 100, concurrency: 3 });
  const second = await patch(id, {
    budget: { daily_micro: null },
    expires_in: null,
    scopes: ["read:usage"],
    on_disconnect: "drain",
  });
  expect(second).toMatchObject({
    budget: { daily_micro: 0, hard: false },
    scopes: ["read:usage"],
    on_disconnect: "drain",
  });
  expect(second).not.toHaveProperty("expires_at");
  expect(rig.keyring.resolve(secret)).toMatchObject({
    keyBudget: undefined,
    onDisconnect: "drain",
    endsAtMs: Number.POSITIVE_INFINITY,
  });
  rig.clock.advance(1000);
  expect((await patch(id, { expires_in: "2h" })).expires_at).toBe("2026-09-09T02:00:01.000Z");
});

describe("life cycle", () => {
  /** Each row brings a fresh key (expiring in 10 h) into a state, then tells what every act does to it. */
  const rows: [state: string, at: number, acts: Record<string, string>, call: string][] = [
    ["active", 0, { patch: "done", rotate: "done", revoke: "revoked" }, "active"],
    ["rotating", 0, { patch: "done", rotate: "state", revoke: "revoked" }, "rotating"],
    ["rotating", 3_599_999, { patch: "done", rotate: "state", revoke: "revoked" }, "rotating"],
    ["revoked", 3_600_000, { patch: "state", rotate: "state", revoke: "revoked" }, "revoked_key"],
    ["revoked", 0, { patch: "state", rotate: "state", revoke: "revoked" }, "revoked_key"],
    ["expired", 36_000_000, { patch: "state", rotate: "state", revoke: "revoked" }, "expired_key"],
  ];
  test.each(rows)("%s after %i ms: %j, a call is answered %s", async (state, at, acts, callAnswer) => {
    const bring = async (): Promise<Wire> => {
      rig.clock.set(START);
      const key = await create({ expires_in: "10h" });
      if (state === "rotating" || at === 3_600_000) await rotate(key.id, { grace_seconds: 3600 });
      else if (state === "revoked") await revoke(key.id);
      rig.clock.set(START + at);
      return key;
    };
    const key = await bring();
    expect((await get(key.id)).status).toBe(state);
    expect((await list({ status: state })).data.map((k) => k.id)).toContain(key.id);
    expect(entry(key.secret)).toBe(callAnswer);
    expect(await failure(patch(key.id, { name: "x" }))).toBe(acts.patch);
    expect(await failure(rotate((await bring()).id, {}))).toBe(acts.rotate);
    expect((await revoke((await bring()).id)).status).toBe(acts.revoke);
  });

  test("revoking twice answers the same, and the key stays out", async () => {
    const { id, secret } = await create();
    expect(entry(secret)).toBe("active");
    const first = await revoke(id);
    expect(first).toMatchObject({ status: "revoked", revoked_at: "2026-09-09T00:00:00.000Z" });
    expect(entry(secret)).toBe("revoked_key");
    rig.clock.advance(60_000);
    expect((await revoke(id)).revoked_at).toBe(first.revoked_at);
  });

  test("rotation hands over everything but the secret, and both keys work until the grace ends", async () => {
    const old = await create({
      scopes: ["inference"],
      limits: { rpm: 9 },
      budget: { daily_micro: 3 },
      expires_in: "48h",
      on_disconnect: "drain",
    });
    expect(entry(old.secret)).toBe("active");
    rig.clock.advance(3_600_000);
    const made = await rotate(old.id, { grace_seconds: 600 });
    expect(made).toMatchObject({
      rotated_from: old.id,
      name: "k",
      scopes: ["inference"],
      limits: { rpm: 9 },
      budget: { daily_micro: 3, hard: true },
      on_disconnect: "drain",
      // It lives as long as its predecessor was given, from now.
      expires_at: "2026-09-11T01:00:00.000Z",
    });
    expect(made.id).not.toBe(old.id);
    expect(made.secret).not.toBe(old.secret);
    expect([entry(old.secret), entry(made.secret)]).toEqual(["rotating", "active"]);
    rig.clock.advance(599_999);
    expect(entry(old.secret)).toBe("rotating");
    rig.clock.advance(1);
    expect([entry(old.secret), entry(made.secret)]).toEqual(["revoked_key", "active"]);
    expect(await get(old.id)).toMatchObject({ status: "revoked", revoked_at: "2026-09-09T01:10:00.000Z" });
  });

  test("without a body the grace is a day; with 0 the old key ends at once", async () => {
    const first = await create();
    const second = await rotate(first.id, undefined);
    rig.clock.advance(86_400_000 - 1);
    expect(entry(first.secret)).toBe("rotating");
    rig.clock.advance(1);
    expect(entry(first.secret)).toBe("revoked_key");
    await rotate(second.id, { grace_seconds: 0 });
    expect(entry(second.secret)).toBe("revoked_key");
  });
});

describe("privilege", () => {
  test("a caller cannot grant a scope it does not hold, by creation, change or rotation", async () => {
    const maker = caller((await create({ scopes: ["write:keys", "read:keys", "inference"] })).secret);
    expect(await failure(create({}, maker))).toBe("scope /scopes");
    expect(await failure(create({ scopes: ["inference", "write:billing"] }, maker))).toBe("scope /scopes");
    const made = await create({ scopes: ["inference"] }, maker);
    expect(await failure(patch(made.id, { scopes: ["inference", "read:usage"] }, maker))).toBe(
      "scope /scopes",
    );
    expect(await failure(rotate(rig.owner.actor.id, {}, maker))).toBe("scope");
    expect(entry(rig.secrets.live)).toBe("active");
    expect(await failure(rotate(made.id, {}, maker))).toBe("done");
    // What a key has already may stay when somebody else changes something: `read:payloads`, which the owner does not hold.
    const strong = await create({ scopes: [...SCOPES] });
    expect(await failure(patch(strong.id, { name: "x", scopes: [...SCOPES] }))).toBe("done");
  });

  test("a test key reaches test keys only", async () => {
    const tester = caller((await create({ environment: "test", scopes: [...SCOPES] })).secret);
    expect(tester.environment).toBe("test");
    for (const act of [
      create({}, tester),
      patch(rig.owner.actor.id, { name: "x" }, tester),
      rotate(rig.owner.actor.id, {}, tester),
      revoke(rig.owner.actor.id, tester),
    ]) {
      expect(await failure(act)).toBe("scope");
    }
    expect((await create({ environment: "test" }, tester)).secret).toMatch(/^svc-test-/);
  });

  test("keys of another org do not exist", async () => {
    const stranger: Caller = { ...rig.owner, orgId: "org_other" };
    for (const act of [
      get(rig.owner.actor.id, stranger),
      patch(rig.owner.actor.id, {}, stranger),
      rotate(rig.owner.actor.id, {}, stranger),
      revoke(rig.owner.actor.id, stranger),
      create({}, stranger),
    ]) {
      expect(await failure(act)).toBe("not_found");
    }
    expect((await list({}, stranger)).data).toEqual([]);
  });

  test("a closed org makes and changes nothing", async () => {
    const org = rig.accounts.org(rig.owner.orgId);
    if (org === undefined) throw new Error("not seeded");
    await rig.accounts.act(() => rig.accounts.addOrg({ ...org, status: "closed" }));
    expect(await failure(create())).toBe("org_closed");
    expect(await failure(patch(rig.owner.actor.id, {}))).toBe("org_closed");
    expect(await failure(rotate(rig.owner.actor.id, {}))).toBe("org_closed");
  });
});

test("T61: no secret appears in anything but the answer that made it, nor in what is stored", async () => {
  const made = await create();
  const rotated = await rotate(made.id, {});
  const shown = JSON.stringify([
    await list(),
    await get(made.id),
    await patch(rotated.id, { name: "x" }),
    await revoke(rotated.id),
    rig.accounts.key(made.id),
    rig.keyring.resolve(rig.secrets.live),
  ]);
  await rig.caughtUp();
  const stored = readFileSync(join(rig.dataDir, "weir.lmdb"));
  expect(stored.includes(made.id)).toBe(true);
  for (const secret of [made.secret, rotated.secret, rig.secrets.live, rig.secrets.test]) {
    expect(shown).not.toContain(secret.slice(9, 46));
    expect(stored.includes(secret.slice(9, 46))).toBe(false);
  }
});
