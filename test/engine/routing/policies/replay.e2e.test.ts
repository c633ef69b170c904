/** A replay over calls that were really made, against a computation of its own; and that none of it is another org's to see. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import { type Answer, seededFolder, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { addOrgs } from "../../../support/money/orgs.ts";
import { recorded as untilRecorded } from "../../../support/observations.ts";

/** USD a million tokens, which is micro-USD a token. */
const PRICES = {
  alpha: { input: 2, output: 3 },
  beta: { input: 5, output: 7 },
  gamma: { input: 9, output: 20 },
};
type Provider = keyof typeof PRICES;

let folder: string;
let gateway: TestGateway;
let stranger: string;
let ids: Record<string, string> = {};

beforeAll(async () => {
  folder = await seededFolder(() => {});
  ({ stranger } = await addOrgs(folder, { stranger: { creditMicroUsd: 5_000_000 } }));
  gateway = await testGateway({
    engine: true,
    folder,
    endpoints: [
      { provider: "alpha", price: PRICES.alpha, entry: { capabilities: ["json_schema"] } },
      { provider: "beta", price: PRICES.beta },
      { provider: "gamma", price: PRICES.gamma },
      { provider: "broken", price: { input: 1, output: 1 }, instruction: { status: 500 } },
    ],
  });
  const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints");
  ids = Object.fromEntries(json.data.map((e: { provider: string; id: string }) => [e.provider, e.id]));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const policies = (path: string, body: object, key = gateway.liveKey) =>
  gateway.call("POST", `/v1/policies${path}`, { body, key });

const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];

interface Made {
  readonly app: string;
  readonly hasTools: boolean;
  readonly isTest: boolean;
  /** The provider that the request names, where it names one. */
  readonly asked: Provider | undefined;
  readonly answeredBy: Provider;
  readonly input: number;
  readonly output: number;
}

async function makeCalls(count: number): Promise<Made[]> {
  const random = seededRandom(7);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const made: Made[] = [];
  for (let i = 0; i < count; i++) {
    const [app, hasTools, isTest] = [pick(["web", "batch", "spy"]), random() < 0.3, random() < 0.2];
    const asked = random() < 0.2 ? ("gamma" as const) : undefined;
    const fellBack = asked === undefined && random() < 0.3;
    const target = asked ?? pick(["beta", "gamma"] as const);
    const order = asked ? ["gamma"] : fellBack ? ["broken", target] : [target];
    // What the request asks for is recorded and replayed; where the policy led it, is not.
    if (asked === undefined) await currentActivations(`version: 1\ndefaults: {order: [${order}]}\n`);
    const { json } = await gateway.chat(
      {
        model: "test/model",
        messages: [{ role: "user", content: "word ".repeat(1 + Math.floor(random() * 300)) }],
        max_tokens: 1 + Math.floor(random() * 40),
        ...(hasTools && { tools: TOOLS }),
        svc: { metadata: { app }, ...(asked && { route: { providers: { order } } }) },
      },
      { key: isTest ? gateway.testKey : gateway.liveKey },
    );
    expect(json.svc.provider).toBe(target);
    const { prompt_tokens: input, completion_tokens: output } = json.usage;
    made.push({ app, hasTools, isTest, asked, answeredBy: target, input, output });
  }
  return made;
}

async function currentActivations(yaml: string): Promise<void> {
  let made = await policies("", { name: "live", yaml });
  if (made.status === 409) made = await policies("/live/versions", { yaml });
  await policies("/live/activate", { version: made.json.version });
}

/** `draft` below, by hand: who would serve the call; undefined where it is refused. */
function wouldServe({ app, hasTools, asked }: Made): Provider | undefined {
  if (app === "spy") return undefined;
  if (asked !== undefined) return asked;
  return hasTools ? "beta" : "alpha";
}

const costOf = (call: Made, at: Provider): number =>
  call.isTest ? 0 : call.input * PRICES[at].input + call.output * PRICES[at].output;

const DRAFT = [
  "version: 1",
  "sort: price",
  "defaults: {ignore: [broken]}",
  "rules:",
  "  - {name: spies, match: {app: spy}, then: {deny: {message: No spies}}}",
  "  - {name: tools, match: {tools: true}, then: {max_attempts: 2}}",
].join("\n");

test("a replay of 60 calls equals the sums computed by hand", async () => {
  const made = await makeCalls(60);
  await policies("", { name: "draft", yaml: DRAFT });
  await untilRecorded(gateway);
  const { json } = await policies("/draft/dry-run", { replay: { hours: 1 } });
  const { replay } = json;

  const served = made.flatMap((call) => {
    const at = wouldServe(call);
    return at === undefined ? [] : [{ call, at }];
  });
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const recorded = sum(made.map((call) => costOf(call, call.answeredBy)));
  const replayed = sum(served.map(({ call, at }) => costOf(call, at)));
  const moved = served.filter(({ call, at }) => at !== call.answeredBy).length;
  const refused = made.length - served.length;
  const tally = (names: readonly string[]) => {
    const counts = new Map<string, number>();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  };
  expect(replay).toMatchObject({
    hours: 1,
    version: 1,
    requests: 60,
    replayed: 60,
    skipped: { requests: 0 },
    moved,
    moved_share: Math.round((moved / 60) * 1e4) / 1e4,
    cost_micro: { recorded, replayed, delta: replayed - recorded, repriced: 0 },
    refusals: {
      recorded: { denied_by_policy: 0, no_endpoint: 0 },
      replayed: { denied_by_policy: refused, no_endpoint: 0 },
    },
    failures: { recorded: 0, replayed: 0 },
    truncated: false,
  });
  expect(refused).toBeGreaterThan(5);
  const then = tally(made.map(({ answeredBy }) => ids[answeredBy] as string));
  const now = tally(served.map(({ at }) => ids[at] as string));
  const expected = ["alpha", "beta", "gamma"].map((name) => {
    const id = ids[name] as string;
    return [id, then.get(id) ?? 0, now.get(id) ?? 0];
  });
  const byEndpoint = replay.by_endpoint.map((e: Record<string, unknown>) => [
    e.endpoint_id,
    e.recorded,
    e.replayed,
  ]);
  expect(byEndpoint.sort()).toEqual(expected.sort());
  const rules = tally(made.map(({ app, hasTools }) => (app === "spy" ? "spies" : hasTools ? "tools" : "")));
  expect(
    new Map(replay.by_rule.map((r: { rule: string; requests: number }) => [r.rule, r.requests])),
  ).toEqual(rules);
  expect(replay.examples).toHaveLength(5);
  expect(replay.examples[0].reason).toBe("No spies");
});

test("to another org none of it exists", async () => {
  const ask = (method: string, path: string, body?: object): Promise<Answer> =>
    gateway.call(method, `/v1/policies${path}`, { key: stranger, ...(body && { body }) });
  expect((await ask("GET", "")).json.data).toEqual([]);
  const refusals = await Promise.all([
    ask("GET", "/live/versions"),
    ask("GET", "/live/versions/1"),
    ask("POST", "/live/versions", { yaml: "version: 1" }),
    ask("POST", "/live/activate", { version: 1 }),
    ask("POST", "/live/deactivate", {}),
    ask("POST", "/live/dry-run", { model: "test/model" }),
    ask("GET", "/live/canaries"),
    ask("GET", "/live/shadows"),
    ask("GET", "/live/experiments"),
  ]);
  expect(refusals.map(({ status, json }) => [status, json.error?.code])).toEqual(
    Array(9).fill([404, "not_found"]),
  );

  // A policy of the same name is its own, over its own calls.
  await ask("POST", "", { name: "live", yaml: "version: 1\ndefaults:\n  deny: {message: Mine}\n" });
  await ask("POST", "/live/activate", { version: 1 });
  const call = { model: "test/model" };
  expect((await gateway.chat(call, { key: stranger })).json.error.message).toBe("Mine");
  expect((await gateway.chat(call)).status).toBe(200);
  await untilRecorded(gateway);
  const { json } = await ask("POST", "/live/dry-run", { replay: { hours: 1 } });
  expect([json.replay.requests, json.replay.cost_micro.recorded]).toEqual([1, 0]);
  expect(json.replay.by_endpoint).toEqual([]);

  // Nor do ids of one org mean anything in the other's questions.
  const [key] = (await gateway.call("GET", "/v1/keys")).json.data;
  for (const [body, param] of [
    [{ ...call, project_id: key.project_id }, "/project_id"],
    [{ ...call, key_id: key.id }, "/key_id"],
    [{ replay: { hours: 1, project_id: key.project_id } }, "/replay/project_id"],
  ] as const) {
    const refused = await ask("POST", "/live/dry-run", body);
    expect([refused.status, refused.json.error.param]).toEqual([404, param]);
  }
  const scope = { project_id: key.project_id };
  expect((await ask("POST", "/live/activate", { version: 1, scope })).json.error.param).toBe(
    "/scope/project_id",
  );
});
