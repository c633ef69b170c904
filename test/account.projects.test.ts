/** Projects: shape, budgets, plan cap, slugs, deletion with its keys. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { firstStart } from "../src/account/first-start.ts";
import { newKey } from "../src/account/key.ts";
import { Keyring } from "../src/account/keyring.ts";
import { LastUsed } from "../src/account/last-used.ts";
import { projectOperations } from "../src/account/project-operations.ts";
import { newSecret } from "../src/account/secret.ts";
import { AccountTables } from "../src/account/tables.ts";
import { WeirError } from "../src/errors.ts";
import type { Caller } from "../src/operation.ts";
import { openStore, type Store } from "../src/store/store.ts";

const PLAN = { rpm: 60, tpm: 10_000, concurrency: 5, keys: 50, projects: 5 };
const clock = { now: () => Date.UTC(2026, 8, 9), monotonic: () => 0 };
let dataDir: string;
let store: Store;
let accounts: AccountTables;
let keyring: Keyring;
let ops: ReturnType<typeof projectOperations>;
let owner: Caller;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "weir-projects-"));
  store = openStore(dataDir);
  accounts = new AccountTables(store);
  keyring = new Keyring({ accounts, clock, plan: () => PLAN, lastUsed: new LastUsed(accounts) });
  ops = projectOperations({
    accounts,
    clock,
    keyring,
    plan: () => PLAN,
    spend: (id) =>
      id === owner.projectId
        ? { todayMicroUsd: 3, monthMicroUsd: 40 }
        : { todayMicroUsd: 0, monthMicroUsd: 0 },
  });
  const made = await firstStart({ accounts, clock, dataDir, planId: "free" });
  owner = { requestId: "", ...keyring.resolve(made?.liveSecret) };
});
afterEach(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true });
});

type Project = { id: string } & Record<string, unknown>;
const none = { path: undefined, query: undefined, body: undefined };
const create = async (slug: string, environment?: "live" | "test", by = owner) =>
  (await ops.createProject.run({ ...none, body: { slug, name: slug, environment } }, by)) as Project;
const get = async (id: string, by = owner) =>
  (await ops.getProject.run({ ...none, path: { id } }, by)) as Project;
const list = async (by = owner) => ((await ops.listProjects.run(none, by)) as { data: Project[] }).data;
const remove = (id: string, by = owner) => ops.deleteProject.run({ ...none, path: { id } }, by);
const update = async (id: string, body: object, by = owner) =>
  (await ops.updateProject.run({ ...none, path: { id }, body }, by)) as Project;

async function failure(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    if (error instanceof WeirError) return error.kind;
    throw error;
  }
  return "done";
}

test("a project has the specified shape, with what it spent", async () => {
  expect(ops.getProject.output.parse(await get(owner.projectId))).toEqual({
    id: owner.projectId,
    org_id: owner.orgId,
    slug: "first",
    name: "First project",
    environment: "live",
    status: "active",
    budget: { hard: true },
    spend_today_micro: 3,
    spend_month_micro: 40,
    created_at: "2026-09-09T00:00:00.000Z",
  });
  const second = await create("second");
  expect((await list()).map((p) => p.id)).toEqual([second.id, owner.projectId]);
});

test("a budget is set piece by piece, cleared by null, and the next call sees it", async () => {
  const context = () => keyring.resolve(secret).projectBudget;
  const secret = newSecret("live");
  const first = accounts.key(owner.keyId);
  if (first === undefined) throw new Error("not seeded");
  await accounts.transact(() => accounts.addKey(newKey(first, secret, clock.now())));
  expect(context()).toBeUndefined();
  await update(owner.projectId, { budget: { monthly_micro: 9 } });
  expect(context()).toEqual({ monthlyMicroUsd: 9, hard: true });
  expect((await update(owner.projectId, { name: "n", budget: { hard: false } })).budget).toEqual({
    monthly_micro: 9,
    hard: false,
  });
  expect(context()).toEqual({ monthlyMicroUsd: 9, hard: false });
  expect((await update(owner.projectId, { budget: { monthly_micro: null } })).budget).toEqual({
    hard: false,
  });
  expect(context()).toBeUndefined();
});

test("200 simultaneous creations: one a slug, and never more than the plan's number", async () => {
  const same = await Promise.all(Array.from({ length: 200 }, () => failure(() => create("same"))));
  expect(same.filter((o) => o === "done")).toHaveLength(1);
  expect(new Set(same)).toEqual(new Set(["done", "slug_taken"]));
  const many = await Promise.all(Array.from({ length: 200 }, (_, i) => failure(() => create(`p${i}`))));
  expect(many.filter((o) => o === "done")).toHaveLength(3);
  expect(await list()).toHaveLength(5);
});

test("deleting a project revokes its keys, frees its slug, and hides it", async () => {
  const project = await create("side");
  const first = accounts.key(owner.keyId);
  if (first === undefined) throw new Error("not seeded");
  const secret = newSecret("live");
  await accounts.transact(() =>
    accounts.addKey(newKey({ ...first, projectId: project.id }, secret, clock.now())),
  );
  keyring.resolve(secret);
  await remove(project.id);
  expect(await failure(() => keyring.resolve(secret))).toBe("revoked_key");
  expect(await failure(() => keyring.resolve(undefined))).toBe("missing_key");
  expect(accounts.key(owner.keyId)?.revokedAtMs).toBeNull();
  for (const act of [() => get(project.id), () => update(project.id, {}), () => remove(project.id)]) {
    expect(await failure(act)).toBe("not_found");
  }
  expect(await list()).toHaveLength(1);
  expect((await create("side")).id).not.toBe(project.id);
});

test("the caller's own project cannot be deleted, nor anything of another org be seen", async () => {
  expect(await failure(() => remove(owner.projectId))).toBe("state");
  const stranger = { ...owner, orgId: "org_other", projectId: "prj_other" };
  for (const act of [() => get(owner.projectId, stranger), () => remove(owner.projectId, stranger)]) {
    expect(await failure(act)).toBe("not_found");
  }
  expect(await list(stranger)).toEqual([]);
});

test("a test key changes test projects only", async () => {
  const tester: Caller = { ...owner, environment: "test" };
  const live = await create("live-one");
  for (const act of [
    () => create("x", "live", tester),
    () => update(live.id, {}, tester),
    () => remove(live.id, tester),
  ]) {
    expect(await failure(act)).toBe("scope");
  }
  const sandbox = await create("sandbox", "test", tester);
  expect(await failure(() => remove(sandbox.id, tester))).toBe("done");
});

test.each(["", "-a", "a-", "A", "a b", "a/b", "x".repeat(64)])("the slug %j is refused", (slug) => {
  expect(ops.createProject.body?.safeParse({ slug, name: "n" }).success).toBe(false);
});
