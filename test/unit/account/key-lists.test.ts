/** Lists of keys under their cursors, and the plan's number of keys under simultaneous callers. */
import { describe, expect, test } from "vitest";
import { MOST_WALKED } from "../../../src/base/operation/page.ts";
import { accountRig, failureKind } from "./fixtures.ts";

const rig = accountRig();
const { create, get, revoke, rotate, list } = rig;

describe("the plan's number of keys", () => {
  test("200 simultaneous creations against a cap of 20 give exactly 20 working keys", async () => {
    rig.plan = { ...rig.plan, keys: 20 };
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => failureKind(create())));
    // Two keys were there before.
    expect(outcomes.filter((o) => o === "done")).toHaveLength(18);
    expect(outcomes.filter((o) => o === "plan_limit")).toHaveLength(182);
    expect((await list({ status: "active", limit: 200 })).data).toHaveLength(20);
  });

  test("200 simultaneous rotations of one key make one successor", async () => {
    const { id } = await create();
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => failureKind(rotate(id, {}))));
    expect(outcomes.filter((o) => o === "done")).toHaveLength(1);
  });

  test("keys that ended give their place back, and a full org can rotate", async () => {
    rig.plan = { ...rig.plan, keys: 4 };
    const third = await create({ expires_in: "1h" });
    const fourth = await create();
    expect(await failureKind(create())).toBe("plan_limit");
    const fifth = await rotate(fourth.id, { grace_seconds: 60 });
    expect(await failureKind(rotate(fifth.id, {}))).toBe("state");
    rig.clock.advance(60_000);
    expect(await failureKind(create())).toBe("plan_limit");
    rig.clock.advance(3_600_000);
    expect((await get(third.id)).status).toBe("expired");
    const sixth = await create();
    expect(await failureKind(create())).toBe("plan_limit");
    await revoke(sixth.id);
    expect(await failureKind(create())).toBe("done");
  });
});

describe("lists", () => {
  test("show the keys that somebody made", async () => {
    const member = await rig.person("member");
    const { id } = await create({ project_id: rig.owner.projectId }, member);
    await create();
    const { data } = await list({ created_by: member.actor.id });
    expect(data.map((key) => key.id)).toEqual([id]);
  });

  test("show the keys of a person, with those that their keys made", async () => {
    const member = await rig.person("member");
    const project = { project_id: rig.owner.projectId };
    const maker = await create({ ...project, scopes: ["inference", "read:usage", "write:keys"] }, member);
    const made = await create(project, rig.caller(maker.secret));
    await create();
    const { data } = await list({ person_id: member.actor.id });
    expect(data.map(({ id }) => id).sort()).toEqual([maker.id, made.id].sort());
  });

  test("a walk sees every key once, newest first, though keys are added and revoked meanwhile", async () => {
    const made: string[] = [];
    for (let i = 0; i < 25; i++) {
      rig.clock.advance(i % 3); // several keys within one millisecond
      made.unshift((await create()).id);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list({ limit: "10", cursor });
      expect(page.data.length).toBeLessThanOrEqual(10);
      seen.push(...page.data.map((k) => k.id));
      cursor = page.next_cursor;
      rig.clock.advance(1);
      await revoke((await create()).id);
      // The very last is the first key, which must stay.
      if (cursor !== "") await revoke(page.data.at(-1)?.id ?? "");
    } while (cursor !== "");
    expect(seen.slice(0, 25)).toEqual(made);
    expect(seen).toHaveLength(27);
  });

  test("a cursor that was never issued, or for another org, is the first page", async () => {
    await create();
    const first = await list({ limit: 1 });
    expect(first.next_cursor).not.toBe("");
    for (const cursor of ["", "nonsense", `x${first.next_cursor}`]) {
      expect((await list({ limit: 1, cursor })).data).toEqual(first.data);
    }
    expect((await list({ limit: 1, cursor: first.next_cursor })).data).not.toEqual(first.data);
  });

  test("a status filter walks every key of that status and no other", async () => {
    const wanted: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { id } = await create();
      if (i % 3 === 0) wanted.unshift((await revoke(id)).id);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list({ status: "revoked", limit: 2, cursor });
      seen.push(...page.data.map((k) => k.id));
      cursor = page.next_cursor;
    } while (cursor !== "");
    expect(seen).toEqual(wanted);
  });

  test("a filter that thousands of newer keys do not pass answers short pages, and the walk still arrives", async () => {
    const model = rig.rowOf(rig.secrets.live);
    rig.clock.advance(1);
    await rig.accounts.act(() => {
      for (let i = 0; i < MOST_WALKED + 200; i++) {
        const order = { ...model, createdAtMs: rig.clock.now(), revokedAtMs: rig.clock.now() };
        rig.accounts.addKey({ ...order, id: `key_${String(i).padStart(26, "0")}`, hash: `hash ${i}` });
      }
    });
    const first = await list({ status: "active" });
    expect(first.data).toEqual([]);
    expect(first.next_cursor).not.toBe("");
    const second = await list({ status: "active", cursor: first.next_cursor });
    expect(second.data.map((k) => k.hint)).toContain(model.hint);
    expect(second.next_cursor).toBe("");
  });

  test.each(["0", "201", "1.5", "x"])("limit=%s is refused", (limit) => {
    expect(rig.ops.listKeys.query?.safeParse({ limit }).success).toBe(false);
  });
});
