/** Policies and their versions: creation, what is refused, what is in force where, and what a restart or a crash leaves. */
import { describe, expect, test, vi } from "vitest";
import type { PolicyFacts } from "../../../../src/routing/language/policy.ts";
import { failure, failureKind } from "../../account/fixtures.ts";
import { accountsWithout, policyRig, START, STRANGER, TESTER } from "./fixtures.ts";

const rig = policyRig();

const PRICE = "version: 1\nsort: price\n";
const WRONG = "version: 1\ndefaults:\n  fallback: true\n";

describe("creation", () => {
  test("a policy begins as a draft, version 1, with its text", async () => {
    expect(await rig.create("house", PRICE)).toEqual({
      name: "house",
      version: 1,
      status: "draft",
      created_at: START,
      created_by: "key_1",
      scopes: [],
      yaml: PRICE,
      warnings: [],
    });
    expect(await rig.addVersion("house")).toMatchObject({ version: 2, status: "draft", yaml: "version: 1" });
    expect((await rig.versions("house")).map((v) => v.version)).toEqual([2, 1]);
    expect(await rig.call("getPolicyVersion", { name: "house", version: "1" })).toMatchObject({
      version: 1,
      yaml: PRICE,
    });
    expect(rig.currentActivations()).toBe("none");
  });

  test("an invalid text is refused with every problem, and nothing is stored", async () => {
    const refused = await rig.create("house", WRONG).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      kind: "invalid_value",
      param: "/yaml",
      details: {
        path: "/defaults/fallback",
        message: expect.stringContaining("fallbacks"),
        line: 3,
        column: 3,
        problems: [{ path: "/defaults/fallback", line: 3, column: 3 }],
      },
    });
    expect(await rig.list()).toEqual([]);
    await rig.create("house");
    expect(await failure(() => rig.addVersion("house", WRONG))).toBe("invalid_value /yaml");
    expect(await rig.versions("house")).toHaveLength(1);
  });

  test.each([
    ["activatePolicy", { body: { version: 1 } }],
    ["dryRunPolicy", { body: { version: 1, model: "acme/one", key_id: "key_1" } }],
    ["dryRunPolicy", { body: { version: 1, replay: { hours: 1 } } }],
  ])("%s of a version that a later grammar refuses says where: %j", async (name, input) => {
    await rig.create("house", PRICE);
    // As if an earlier release had stored it.
    await rig.store.act(() => rig.store.table<string>("policies.texts").put(["org_1", "house", 1], WRONG));
    await rig.restart();
    await expect(rig.call(name, { name: "house", ...input })).rejects.toMatchObject({
      kind: "state",
      details: {
        line: 3,
        column: 3,
        problems: [{ path: "/defaults/fallback", message: expect.any(String), line: 3, column: 3 }],
      },
    });
  });

  test("the name in the text must be the policy's", async () => {
    expect(await failure(() => rig.create("house", "version: 1\npolicy: other\n"))).toBe(
      "invalid_value /yaml",
    );
    expect(await failure(() => rig.create("house", "version: 1\npolicy: house\n"))).toBe("done");
  });

  test.each(["", "House", "-a", "a b", "a/b", "x".repeat(65)])("the name %j is refused", async (name) => {
    await expect(rig.create(name)).rejects.toThrow(/name/);
  });

  test("200 simultaneous creations of one name: one is made; of versions: each gets a number of its own", async () => {
    const made = await Promise.all(Array.from({ length: 200 }, () => failure(() => rig.create("house"))));
    expect(made.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect(new Set(made)).toEqual(new Set(["done", "slug_taken /name"]));
    const versions = await Promise.all(Array.from({ length: 50 }, () => rig.addVersion("house")));
    expect(new Set(versions.map((v) => v.version)).size).toBe(50);
    expect((await rig.versions("house"))[0]).toMatchObject({ version: 51 });
  });

  test("an org has at most 100 policies, a policy at most 1,000 versions", async () => {
    const made = await Promise.all(
      Array.from({ length: 105 }, (_, i) => failureKind(() => rig.create(`p${i}`))),
    );
    expect(made.filter((outcome) => outcome === "done")).toHaveLength(100);
    expect(made.filter((outcome) => outcome === "plan_limit")).toHaveLength(5);
    const { tables } = rig.policies;
    const row = { name: "p0", createdAtMs: 0, createdBy: "key_1", wasActive: false };
    await tables.act(() => tables.addVersion("org_1", { ...row, version: 1_000 }, "version: 1"));
    expect(await failureKind(() => rig.addVersion("p0"))).toBe("plan_limit");
    expect(await failureKind(() => rig.create("p0", "version: 1", STRANGER))).toBe("done");
  });

  test("S7: the texts of all policies have at most 64 MB together", async () => {
    const big = `version: 1\n# ${"x".repeat(60_000)}`;
    await rig.create("house", big);
    const { tables } = rig.policies;
    const row = { name: "house", createdAtMs: 0, createdBy: "key_1", wasActive: false };
    await tables.act(() => {
      for (const name of ["house", "other"])
        for (let version = 2; version <= 560; version++)
          tables.addVersion("org_1", { ...row, name, version }, big);
    });
    expect(await failure(() => rig.addVersion("house", big))).toBe("plan_limit");
    expect(await failure(() => rig.create("third", big))).toBe("plan_limit");
    expect(await failure(() => rig.create("house", big, STRANGER))).toBe("done");
  });

  test("names unknown to the catalog are warnings", async () => {
    const made = await rig.create("house", "version: 1\ndefaults:\n  order: [cheep]\n");
    expect(made.warnings).toMatchObject([
      { path: "/defaults/order/0", line: 3, message: expect.stringContaining("cheap") },
    ]);
  });
});

test("validation reports problems with positions, and always answers 200", async () => {
  const validate = (yaml: string) => rig.call("validatePolicy", { body: { yaml } });
  expect(await validate(PRICE)).toEqual({
    valid: true,
    path: "",
    message: "",
    line: null,
    column: null,
    problems: [],
    warnings: [],
  });
  expect(await validate(WRONG)).toMatchObject({
    valid: false,
    path: "/defaults/fallback",
    line: 3,
    column: 3,
  });
  for (const text of ["", "[", "x".repeat(100_000), "a: &a [*a, *a]"]) {
    const verdict = await validate(text);
    expect([text.slice(0, 20), verdict.valid, verdict.message === ""]).toEqual([
      text.slice(0, 20),
      false,
      false,
    ]);
  }
});

describe("activation", () => {
  test("draft, active, retired, and back", async () => {
    await rig.create("house", PRICE);
    await rig.addVersion("house");
    expect(await rig.activate("house", 1)).toEqual({
      name: "house",
      version: 1,
      status: "active",
      created_at: START,
      created_by: "key_1",
      scopes: [{}],
    });
    expect(rig.currentActivations()).toBe("house@1");
    expect(await rig.list()).toMatchObject([{ name: "house", version: 1, status: "active" }]);
    await rig.activate("house", 2);
    expect(rig.currentActivations()).toBe("house@2");
    expect((await rig.versions("house")).map((v) => v.status)).toEqual(["active", "retired"]);
    expect((await rig.activate("house", 1)).status).toBe("active");
    expect(rig.currentActivations()).toBe("house@1");
    expect((await rig.versions("house")).map((v) => v.status)).toEqual(["retired", "active"]);
  });

  test("a project's policy overrides the org's; deactivating it restores the org's", async () => {
    await rig.create("house");
    await rig.create("lab");
    await rig.activate("house", 1);
    const scope = { project_id: "prj_2" };
    expect(await rig.activate("lab", 1, scope)).toMatchObject({ status: "active", scopes: [scope] });
    expect([rig.currentActivations("prj_1"), rig.currentActivations("prj_2")]).toEqual(["house@1", "lab@1"]);
    expect((await rig.activate("house", 1, scope)).scopes).toEqual([{}, scope]);
    expect([rig.currentActivations("prj_2"), (await rig.list())[1]?.status]).toEqual(["house@1", "retired"]);
    expect(await rig.deactivate("house", scope)).toMatchObject({ status: "active", scopes: [{}] });
    expect(await rig.deactivate("house")).toMatchObject({ status: "retired", scopes: [] });
    expect([rig.currentActivations("prj_1"), rig.currentActivations("prj_2")]).toEqual(["none", "none"]);
  });

  test("repeating an act is a success that changes nothing", async () => {
    await rig.create("house");
    await rig.activate("house", 1);
    rig.clock.advance(1_000);
    expect((await rig.activate("house", 1)).status).toBe("active");
    expect(rig.policies.tables.activation("org_1", "org")?.activatedAtMs).toBe(Date.parse(START));
    await rig.create("other");
    // It is not in force: there is nothing to take out.
    expect((await rig.deactivate("other")).status).toBe("draft");
    expect(rig.currentActivations()).toBe("house@1");
    for (let i = 0; i < 2; i++) expect((await rig.deactivate("house")).status).toBe("retired");
  });

  test("missing policies and those of other orgs cannot be activated", async () => {
    await rig.create("house");
    expect(await failure(() => rig.activate("house", 2))).toBe("not_found /version");
    expect(await failure(() => rig.activate("hose", 1))).toBe("not_found");
    for (const project_id of ["prj_9", "prj_0", "org"]) {
      expect(await failure(() => rig.activate("house", 1, { project_id }))).toBe(
        "not_found /scope/project_id",
      );
    }
    expect(rig.currentActivations()).toBe("none");
  });

  test("200 simultaneous activations: one is active, and every answer was correct", async () => {
    await rig.create("house");
    for (let i = 2; i <= 5; i++) await rig.addVersion("house");
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => rig.activate("house", (i % 5) + 1)),
    );
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set(["active"]));
    const states = (await rig.versions("house")).map((v) => v.status);
    expect(states.filter((status) => status === "active")).toHaveLength(1);
    expect(states.filter((status) => status === "retired")).toHaveLength(4);
    const active = (await rig.list())[0]?.version;
    expect(rig.currentActivations()).toBe(`house@${active}`);
  });

  test("a restart keeps all of it", async () => {
    await rig.create("house", PRICE);
    await rig.addVersion("house");
    await rig.activate("house", 2);
    await rig.activate("house", 1, { project_id: "prj_2" });
    const before = [
      await rig.list(),
      await rig.versions("house"),
      rig.currentActivations(),
      rig.currentActivations("prj_2"),
    ];
    await rig.restart();
    expect([
      await rig.list(),
      await rig.versions("house"),
      rig.currentActivations(),
      rig.currentActivations("prj_2"),
    ]).toEqual(before);
    expect(before.slice(2)).toEqual(["house@2", "house@1"]);
  });

  test("a project that is gone keeps nothing active", async () => {
    await rig.create("house");
    await rig.activate("house", 1, { project_id: "prj_2" });
    rig.ports = { accounts: accountsWithout("prj_2") };
    expect(await rig.list()).toMatchObject([{ status: "retired", scopes: [] }]);
    expect(await failureKind(() => rig.deactivate("house", { project_id: "prj_2" }))).toBe("not_found");
  });
});

test("no org can see or change another org's policies", async () => {
  await rig.create("house");
  expect(await rig.list(STRANGER)).toEqual([]);
  for (const act of [
    () => rig.versions("house", STRANGER),
    () => rig.addVersion("house", "version: 1", STRANGER),
    () => rig.activate("house", 1, undefined, STRANGER),
    () => rig.deactivate("house", undefined, STRANGER),
    () => rig.call("getPolicyVersion", { name: "house", version: 1 }, STRANGER),
    () => rig.call("dryRunPolicy", { name: "house", body: { model: "m" } }, STRANGER),
    () => rig.call("listCanaries", { name: "house" }, STRANGER),
    () => rig.call("listShadows", { name: "house" }, STRANGER),
    () => rig.call("listExperiments", { name: "house" }, STRANGER),
  ]) {
    expect(await failureKind(act)).toBe("not_found");
  }
  await rig.create("house", PRICE, STRANGER);
  await rig.activate("house", 1, undefined, STRANGER);
  expect([rig.currentActivations("prj_9", "org_2"), rig.currentActivations()]).toEqual(["house@1", "none"]);
});

test("a test key reads, validates and plans, and changes nothing", async () => {
  await rig.create("house");
  for (const act of [
    () => rig.create("other", PRICE, TESTER),
    () => rig.addVersion("house", PRICE, TESTER),
    () => rig.activate("house", 1, undefined, TESTER),
    () => rig.deactivate("house", undefined, TESTER),
  ]) {
    expect(await failureKind(act)).toBe("scope");
  }
  expect(await rig.list(TESTER)).toHaveLength(1);
  expect(
    await failureKind(() => rig.call("dryRunPolicy", { name: "house", body: { model: "m" } }, TESTER)),
  ).toBe("done");
});

describe("a version that can be read no more", () => {
  const spoil = (name: string, version: number) =>
    rig.policies.tables.act(() =>
      rig.policies.tables.addVersion(
        "org_1",
        { name, version, createdAtMs: 0, createdBy: "key_1", wasActive: true },
        "version: 0\nof: another grammar\n",
      ),
    );

  test("refuses all calls while it is active, is reported once, and can be replaced", async () => {
    await rig.create("house");
    await rig.create("lab");
    await rig.activate("house", 1);
    await rig.activate("lab", 1, { project_id: "prj_2" });
    await spoil("lab", 1);
    await rig.restart();
    const denied = (projectId: string) =>
      rig.policies.of({ orgId: "org_1", projectId })?.compiled.decide({} as PolicyFacts, {}).deny;
    for (let i = 0; i < 3; i++) {
      expect([rig.currentActivations("prj_2"), rig.currentActivations("prj_1")]).toEqual([
        "lab@1",
        "house@1",
      ]);
      expect(denied("prj_2")).toMatch(/^Version 1 of the routing policy "lab" can be read no more/);
    }
    expect(rig.unreadable).toEqual([{ orgId: "org_1", policy: "lab", version: 1 }]);
    expect((await rig.versions("lab"))[0]?.status).toBe("active");
    await rig.activate("house", 1, { project_id: "prj_2" });
    expect([rig.currentActivations("prj_2"), denied("prj_2")]).toEqual(["house@1", undefined]);
  });

  test("cannot be activated or used in a dry run", async () => {
    await rig.create("house");
    await spoil("house", 2);
    expect(await failureKind(() => rig.activate("house", 2))).toBe("state");
    const body = { model: "m", version: 2 };
    expect(await failureKind(() => rig.call("dryRunPolicy", { name: "house", body }))).toBe("state");
  });
});

test("T54: a long document is read in another thread, once an act and never by a call", async () => {
  const rules = Array.from(
    { length: 100 },
    (_, i) => `  - {name: rule-${i}, match: {app: app-${i}}, then: {order: [dear]}}`,
  );
  const long = ["version: 1", "rules:", ...rules].join("\n");
  expect((await rig.call("validatePolicy", { body: { yaml: long } })).valid).toBe(true);
  await rig.create("house", long);
  await rig.activate("house", 1);
  expect(rig.threaded).toEqual([long, long, long]);
  expect(rig.currentActivations()).toBe("house@1");
  expect(
    (await rig.call("dryRunPolicy", { name: "house", body: { model: "m", app: "app-99" } })).decision,
  ).toMatchObject({
    rule: "rule-99",
  });
  expect(rig.threaded).toHaveLength(3);
  // Nor by the first call after a start.
  await rig.restart();
  await rig.policies.warm();
  expect(rig.threaded).toHaveLength(4);
  const text = vi.spyOn(rig.policies.tables, "text");
  expect([rig.currentActivations(), text.mock.calls]).toEqual(["house@1", []]);
  // Two that prepare it at once make one object of it.
  await rig.addVersion("house", long);
  const key = { orgId: "org_1", policy: "house", version: 2 };
  const [a, b] = await Promise.all([rig.policies.prepare(key), rig.policies.prepare(key)]);
  expect(a).toBe(b);
});

test("an active version is compiled once, and the absence of one is cached too", async () => {
  await rig.create("house", PRICE);
  await rig.activate("house", 1);
  const first = rig.policies.of({ orgId: "org_1", projectId: "prj_1" });
  expect(rig.policies.of({ orgId: "org_1", projectId: "prj_1" })).toBe(first);
  expect(rig.policies.of({ orgId: "org_1", projectId: "prj_2" })).toBe(first);
  // Another activation of the org asks the store again, and compiles nothing.
  await rig.create("lab");
  await rig.activate("lab", 1, { project_id: "prj_2" });
  expect(rig.policies.of({ orgId: "org_1", projectId: "prj_1" })).toBe(first);
  const reads = watchReads();
  for (let i = 0; i < 3; i++) expect(rig.currentActivations("prj_9", "org_2")).toBe("none");
  expect(reads()).toBe(2);
});

/** Counts how often the store is asked for what is in force. */
function watchReads(): () => number {
  const { tables } = rig.policies;
  const read = tables.activation.bind(tables);
  let reads = 0;
  tables.activation = (orgId, scope) => {
    reads++;
    return read(orgId, scope);
  };
  return () => reads;
}
