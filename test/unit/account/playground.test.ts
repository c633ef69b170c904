/** Keys of the playground: whose they are, what replaces them, what ends them, and what they are not counted in. */
import { describe, expect, test } from "vitest";
import { accountErasure } from "../../../src/account/erasure/account-erasure.ts";
import type { Tickets } from "../../../src/account/tickets/tickets.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { accountRig, failure, failureKind, type Wire } from "./fixtures.ts";

const rig = accountRig();
const { call, list } = rig;

const project = (): string => rig.owner.projectId;
const ask = (by: Caller, more: object = {}): Promise<Wire> =>
  call("createPlaygroundKey", by, { body: { project_id: project(), ...more } });
const resolved = (secret: string) => failureKind(() => rig.caller(secret));

describe("a key of the playground", () => {
  test("is a person's, works for an hour, and has a hard budget of a day", async () => {
    const member = await rig.person("member");
    const key = await ask(member);
    expect(key).toMatchObject({
      kind: "playground",
      project_id: project(),
      created_by: member.actor.id,
      environment: "live",
      scopes: ["inference", "read:usage"],
      status: "active",
      budget: { daily_micro: 1_000_000, hard: true },
      expires_at: new Date(rig.clock.now() + HOUR_MS).toISOString(),
    });
    expect(rig.keyring.resolve(key.secret)).toMatchObject({
      keyId: key.id,
      lineageId: key.id,
      keyBudget: { dailyMicroUsd: 1_000_000, hard: true },
    });
    rig.clock.advance(HOUR_MS);
    expect(await resolved(key.secret)).toBe("expired_key");
  });

  test("asked for again it is the same key with another secret; the earlier one opens nothing any more", async () => {
    const member = await rig.person("member");
    const first = await ask(member);
    expect(await resolved(first.secret)).toBe("done");
    rig.clock.advance(1000);
    const second = await ask(member);
    expect(second).toMatchObject({ id: first.id, created_at: first.created_at });
    expect(await resolved(first.secret)).toBe("invalid_key");
    expect(rig.keyring.resolve(second.secret).lineageId).toBe(first.id);
    // Also after its hour, after it was revoked, and after its secret was reported.
    rig.clock.advance(2 * HOUR_MS);
    const third = await ask(member);
    await rig.revoke(third.id, member);
    expect(await resolved(third.secret)).toBe("revoked_key");
    const fourth = await ask(member);
    expect(fourth).toMatchObject({ id: first.id, status: "active" });
    expect(fourth).not.toHaveProperty("revoked_at");
    expect(await resolved(third.secret)).toBe("invalid_key");
    expect(await resolved(fourth.secret)).toBe("done");
  });

  test("200 simultaneous requests leave one key, of which one secret works", async () => {
    const member = await rig.person("member");
    const made = await Promise.all(Array.from({ length: 200 }, () => ask(member)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    const outcomes = await Promise.all(made.map(({ secret }) => resolved(secret)));
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect((await list({ kind: "playground" })).data).toHaveLength(1);
  });

  test("each person has one of each project and environment", async () => {
    const [ann, bob] = [await rig.person("member"), await rig.person("admin")];
    const second = await call("createProject", rig.owner, { body: { name: "Second", slug: "second" } });
    const test = await call("createProject", rig.owner, {
      body: { name: "Tests", slug: "tests", environment: "test" },
    });
    const keys = [
      await ask(ann),
      await ask(bob),
      await ask(ann, { project_id: second.id }),
      await ask(ann, { environment: "test" }),
      await ask(ann, { project_id: test.id }),
    ];
    expect(new Set(keys.map(({ id }) => id)).size).toBe(5);
    expect(keys.map(({ environment }) => environment)).toEqual(["live", "live", "live", "test", "test"]);
    for (const { secret } of keys) expect(await resolved(secret)).toBe("done");
    expect(await failure(ask(ann, { project_id: test.id, environment: "live" }))).toBe(
      "invalid_value /environment",
    );
    expect(await failure(ask(ann, { project_id: "prj_none" }))).toBe("invalid_value /project_id");
  });

  test("makes no event and counts in no number of keys; the audit has a row without the secret", async () => {
    rig.plan = { ...rig.plan, keys: 2 };
    rig.quotas = { keys_ever: 2 };
    const member = await rig.person("member");
    const before = rig.trail.eventsOf(rig.owner.orgId).length;
    const keys = [await ask(member), await ask(member), await ask(member, { environment: "test" })];
    expect(rig.trail.eventsOf(rig.owner.orgId)).toHaveLength(before);
    expect(rig.accounts.keysEver(rig.owner.orgId)).toBe(2);
    const rows = rig.trail.auditOf(rig.owner.orgId).slice(0, 3);
    expect(rows.map(({ act, target }) => [act, target])).toEqual(
      keys.map(({ id }) => ["playground.key", id]).reverse(),
    );
    for (const { secret } of keys) expect(JSON.stringify(rows)).not.toContain(secret);
    // A plan of three keys has room for one more beside the first two, whoever plays.
    rig.plan = { ...rig.plan, keys: 3 };
    rig.quotas = { keys_ever: 4 };
    expect(await failureKind(rig.create())).toBe("done");
    expect(await failureKind(rig.create())).toBe("plan_limit");
  });

  test("is in lists where that is asked", async () => {
    const member = await rig.person("member");
    const made = await rig.create({ name: "made" });
    rig.clock.advance(1);
    const key = await ask(member);
    rig.clock.advance(1);
    const later = await rig.create({ name: "later" });
    const ids = async (query: object) => (await list(query)).data.map(({ id }) => id);
    expect(await ids({})).not.toContain(key.id);
    expect(await ids({ kind: "playground" })).toEqual([key.id]);
    expect((await ids({ kind: "any" })).slice(0, 3)).toEqual([later.id, key.id, made.id]);
    expect(await ids({ kind: "any", q: key.id })).toEqual([key.id]);
    const walked: unknown[] = [];
    for (let cursor = "", isFirst = true; isFirst || cursor !== ""; isFirst = false) {
      const page = await list({ kind: "any", limit: 1, cursor });
      walked.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(walked).toEqual(await ids({ kind: "any" }));
    expect(await rig.get(key.id)).toMatchObject({ kind: "playground" });
    expect(made).not.toHaveProperty("kind");
  });

  test("cannot be changed, rotated or raised; everybody who may revoke keys may revoke it", async () => {
    const member = await rig.person("member");
    const { id } = await ask(member);
    expect(await failure(rig.patch(id, { budget: { daily_micro: 9_000_000 } }, member))).toBe("state");
    expect(await failure(rig.rotate(id, {}, member))).toBe("state");
    const body = { key_id: id, rpm: 100, reason: "more" };
    expect(await failure(call("requestLimits", member, { body }))).toBe("state");
    expect((await rig.revoke(id)).status).toBe("revoked");
  });

  test("ends with its person's membership, and with a role that may not play", async () => {
    const [ann, bob] = [await rig.person("member"), await rig.person("admin")];
    const [hers, his] = [await ask(ann), await ask(bob)];
    const kept = await rig.create({ project_id: project() }, ann);
    for (const { secret } of [hers, his]) expect(await resolved(secret)).toBe("done");
    await call("updateMember", rig.owner, { id: bob.actor.id, body: { role: "viewer" } });
    expect(await resolved(his.secret)).toBe("revoked_key");
    expect(await failureKind(ask(bob))).toBe("role");
    await call("removeMember", rig.owner, { id: ann.actor.id });
    expect(await resolved(hers.secret)).toBe("revoked_key");
    // A key that she made stays, as the org did not ask for its end.
    expect(await resolved(kept.secret)).toBe("done");
    // She was let in before she was removed.
    expect(await failureKind(ask(ann))).toBe("role");
    const [removal] = rig.trail.auditOf(rig.owner.orgId);
    expect(JSON.stringify(removal?.changes)).toContain(hers.id);
  });

  test("ends with its project", async () => {
    const member = await rig.person("member");
    const { id } = await call("createProject", rig.owner, { body: { name: "Second", slug: "second" } });
    const key = await ask(member, { project_id: id });
    await call("deleteProject", rig.owner, { id });
    expect(await resolved(key.secret)).toBe("revoked_key");
    expect(await failure(ask(member, { project_id: id }))).toBe("invalid_value /project_id");
  });

  test("a person has a bounded number, of which those that were not used for a month are forgotten", async () => {
    rig.quotas = { playground_keys: 2 };
    rig.plan = { ...rig.plan, projects: 50 };
    const member = await rig.person("member");
    const projects: string[] = [];
    for (const slug of ["p-a", "p-b", "p-c"])
      projects.push((await call("createProject", rig.owner, { body: { name: slug, slug } })).id);
    const [a, b, c] = projects;
    const first = await ask(member, { project_id: a });
    await ask(member, { project_id: b });
    expect(await failureKind(ask(member, { project_id: c }))).toBe("plan_limit");
    expect(await failureKind(ask(member, { project_id: a }))).toBe("done");
    expect(await failureKind(ask(await rig.person("admin"), { project_id: c }))).toBe("done");
    rig.clock.advance(30 * DAY_MS + HOUR_MS);
    const third = await ask(member, { project_id: c });
    expect((await list({ kind: "playground" })).data.map(({ id }) => id)).toEqual([third.id]);
    expect(rig.accounts.key(first.id)).toBeUndefined();
  });

  test("is erased with the org: it works no more, and nothing says whose it was by name", async () => {
    const member = await rig.person("member");
    const key = await ask(member);
    const orgId = rig.owner.orgId;
    const steps = accountErasure({
      accounts: rig.accounts,
      tickets: { of: () => [] } as unknown as Tickets,
      now: () => rig.clock.now(),
      forgetSessions: () => {},
    });
    const keys = steps.find(({ name }) => name === "keys");
    if (keys === undefined || !("walk" in keys)) throw new Error("keys are walked");
    await rig.accounts.act(() => keys.walk?.(orgId, 100, undefined));
    expect(rig.accounts.key(key.id)).toMatchObject({ name: "", isRevoked: true });
    expect(rig.accounts.playgroundKeysOf({ orgId, personId: member.actor.id })).toEqual([]);
    expect(await resolved(key.secret)).toBe("revoked_key");
  });
});
