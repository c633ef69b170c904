/** The life of a policy as its owner sees it, over HTTP: written, checked, planned with, put in force, seen in every record. */
import { describe, expect, test } from "vitest";
import type { Answer } from "../../../support/gateway.ts";
import { equals, until } from "../../../support/wait.ts";
import { by, DEBUG, decided, policyGateway, steered } from "./e2e.fixtures.ts";

const rig = policyGateway();
const { post, list, ask, answeredBy, recordOf, enforce } = rig;
/** Without a policy endpoints are drawn by chance, the one that never answers among them. */
const BY_NO_POLICY = steered({ providers: { ignore: ["broken", "mute"] } });

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
  expect(Object.keys(dry).sort()).toEqual([
    "decision",
    "excluded",
    "plan",
    "policy",
    "reserve_micro",
    "trace",
    "trials",
    "version",
  ]);
  expect(dry).toMatchObject({
    policy: "house",
    version: 1,
    decision: { sort: "balanced", affinity: "session", rule: "" },
  });
  expect(dry.plan[0]).toEqual({
    attempt: 1,
    endpoint_id: rig.ids.beta,
    provider: "beta",
    region: "eu",
    est_cost_micro: 900 * 2 + 300 * 4,
    price: { input: 2, output: 4 },
    // Nothing was asked of it yet, or what was is long ago.
    health: expect.toSatisfy((health) => health === null || health.error_rate === 0),
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
    new RegExp(`^policy=house@1; sort=balanced; try: 1 ${rig.ids.beta} \\(asked for first\\)`),
  );
  expect(await recordOf(answer)).toMatchObject({
    route_trace: trace,
    provider: "beta",
    policy: "house",
    policy_version: 1,
    rule: "",
  });
  const asStream = await rig.gateway.chat({ model: "test/model", stream: true }, DEBUG);
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
  expect((await ask(BY_NO_POLICY)).headers.get("x-svc-route-trace")).not.toContain("policy=");
});

test("during activations each call uses one version, and after the last one that version", async () => {
  for (const provider of ["beta", "gamma"])
    await enforce("swap", decided(`order: [${provider}]`, "max_attempts: 1"));
  const calls: Promise<Answer>[] = [];
  for (let i = 0; i < 12; i++) {
    for (let k = 0; k < 6; k++) calls.push(ask());
    expect((await post("/swap/activate", { version: 1 + (i % 2) })).status).toBe(200);
    // The answer came after the change: what is asked from here on goes by it.
    expect(await answeredBy()).toBe(i % 2 === 0 ? "beta" : "gamma");
  }
  for (const answer of await Promise.all(calls)) {
    const version = by(answer) === "beta" ? 1 : 2;
    expect(answer.headers.get("x-svc-route-trace")).toMatch(`policy=swap@${version};`);
  }
  await post("/swap/deactivate", {});
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
  const { status, json } = await rig.gateway.call("POST", "/v1/svc/dry_run", { body });
  expect([status, json.plan.map((p: { provider: string }) => p.provider)]).toEqual([200, ["gamma"]]);
  expect(json.trace).toMatch(/^policy=dry@1 rule=plain; /);
  const answer = await ask();
  expect([by(answer), answer.headers.get("x-svc-route-trace")]).toEqual(["gamma", json.trace]);
  await post("/dry/deactivate", {});
});

describe("policy features", () => {
  test.each([
    ["only", "only: [gamma]", "gamma"],
    ["only, by endpoint id and with nothing left", "only: [nobody]", "no_endpoint"],
    ["ignore", "ignore: [alpha, gamma, broken, mute]", "beta"],
    ["sort", "sort: price", "alpha"],
    ["order, with a fallback after a failure", "order: [broken, gamma]", "gamma"],
    ["order without fallbacks", "{order: [broken], fallbacks: false}", "upstream_error"],
    ["max_attempts", "{order: [broken, gamma], max_attempts: 1}", "upstream_error"],
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

  test("timeout_ms, shared out so that the next has some", async () => {
    const line = "{order: [mute, gamma], ignore: [alpha, beta, broken], timeout_ms: 400}";
    await enforce("words", `version: 1\ndefaults: ${line}\n`);
    // A machine that stands still meanwhile uses up the next one's share: then it is asked again.
    await until("the next one answers in its share", () => answeredBy(), equals("gamma"));
    await post("/words/deactivate", {});
  });

  test("weights: first attempts go by them, and the others stand in", async () => {
    await enforce("weighed", decided(`weights: {${rig.ids.beta}: 3, ${rig.ids.gamma}: 1}`, "affinity: none"));
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

  test("deny is 403 in the format of the call, cannot be removed by it, and is recorded", async () => {
    await enforce("shut", decided("deny: {message: 'Closed until Monday'}"));
    const chat = await ask(steered({ providers: { only: ["alpha"] }, fallbacks: true }));
    expect([chat.status, chat.json.error]).toMatchObject([
      403,
      { type: "permission_denied", code: "denied_by_policy", message: "Closed until Monday" },
    ]);
    expect(chat.headers.get("x-should-retry")).toBe("false");
    const messages = await rig.gateway.call("POST", "/v1/messages", {
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
      status: "rejected",
      error_code: "denied_by_policy",
      attempts: 0,
      cost_micro: 0,
      policy: "shut",
      policy_version: 1,
    });
    // The way out needs no model call.
    expect((await post("/shut/deactivate", {})).status).toBe(200);
    expect((await ask(BY_NO_POLICY)).status).toBe(200);
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

  test("a project's policy overrides the org's, for its keys only", async () => {
    const created = await rig.gateway.call("POST", "/v1/projects", { body: { slug: "lab", name: "Lab" } });
    const scope = { project_id: created.json.id };
    const made = await rig.gateway.call("POST", "/v1/keys", { body: { name: "lab", ...scope } });
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
