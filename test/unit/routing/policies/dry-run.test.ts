/** Dry runs: what a version decides, what it would try at which cost, and why; replays and reports through their ports. */
import { describe, expect, test } from "vitest";
import type { Model } from "../../../../src/base/endpoint.ts";
import { expectedCostMicroUsd } from "../../../../src/routing/policies/dry-run.ts";
import type { ReplayRequest } from "../../../../src/routing/policies/replay/replay.ts";
import type { ReplayReport } from "../../../../src/routing/policies/replay/replay-report.ts";
import type { ArmEndpoint } from "../../../../src/routing/policies/report-operations.ts";
import { endpoint, health } from "../../../support/routing/fixtures.ts";
import { failure } from "../../account/fixtures.ts";
import { CHEAP, DEAR, OWNER, policyRig, STRANGER, TESTER } from "./fixtures.ts";

const rig = policyRig();

const dryRun = (body: object = {}, by?: Parameters<typeof rig.call>[2]) =>
  rig.call("dryRunPolicy", { name: "house", body: { model: "m", ...body } }, by);
const tried = (answer: object) =>
  (answer as { plan: { endpoint_id: string }[] }).plan.map((a) => a.endpoint_id);

test("the plan with costs and reasons, and the excluded endpoints", async () => {
  await rig.create(
    "house",
    "version: 1\nsort: price\nrules:\n  - {name: cheap only, match: {app: batch}, then: {ignore: [dear]}}\n",
  );
  const answer = await dryRun({ est_input_tokens: 3_000 });
  expect(answer).toMatchObject({
    policy: "house",
    version: 1,
    decision: { sort: "price", affinity: "session", max_attempts: 8, rule: "", notes: expect.any(Array) },
    plan: [
      // 3,000 × 100 nano + 1,000 × 400 nano.
      { attempt: 1, endpoint_id: "ep_cheap", provider: "cheap", region: "eu", est_cost_micro: 700 },
      { attempt: 2, endpoint_id: "ep_dear", provider: "dear", region: "eu", est_cost_micro: 1_800 },
    ],
    excluded: [],
    trace: expect.stringContaining("ep_cheap"),
  });
  expect(await dryRun({ app: "batch" })).toMatchObject({
    decision: { rule: "cheap only" },
    plan: [{ endpoint_id: "ep_cheap" }],
    excluded: [{ endpoint_id: "ep_dear", kind: "route", reason: expect.any(String) }],
  });
});

test("price, health, and about what would be held: the longest answer at the dearest of the plan", async () => {
  await rig.create("house", "version: 1\nsort: price\n");
  const view = health({ ep_dear: { errorRate: 0.25, ttftMs: 180 } });
  rig.ports = { health: { ...view, with: () => view } };
  const answer = await dryRun({ est_input_tokens: 1_000, max_output_tokens: 500 });
  expect(answer).toMatchObject({
    plan: [
      { endpoint_id: "ep_cheap", price: { input: 0.1, output: 0.4 } },
      {
        endpoint_id: "ep_dear",
        price: { input: 0.3, output: 0.9 },
        health: { error_rate: 0.25, first_token_ms: 180, whole_ms: null },
      },
    ],
    // 1,000 × 300 nano + 500 × 900 nano.
    reserve_micro: 750,
  });
  // A stream that names no bound is held for a usual answer, a whole answer for the longest.
  const most = async (stream: boolean) => (await dryRun({ est_input_tokens: 0, stream })).reserve_micro;
  expect(await most(true)).toBe((Math.min(DEAR.maxOutput, 4_096) * 900) / 1_000);
  expect(await most(false)).toBe((DEAR.maxOutput * 900) / 1_000);
  const only = { route: { providers: { only: ["cheap"] } }, est_input_tokens: 0, max_output_tokens: 500 };
  expect((await dryRun(only)).reserve_micro).toBe(200);
});

test("what canary, experiment and shadow would do with such a call", async () => {
  const lines = [
    "canary: {endpoint: ep_dear, percent: 100, max_error_rate: 0.1, min_samples: 3}",
    "experiment: {name: hosts, arms: [{arm: a, endpoint: ep_cheap}, {arm: b, endpoint: ep_dear, weight: 3}]}",
    "shadow: {endpoint: ep_dear, percent: 100}",
  ];
  await rig.create(
    "house",
    ["version: 1", "sort: price", "defaults:", ...lines.map((l) => `  ${l}`)].join("\n"),
  );
  await rig.activate("house", 1);
  const trialsOf = async (body: object = {}) => (await dryRun(body)).trials;
  const arms = [
    { arm: "a", endpoint_id: "ep_cheap", weight: 1 },
    { arm: "b", endpoint_id: "ep_dear", weight: 3 },
  ];
  const copies = { endpoint_id: "ep_dear", percent: 100, bill: "platform" };
  // It serves the call itself, and is no shadow of its own.
  expect(await trialsOf()).toEqual({
    canary: { endpoint_id: "ep_dear", percent: 100, state: "warming", takes_part: true },
    experiment: { name: "hosts", arms, arm: "" },
    shadow: { ...copies, takes_part: false },
  });
  const active = rig.policies.of({ orgId: "org_1", projectId: "prj_1" });
  for (let i = 0; i < 3; i++) active?.canaryResult("ep_dear", true);
  const later = await trialsOf({ user: "ada" });
  expect(later).toMatchObject({
    canary: { state: "red", takes_part: false },
    experiment: { arm: expect.stringMatching(/^[ab]$/) },
  });
  expect(await trialsOf({ user: "ada" })).toEqual(later);
  // A request that chooses takes part in none of them, but may be copied.
  const chosen = await trialsOf({ route: { providers: { order: ["cheap"] } } });
  expect(chosen).toEqual({ shadow: { ...copies, takes_part: true } });
  await rig.create("plain");
  expect((await rig.call("dryRunPolicy", { name: "plain", body: { model: "m" } })).trials).toEqual({});
});

test.each([
  { input: 3_000, max: undefined, micro: 300 + 400 },
  { input: 3_000, max: 10, micro: 300 + 4 },
  { input: 30, max: undefined, micro: 3 + 102 },
  { input: 30, max: 5_000, micro: 3 + 102 },
  { input: 0, max: 1, micro: 0 },
])("$input tokens in and at most $max out: $micro micro-USD", ({ input, max, micro }) => {
  expect(expectedCostMicroUsd(CHEAP, input, max)).toBe(micro);
});

test("a task without output costs its input", () => {
  expect(
    expectedCostMicroUsd(endpoint("e", { task: "embed", input: 100, output: 400 }), 3_000, undefined),
  ).toBe(300);
});

describe("the version", () => {
  test("is the requested one, else the active one, else the newest", async () => {
    await rig.create("house");
    await rig.addVersion("house");
    expect((await dryRun()).version).toBe(2);
    await rig.activate("house", 1, { project_id: "prj_2" });
    expect((await dryRun()).version).toBe(1);
    expect((await dryRun({ version: 2 })).version).toBe(2);
    expect(await failure(() => dryRun({ version: 3 }))).toBe("not_found /version");
  });

  test("active in the call's project overrides the whole org's", async () => {
    await rig.create("house");
    await rig.addVersion("house");
    await rig.activate("house", 1);
    await rig.activate("house", 2, { project_id: "prj_2" });
    expect((await dryRun()).version).toBe(1);
    expect((await dryRun({ project_id: "prj_2" })).version).toBe(2);
  });
});

describe("the call", () => {
  const facts: readonly (readonly [match: string, body: object])[] = [
    ["model: v/*", {}],
    ["project: prj_2", { project_id: "prj_2" }],
    ["project: project-1", {}],
    ["key: key_1", {}],
    ["key: key_test", { key_id: "key_test" }],
    ["project: project-2", { key_id: "key_test" }],
    ["app: a", { app: "a" }],
    ["tag: team=x", { tags: { team: "x" } }],
    ["stream: true", { stream: true }],
    ["tools: true", { tools: true }],
    ["images: true", { images: true }],
    ["min_input_tokens: 5000", { est_input_tokens: 5_000 }],
  ];
  test.each(facts)("a rule sees %s", async (match, body) => {
    await rig.create("house", `version: 1\nrules:\n  - {name: hit, match: {${match}}}\n`);
    expect((await dryRun(body)).decision).toMatchObject({ rule: "hit" });
  });

  test("steers as a request does", async () => {
    await rig.create("house", "version: 1\nsort: price");
    expect(tried(await dryRun({ route: { providers: { order: ["dear"] } } }))).toEqual([
      "ep_dear",
      "ep_cheap",
    ]);
    const only = await dryRun({ route: { providers: { only: ["dear"] }, max_attempts: 2 } });
    expect([tried(only), (only.decision as { max_attempts: number }).max_attempts]).toEqual([["ep_dear"], 2]);
  });

  test("shows only what applies: with an order of its own, no shares, arms and weights", async () => {
    const arms = "[{arm: a, endpoint: ep_dear}, {arm: b, endpoint: ep_cheap}]";
    const shares = [
      "canary: {endpoint: ep_dear, percent: 5, max_error_rate: 0.1, min_samples: 10}",
      "weights: {ep_dear: 1}",
      `experiment: {name: hosts, arms: ${arms}}`,
    ];
    await rig.create("house", ["version: 1", "defaults:", ...shares.map((line) => `  ${line}`)].join("\n"));
    const notes = async (body: object) =>
      ((await dryRun(body)).decision as { notes: string[] }).notes.slice(1);
    expect(await notes({})).toEqual([
      "first attempts by weight: ep_dear 1",
      "5 % go to the canary ep_dear first",
      "experiment hosts: a, b",
    ]);
    expect(await notes({ route: { providers: { order: ["dear"] } } })).toEqual(["tried first: dear"]);
  });

  test("says what becomes of a call whose client leaves, where the policy says it", async () => {
    const yaml =
      "version: 1\nrules:\n  - {name: agents, match: {app: agents}, then: {on_disconnect: detach}}";
    await rig.create("house", yaml);
    const notes = async (app: string) =>
      ((await dryRun({ app })).decision as { notes: string[] }).notes.slice(1);
    expect(await notes("agents")).toEqual([
      "if the client leaves: detach, unless the request says otherwise",
    ]);
    expect(await notes("chat")).toEqual([]);
  });

  test("may be too long for everybody: an empty plan with reasons", async () => {
    await rig.create("house");
    expect(await dryRun({ est_input_tokens: 50_000 })).toMatchObject({
      plan: [],
      excluded: [{ kind: "context" }, { kind: "context" }],
    });
  });

  test("sees the health of this moment", async () => {
    await rig.create("house", "version: 1\nsort: price");
    const view = health({ ep_cheap: { outForMs: 5_000 } });
    rig.ports = { health: { ...view, with: () => view } };
    expect(await dryRun()).toMatchObject({
      plan: [{ endpoint_id: "ep_dear" }],
      excluded: [{ kind: "saturated" }],
    });
  });

  test("meets a canary that turned red last of all", async () => {
    await rig.create(
      "house",
      "version: 1\nsort: price\ndefaults:\n  canary: {endpoint: ep_cheap, percent: 100, max_error_rate: 0.1, min_samples: 1}\n",
    );
    await rig.activate("house", 1);
    expect(tried(await dryRun())).toEqual(["ep_cheap", "ep_dear"]);
    const active = rig.policies.of({ orgId: "org_1", projectId: "prj_1" });
    for (let i = 0; i < 10; i++) active?.canaryResult("ep_cheap", true);
    expect(tried(await dryRun())).toEqual(["ep_dear", "ep_cheap"]);
  });

  test("of a person is of no key, unless they name one: rules about keys and projects then do not fit", async () => {
    const rules = [
      "  - {name: of a key, match: {key: [key_1, key_test]}}",
      "  - {name: of a project, match: {project: [prj_1, project-2]}}",
    ];
    await rig.create("house", ["version: 1", "sort: price", "rules:", ...rules].join("\n"));
    const person: typeof OWNER = { ...OWNER, projectId: "", actor: { kind: "person", id: "usr_1" } };
    const ruleOf = async (body: object) => ((await dryRun(body, person)).decision as { rule: string }).rule;
    expect(tried(await dryRun({}, person))).toEqual(["ep_cheap", "ep_dear"]);
    expect(await ruleOf({})).toBe("");
    expect(await ruleOf({ project_id: "prj_2" })).toBe("of a project");
    expect(await ruleOf({ key_id: "key_test" })).toBe("of a key");
  });

  test("that the policy refuses has no plan", async () => {
    await rig.create("house", "version: 1\ndefaults:\n  deny: {message: Not on Sundays}\n");
    expect(await dryRun()).toMatchObject({ decision: { deny: "Not on Sundays" }, plan: [], excluded: [] });
  });

  test("accepts only existing objects of the org", async () => {
    await rig.create("house");
    expect(await failure(() => dryRun({ model: "v/other" }))).toBe("model_not_found /model");
    expect(await failure(() => dryRun({ project_id: "prj_9" }))).toBe("not_found /project_id");
    expect(await failure(() => dryRun({ key_id: "key_9" }))).toBe("not_found /key_id");
    await expect(rig.call("dryRunPolicy", { name: "house", body: {} })).rejects.toThrow(/model/);
  });

  test("includes endpoints that only the org's own keys reach, unless a test key asks", async () => {
    await rig.create("house", "version: 1\nsort: price");
    const own = endpoint("ep_own", { input: 1, output: 1 });
    const keys = {
      of: () => own.provider.keys,
      platformFallback: () => true,
      modelFor: (model: Model) => ({ ...model, endpoints: [...model.endpoints, own] }),
    };
    rig.ports = { ownKeys: { of: (orgId) => (orgId === "org_1" ? keys : undefined) } };
    expect(tried(await dryRun())).toEqual(["ep_own", "ep_cheap", "ep_dear"]);
    expect(tried(await dryRun({}, TESTER))).toEqual(["ep_cheap", "ep_dear"]);
  });
});

describe("a replay", () => {
  const REPORT = { hours: 4, version: 2 } as ReplayReport;

  test("is run over the version asked for, without a model or beside a plan", async () => {
    await rig.create("house");
    await rig.addVersion("house", "version: 1\nsort: price");
    await rig.activate("house", 1);
    const asked: ReplayRequest[] = [];
    rig.ports = {
      replay: (request) => {
        asked.push(request);
        return Promise.reject(new Error("asked"));
      },
    };
    const replay = (body: object) =>
      rig.call("dryRunPolicy", { name: "house", body }).catch((e: Error) => e.message);
    expect(await replay({ replay: { hours: 4, version: 2 } })).toBe("asked");
    expect(await replay({ model: "m", replay: { hours: 720, project_id: "prj_2" } })).toBe("asked");
    const usual = { orgId: "org_1", name: "house", dataPolicy: { zdr: false, noTrain: false, regions: [] } };
    expect(asked).toEqual([
      { ...usual, version: 2, yaml: "version: 1\nsort: price", hours: REPORT.hours, projectId: undefined },
      { ...usual, version: 1, yaml: "version: 1", hours: 720, projectId: "prj_2" },
    ]);
    const refused = (body: object) => failure(() => rig.call("dryRunPolicy", { name: "house", body }));
    expect(await refused({ replay: { hours: 4, version: 9 } })).toBe("not_found /version");
    expect(await refused({ replay: { hours: 4, project_id: "prj_9" } })).toBe("not_found /replay/project_id");
    expect(asked).toHaveLength(2);
  });
});

test("reports come from analytics, which gets each arm's endpoint", async () => {
  const arms =
    "experiment: {name: hosts, arms: [{arm: a, endpoint: ep_cheap, weight: 1}, {arm: b, endpoint: ep_dear, weight: 1}]}";
  await rig.create("house", `version: 1\ndefaults:\n  ${arms}\n`);
  await rig.addVersion("house", `version: 1\ndefaults:\n  ${arms}\n`);
  await rig.activate("house", 1);
  const asked: unknown[] = [];
  let missingSinceMs: number | undefined;
  const arm = { arm: "a", experiment: "hosts", requests: 1, errors: 0, cost_micro: 5, output_tokens: 9 };
  const row = {
    ...arm,
    ttft_p50_ms: 1,
    ttft_p95_ms: 2,
    environment: "live" as const,
    tried: 1,
    confidence: 0.95,
    error_rate: 0,
    error_rate_interval: { low: 0, high: 0.79 },
    cost_per_request_micro: 5,
    cost_per_request_micro_interval: null,
    ttft_p50_ms_interval: null,
    more: [1],
  };
  rig.ports = {
    reports: {
      experiments: async (orgId: string, policy: string, hours: number, arms: readonly ArmEndpoint[]) => {
        asked.push([
          orgId,
          policy,
          hours,
          arms.map((a) => `${a.version} ${a.experiment}/${a.arm} ${a.endpointId}`),
        ]);
        return { arms: [row], missingSinceMs };
      },
      shadows: async (...args: unknown[]) => {
        asked.push(args);
        return [];
      },
    },
  };
  const list = (query: object) => rig.call("listExperiments", { name: "house", query });
  expect(await list({})).toEqual({ object: "list", hours: 24, data: [row] });
  expect((await list({ hours: "720" })).hours).toBe(720);
  for (const hours of ["0", "721", "1.5", "x"]) await expect(list({ hours })).rejects.toThrow(/hours/);
  expect(await rig.call("listShadows", { name: "house" })).toEqual({ object: "list", data: [] });
  // A draft had no calls.
  const standing = ["1 hosts/a ep_cheap", "1 hosts/b ep_dear"];
  expect(asked).toEqual([
    ["org_1", "house", 24, standing],
    ["org_1", "house", 720, standing],
    ["org_1", "house"],
  ]);
  missingSinceMs = Date.UTC(2026, 10, 30, 23);
  expect(await list({})).toEqual({
    object: "list",
    hours: 24,
    data: [row],
    incomplete_since: "2026-11-30T23:00:00.000Z",
  });
  await rig.create("house", "version: 1", STRANGER);
  await rig.call("listShadows", { name: "house" }, STRANGER);
  expect(asked.at(-1)).toEqual(["org_2", "house"]);
  expect(DEAR.id).toBe("ep_dear");
});
