/** The life of a policy as its owner sees it, over HTTP: written, checked, planned with, put in force, seen in every record. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  type GatewayOptions,
  type TestGateway,
  testGateway,
  until,
} from "./gateway.fixtures.ts";

const OPTIONS: GatewayOptions = {
  endpoints: [
    { provider: "alpha", price: { input: 1, output: 2 } },
    { provider: "beta", price: { input: 2, output: 4 }, entry: { region: "eu" } },
    { provider: "gamma", price: { input: 3, output: 6 }, entry: { region: "us" } },
    { provider: "broken", price: { input: 4, output: 8 }, instruction: { status: 500 } },
    { provider: "mute", price: { input: 5, output: 10 }, instruction: { fault: "hang" } },
  ],
};
const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
let gateway: TestGateway;
/** Provider → endpoint id. */
let ids: Record<string, string> = {};

async function start(): Promise<void> {
  gateway = await testGateway({ ...OPTIONS, folder });
  const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints");
  ids = Object.fromEntries(json.data.map((e: { provider: string; id: string }) => [e.provider, e.id]));
}
beforeAll(start);
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const post = (path: string, body: object) => gateway.call("POST", `/v1/policies${path}`, { body });
const list = async (path: string) => (await gateway.call("GET", `/v1/policies${path}`)).json.data;
const DEBUG = { headers: { "x-svc-debug": "1" } };
const ask = (body: object = {}, options: { key?: string } = {}) =>
  gateway.chat({ model: "test/model", ...body }, { ...DEBUG, ...options });
/** The provider that answered, or the code of the error. */
const by = ({ json }: Answer): string => json.svc?.provider ?? json.error.code;
const answeredBy = async (body: object = {}, options: { key?: string } = {}) => by(await ask(body, options));
const steered = (route: object) => ({ svc: { route } });

/** The record of a call, once it can be read. */
async function recordOf(answer: Answer): Promise<Answer["json"]> {
  const id = answer.headers.get("x-svc-request-id");
  let found: Answer | undefined;
  await until("the record is there", async () => {
    found = await gateway.call("GET", `/v1/requests/${id}`);
    return found.status === 200;
  });
  return found?.json;
}

/** Writes a version and puts it in force. */
async function enforce(name: string, yaml: string, scope?: object): Promise<number> {
  let made = await post("", { name, yaml });
  if (made.status === 409) made = await post(`/${name}/versions`, { yaml });
  expect(made.json).toMatchObject({ name, status: "draft", yaml });
  const { version } = made.json;
  const activated = await post(`/${name}/activate`, { version, ...(scope && { scope }) });
  expect(activated.json).toMatchObject({ name, version, status: "active" });
  return version;
}
const decided = (...lines: string[]) => ["version: 1", "defaults:", ...lines.map((l) => `  ${l}`)].join("\n");

test("validate, create, dry run, activate, see it in a call, and roll back", async () => {
  const yaml = [
    "version: 1",
    "policy: house",
    "defaults: {order: [beta], ignore: [broken, mute]}",
    "rules:",
    "  - name: streams",
    "    match: {stream: true}",
    "    then: {order: [gamma], max_attempts: 1}",
  ].join("\n");
  expect((await post("/validate", { yaml })).json).toMatchObject({
    valid: true,
    path: "",
    problems: [],
    warnings: [],
  });
  const made = await post("", { name: "house", yaml });
  expect([made.status, made.json]).toMatchObject([201, { name: "house", version: 1, status: "draft", yaml }]);
  // A draft steers nothing.
  expect((await ask(steered({ sort: "price" }))).headers.get("x-svc-route-trace")).not.toContain("policy=");

  const dry = (await post("/house/dry-run", { model: "test/model", est_input_tokens: 900 })).json;
  expect(Object.keys(dry).sort()).toEqual(["decision", "excluded", "plan", "policy", "trace", "version"]);
  expect(dry).toMatchObject({
    policy: "house",
    version: 1,
    decision: { sort: "balanced", affinity: "session", rule: "" },
  });
  expect(dry.plan[0]).toEqual({
    attempt: 1,
    endpoint_id: ids.beta,
    provider: "beta",
    region: "eu",
    est_cost_micro: 900 * 2 + 300 * 4,
    reason: "asked for first",
  });
  const streamed = (await post("/house/dry-run", { model: "test/model", stream: true })).json;
  expect([streamed.decision.rule, streamed.decision.max_attempts]).toEqual(["streams", 1]);
  expect(streamed.plan.map((p: { provider: string }) => p.provider)).toEqual(["gamma"]);

  expect((await post("/house/activate", { version: 1 })).json).toMatchObject({
    status: "active",
    scopes: [{}],
  });
  const answer = await ask();
  expect(by(answer)).toBe("beta");
  const trace = answer.headers.get("x-svc-route-trace") ?? "";
  expect(trace).toMatch(
    new RegExp(`^policy=house@1; sort=balanced; try: 1 ${ids.beta} \\(asked for first\\)`),
  );
  expect(await recordOf(answer)).toMatchObject({
    ...{ route_trace: trace, provider: "beta", policy: "house", policy_version: 1, rule: "" },
  });
  const asStream = await gateway.chat({ model: "test/model", stream: true }, DEBUG);
  expect(asStream.headers.get("x-svc-route-trace")).toMatch(/^policy=house@1 rule=streams; /);
  expect(await recordOf(asStream)).toMatchObject({ provider: "gamma", policy: "house", rule: "streams" });

  await enforce("house", decided("order: [alpha]"));
  expect(await answeredBy()).toBe("alpha");
  expect(
    (await list("/house/versions")).map((v: { version: number; status: string }) => [v.version, v.status]),
  ).toEqual([
    [2, "active"],
    [1, "retired"],
  ]);
  await post("/house/activate", { version: 1 });
  expect(await answeredBy()).toBe("beta");
  expect((await post("/house/deactivate", {})).json).toMatchObject({ status: "retired", scopes: [] });
  expect((await ask()).headers.get("x-svc-route-trace")).not.toContain("policy=");
});

test("the native dry run names policy and rule, and plans what the call then does", async () => {
  await enforce(
    "dry",
    "version: 1\nrules:\n  - {name: plain, match: {stream: false}, then: {only: [gamma]}}\n",
  );
  const body = {
    model: "test/model",
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  };
  const { status, json } = await gateway.call("POST", "/v1/svc/dry_run", { body });
  expect([status, json.plan.map((p: { provider: string }) => p.provider)]).toEqual([200, ["gamma"]]);
  expect(json.trace).toMatch(/^policy=dry@1 rule=plain; /);
  const answer = await ask();
  expect([by(answer), answer.headers.get("x-svc-route-trace")]).toEqual(["gamma", json.trace]);
  await post("/dry/deactivate", {});
});

describe("what a policy may say", () => {
  test.each([
    ["only", "only: [gamma]", "gamma"],
    ["only, by endpoint id and with nothing left", "only: [nobody]", "no_endpoint"],
    ["ignore", "ignore: [alpha, gamma, broken, mute]", "beta"],
    ["sort", "sort: price", "alpha"],
    ["order, with a fallback after a failure", "order: [broken, gamma]", "gamma"],
    ["order without fallbacks", "{order: [broken], fallbacks: false}", "upstream_error"],
    ["max_attempts", "{order: [broken, gamma], max_attempts: 1}", "upstream_error"],
    [
      "timeout_ms, shared out so that the next has some",
      "{order: [mute, gamma], ignore: [alpha, beta, broken], timeout_ms: 400}",
      "gamma",
    ],
    ["timeout_ms, with nobody left", "{only: [mute], timeout_ms: 100}", "upstream_timeout"],
    ["hedge_after_ms", "{order: [mute, beta], hedge_after_ms: 50}", "beta"],
    ["require.regions", "require: {regions: [us]}", "gamma"],
    ["require.max_price", "{require: {max_price: {input: 1.5}}}", "alpha"],
    ["deny", "deny: {message: Not today}", "denied_by_policy"],
  ])("%s", async (_what, line, expected) => {
    const yaml = line.startsWith("{") ? `version: 1\ndefaults: ${line}\n` : decided(line);
    await enforce("words", yaml);
    expect(await answeredBy()).toBe(expected);
    await post("/words/deactivate", {});
  });

  test("weights: first attempts go by them, and the others stand in", async () => {
    await enforce("weighed", decided(`weights: {${ids.beta}: 3, ${ids.gamma}: 1}`, "affinity: none"));
    const counts: Record<string, number> = {};
    for (let i = 0; i < 120; i++) {
      const who = await answeredBy();
      counts[who] = (counts[who] ?? 0) + 1;
    }
    expect(Object.keys(counts).sort()).toEqual(["beta", "gamma"]);
    // 90 expected; beyond five standard deviations of 4.7 it is no chance.
    expect(Math.abs((counts.beta ?? 0) - 90)).toBeLessThan(24);
    // An order of the request's own takes the call out.
    expect(await answeredBy(steered({ providers: { order: ["alpha"] } }))).toBe("alpha");
    await post("/weighed/deactivate", {});
  });

  test("deny is 403 in the format of the call, cannot be lifted by it, and stands in the record", async () => {
    await enforce("shut", decided("deny: {message: 'Closed until Monday'}"));
    const chat = await ask(steered({ providers: { only: ["alpha"] }, fallbacks: true }));
    expect([chat.status, chat.json.error]).toMatchObject([
      403,
      { type: "permission_denied", code: "denied_by_policy", message: "Closed until Monday" },
    ]);
    expect(chat.headers.get("x-should-retry")).toBe("false");
    const messages = await gateway.call("POST", "/v1/messages", {
      body: { model: "test/model", max_tokens: 5, messages: [{ role: "user", content: "Hello" }] },
    });
    expect([messages.status, messages.json]).toMatchObject([
      403,
      {
        type: "error",
        error: { type: "permission_error", code: "denied_by_policy", message: "Closed until Monday" },
      },
    ]);
    expect(await recordOf(chat)).toMatchObject({
      ...{ status: "rejected", error_code: "denied_by_policy", attempts: 0, cost_micro: 0 },
      ...{ policy: "shut", policy_version: 1 },
    });
    // The way out needs no model call.
    expect((await post("/shut/deactivate", {})).status).toBe(200);
    expect((await ask()).status).toBe(200);
  });
});

describe("policy and request", () => {
  test("the request's options win", async () => {
    await enforce(
      "both",
      decided("sort: price", "order: [gamma]", "max_attempts: 1", "ignore: [broken, mute]"),
    );
    expect(await answeredBy()).toBe("gamma");
    expect(await answeredBy(steered({ providers: { order: ["beta"] } }))).toBe("beta");
    expect(await answeredBy(steered({ providers: { only: ["alpha"] } }))).toBe("alpha");
    expect(
      await answeredBy(steered({ providers: { order: ["broken", "beta"], ignore: [] }, max_attempts: 2 })),
    ).toBe("beta");
    await post("/both/deactivate", {});
  });

  test("but require only tightens", async () => {
    await enforce("both", decided("require: {regions: [eu, us], max_price: {input: 2.5}}"));
    expect(await answeredBy()).toBe("beta");
    expect(await answeredBy(steered({ require: { max_price: { input: 100 } } }))).toBe("beta");
    expect(await answeredBy(steered({ require: { regions: ["us"] } }))).toBe("no_endpoint");
    expect(await answeredBy(steered({ require: { regions: ["local"] } }))).toBe("no_endpoint");
    const refused = await ask(steered({ require: { max_price: { input: 1 } } }));
    expect([refused.status, refused.json.error.details.excluded.length]).toEqual([404, 5]);
    await post("/both/deactivate", {});
  });

  test("a project's policy goes before the org's, for its keys only", async () => {
    const created = await gateway.call("POST", "/v1/projects", { body: { slug: "lab", name: "Lab" } });
    const scope = { project_id: created.json.id };
    const made = await gateway.call("POST", "/v1/keys", { body: { name: "lab", ...scope } });
    const lab = { key: made.json.secret as string };
    await enforce("org-wide", decided("only: [alpha]"));
    expect(await answeredBy({}, lab)).toBe("alpha");
    await enforce("of-lab", decided("only: [gamma]"), scope);
    expect([await answeredBy({}, lab), await answeredBy()]).toEqual(["gamma", "alpha"]);
    // The other way round it stands in the list.
    const shown = (await list("")).filter((p: { status: string }) => p.status === "active");
    expect(shown.map((p: { name: string; scopes: object[] }) => [p.name, p.scopes])).toEqual([
      ["of-lab", [scope]],
      ["org-wide", [{}]],
    ]);
    await post("/of-lab/deactivate", { scope });
    expect(await answeredBy({}, lab)).toBe("alpha");
    const nobodys = await post("/of-lab/activate", { version: 1, scope: { project_id: "prj_none" } });
    expect([nobodys.status, nobodys.json.error]).toMatchObject([
      404,
      { code: "not_found", param: "/scope/project_id" },
    ]);
    await post("/org-wide/deactivate", {});
  });
});

test("an experiment keeps each user in an arm, and its report counts what was called", async () => {
  const arms = `[{arm: a, endpoint: ${ids.alpha}, weight: 1}, {arm: b, endpoint: ${ids.gamma}, weight: 1}]`;
  await enforce("trial", decided(`experiment: {name: hosts, arms: ${arms}}`, "ignore: [broken, mute]"));
  const seen: Record<string, { requests: number; cost: number; tokens: number }> = {};
  const armOf = new Map<string, string>();
  for (let i = 0; i < 36; i++) {
    const user = `user-${i % 12}`;
    const { json, headers } = await ask({ svc: { metadata: { user_id: user } }, max_tokens: 1 + (i % 5) });
    const arm = /experiment=hosts arm=(\w)/.exec(headers.get("x-svc-route-trace") ?? "")?.[1] ?? "";
    expect(json.svc.provider).toBe(arm === "a" ? "alpha" : "gamma");
    expect(armOf.get(user) ?? arm).toBe(arm);
    armOf.set(user, arm);
    const sum = seen[arm] ?? { requests: 0, cost: 0, tokens: 0 };
    seen[arm] = sum;
    sum.requests++;
    sum.cost += json.svc.cost.total_micro_usd;
    sum.tokens += json.usage.completion_tokens;
  }
  expect(Object.keys(seen).sort()).toEqual(["a", "b"]);
  const { json } = await gateway.call("GET", "/v1/policies/trial/experiments?hours=1");
  expect([json.object, json.hours]).toEqual(["list", 1]);
  expect(json.data).toMatchObject(
    ["a", "b"].map((arm) => ({
      arm,
      experiment: "hosts",
      requests: seen[arm]?.requests,
      errors: 0,
      cost_micro: seen[arm]?.cost,
      output_tokens: seen[arm]?.tokens,
    })),
  );
  for (const arm of json.data) expect(arm.ttft_p95_ms).toBeGreaterThanOrEqual(arm.ttft_p50_ms);
  await post("/trial/deactivate", {});
});

test("of 60 calls at once each result counts once, and none after red", async () => {
  const canary = `canary: {endpoint: ${ids.broken}, percent: 100, max_error_rate: 0.1, min_samples: 40}`;
  await enforce("crowd", decided(canary, "only: [alpha, broken]", "sort: price"));
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask()));
  expect(new Set(answers.map(by))).toEqual(new Set(["alpha"]));
  // An endpoint in trouble is left to probes, so perhaps not all came to it.
  const tried = async () => (await list("/crowd/canaries"))[0];
  const { samples } = await tried();
  expect(samples).toBeGreaterThan(0);
  expect(samples).toBeLessThanOrEqual(40);
  for (let i = 0; i < 40 && (await tried()).state === "warming"; i++) await ask();
  expect(await tried()).toMatchObject({ state: "red", samples: 40, error_rate: 1 });
  // What a test key does counts for nothing.
  await enforce("crowd", decided(canary, "only: [alpha, broken]"));
  await Promise.all(Array.from({ length: 5 }, () => ask({}, { key: gateway.testKey })));
  expect(await tried()).toMatchObject({ version: 2, state: "warming", samples: 0 });
  await post("/crowd/deactivate", {});
});

test("a red canary leaves the share at the next call, for good; a new version begins anew", async () => {
  const canary = `canary: {endpoint: ${ids.broken}, percent: 100, max_error_rate: 0.1, min_samples: 4}`;
  const yaml = decided(canary, "only: [alpha, broken]");
  expect(await enforce("risky", yaml)).toBe(1);
  const firstTried = async () => {
    const answer = await ask();
    expect(by(answer)).toBe("alpha");
    return /try: 1 (\S+)/.exec(answer.headers.get("x-svc-route-trace") ?? "")?.[1];
  };
  // Calls at once: whichever result comes in fourth, no plan after it has the canary first.
  for (let i = 0; i < 4; i++) expect(await firstTried()).toBe(ids.broken);
  const [report] = await list("/risky/canaries");
  expect(Object.keys(report).sort()).toEqual(
    [
      "endpoint_id",
      "error_rate",
      "evaluated_at",
      "max_error_rate",
      "min_samples",
      "reason",
      "samples",
      "state",
      "version",
    ].sort(),
  );
  expect(report).toMatchObject({
    version: 1,
    endpoint_id: ids.broken,
    state: "red",
    error_rate: 1,
    samples: 4,
  });
  const isOutside = async () => expect(await firstTried()).toBe(ids.alpha);
  await isOutside();

  await gateway.stop();
  await start();
  await isOutside();
  expect((await list("/risky/canaries"))[0]).toMatchObject({ state: "red", samples: 4 });

  await post("/risky/deactivate", {});
  await post("/risky/activate", { version: 1 });
  await isOutside();

  expect(await enforce("risky", yaml)).toBe(2);
  expect(
    (await list("/risky/canaries")).map((c: { version: number; state: string }) => [c.version, c.state]),
  ).toEqual([
    [2, "warming"],
    [1, "red"],
  ]);
  expect(await firstTried()).toBe(ids.broken);
  await post("/risky/deactivate", {});
}, 20_000);
