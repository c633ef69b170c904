/** Projects: shape, budgets, plan cap, slugs, deletion with its keys. */
import { expect, test } from "vitest";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { accountRig, failure, failureKind, type Page } from "./fixtures.ts";

const rig = accountRig({ todayMicroUsd: 3, monthMicroUsd: 40 });
const { call } = rig;

const create = (slug: string, environment?: "live" | "test", by?: Caller) =>
  call("createProject", by, { body: { slug, name: slug, environment } });
const get = (id: string, by?: Caller) => call("getProject", by, { id });
const list = async (by?: Caller) => (await call<Page>("listProjects", by)).data;
const remove = (id: string, by?: Caller) => call<undefined>("deleteProject", by, { id });
const update = (id: string, body: object, by?: Caller) => call("updateProject", by, { id, body });

test("a project has the specified shape, with its spend", async () => {
  expect(rig.ops.getProject.output.parse(await get(rig.owner.projectId))).toEqual({
    id: rig.owner.projectId,
    org_id: rig.owner.orgId,
    slug: "first",
    name: "First project",
    environment: "live",
    status: "active",
    budget: { monthly_micro: 0, hard: false },
    spend_today_micro: 3,
    spend_month_micro: 40,
    created_at: "2026-09-09T00:00:00.000Z",
  });
  const second = await create("second");
  expect((await list()).map((p) => p.id)).toEqual([second.id, rig.owner.projectId]);
});

test("a project is made with its budget, or without one", async () => {
  const body = { slug: "paid", name: "Paid", budget: { monthly_micro: 5 } };
  expect((await call("createProject", undefined, { body })).budget).toEqual({ monthly_micro: 5, hard: true });
  expect((await create("free")).budget).toEqual({ monthly_micro: 0, hard: false });
  const hardNothing = { slug: "odd", name: "Odd", budget: { hard: true } };
  expect(await failure(call("createProject", undefined, { body: hardNothing }))).toBe(
    "invalid_value /budget/monthly_micro",
  );
});

test("a budget is set piece by piece, cleared by null, and the next call sees it", async () => {
  const context = () => rig.keyring.resolve(secret).projectBudget;
  const secret = await rig.addKey();
  expect(context()).toBeUndefined();
  await update(rig.owner.projectId, { budget: { monthly_micro: 9 } });
  expect(context()).toEqual({ monthlyMicroUsd: 9, hard: true });
  expect((await update(rig.owner.projectId, { name: "n", budget: { hard: false } })).budget).toEqual({
    monthly_micro: 9,
    hard: false,
  });
  expect(context()).toEqual({ monthlyMicroUsd: 9, hard: false });
  expect((await update(rig.owner.projectId, { budget: { monthly_micro: null } })).budget).toEqual({
    monthly_micro: 0,
    hard: false,
  });
  expect(context()).toBeUndefined();
});

test("O28: a project's hard budget without an amount is refused with a pointer", async () => {
  const change = (budget: object) => update(rig.owner.projectId, { budget });
  expect(await failure(change({ hard: true }))).toBe("invalid_value /budget/monthly_micro");
  const none = { monthly_micro: 0, hard: false };
  expect((await change(none)).budget).toEqual(none);
  expect((await change({ monthly_micro: 9 })).budget).toEqual({ monthly_micro: 9, hard: true });
  expect(
    rig.ops.updateProject.body?.safeParse({ budget: { monthly_micro: 0 } }).error?.issues[0]?.path,
  ).toEqual(["budget", "monthly_micro"]);
});

test("200 simultaneous creations: one a slug, and never more than the plan's number", async () => {
  const same = await Promise.all(Array.from({ length: 200 }, () => failureKind(() => create("same"))));
  expect(same.filter((o) => o === "done")).toHaveLength(1);
  expect(new Set(same)).toEqual(new Set(["done", "slug_taken"]));
  const many = await Promise.all(Array.from({ length: 200 }, (_, i) => failureKind(() => create(`p${i}`))));
  expect(many.filter((o) => o === "done")).toHaveLength(3);
  expect(await list()).toHaveLength(5);
});

test("deleting a project revokes its keys, frees its slug, and hides it", async () => {
  const project = await create("side");
  const secret = await rig.addKey({ projectId: project.id });
  rig.keyring.resolve(secret);
  await remove(project.id);
  expect(await failureKind(() => rig.keyring.resolve(secret))).toBe("revoked_key");
  expect(await failureKind(() => rig.keyring.resolve(undefined))).toBe("missing_key");
  expect(rig.accounts.key(rig.owner.actor.id)?.revokedAtMs).toBeNull();
  for (const act of [() => get(project.id), () => update(project.id, {}), () => remove(project.id)]) {
    expect(await failureKind(act)).toBe("not_found");
  }
  expect(await list()).toHaveLength(1);
  expect((await create("side")).id).not.toBe(project.id);
});

test("the caller's own project cannot be deleted, nor anything of another org be seen", async () => {
  expect(await failureKind(() => remove(rig.owner.projectId))).toBe("state");
  const stranger = { ...rig.owner, orgId: "org_other", projectId: "prj_other" };
  for (const act of [() => get(rig.owner.projectId, stranger), () => remove(rig.owner.projectId, stranger)]) {
    expect(await failureKind(act)).toBe("not_found");
  }
  expect(await list(stranger)).toEqual([]);
});

test("a test key changes test projects only", async () => {
  const tester: Caller = { ...rig.owner, environment: "test" };
  const live = await create("live-one");
  for (const act of [
    () => create("x", "live", tester),
    () => update(live.id, {}, tester),
    () => remove(live.id, tester),
  ]) {
    expect(await failureKind(act)).toBe("scope");
  }
  const sandbox = await create("sandbox", "test", tester);
  expect(await failureKind(() => remove(sandbox.id, tester))).toBe("done");
});

test.each(["", "-a", "a-", "A", "a b", "a/b", "x".repeat(64)])("the slug %j is refused", (slug) => {
  expect(rig.ops.createProject.body?.safeParse({ slug, name: "n" }).success).toBe(false);
});
