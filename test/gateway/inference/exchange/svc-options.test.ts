/** The options of `svc`, by every route that takes them: each is accepted, and `data_policy` only ever leaves endpoints out. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

const TRAINS = { trains: true, retention_days: 30, zdr: false };
const KEEPS = { trains: false, retention_days: 30, zdr: false };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "trains", price: { input: 1, output: 1 }, dataPolicy: TRAINS },
      { provider: "keeps", price: { input: 2, output: 2 }, dataPolicy: KEEPS },
      { provider: "forgets", price: { input: 3, output: 3 } },
    ],
  });
});
afterAll(() => gateway.stop());

interface Route {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The options stand at the top of the body, as in the native formats, and not in `svc`. */
  readonly isNative?: true;
}

const messages = [{ role: "user", content: "Hello" }];
const native = {
  model: "weir/sim-small",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
};
const ROUTES: readonly Route[] = [
  { path: "/v1/chat/completions", body: { model: "weir/sim-small", messages } },
  { path: "/v1/completions", body: { model: "weir/sim-small", prompt: "Hello" } },
  { path: "/v1/responses", body: { model: "weir/sim-small", input: "Hello" } },
  { path: "/v1/messages", body: { model: "weir/sim-small", max_tokens: 9, messages } },
  { path: "/v1/messages/count_tokens", body: { model: "weir/sim-small", messages } },
  { path: "/v1/embeddings", body: { model: "weir/sim-embed", input: ["Hello"] } },
  { path: "/v1/svc/generate", body: native, isNative: true },
  { path: "/v1/svc/count_tokens", body: native, isNative: true },
  { path: "/v1/svc/dry_run", body: native, isNative: true },
  { path: "/v1/svc/embed", body: { model: "weir/sim-embed", input: ["Hello"] }, isNative: true },
  {
    path: "/v1/svc/rerank",
    body: { model: "weir/sim-rerank", query: "Hello", documents: ["a", "b"] },
    isNative: true,
  },
];

/** Every option that the service specification and its decisions name, by itself. */
const OPTIONS: readonly (readonly [string, object])[] = [
  ["route.providers.order", { route: { providers: { order: ["simulator"] } } }],
  ["route.providers.only", { route: { providers: { only: ["simulator"] } } }],
  ["route.providers.ignore", { route: { providers: { ignore: ["nobody"] } } }],
  ["route.fallbacks", { route: { fallbacks: false } }],
  ...["price", "latency", "throughput", "balanced"].map(
    (sort) => [`route.sort ${sort}`, { route: { sort } }] as const,
  ),
  ["route.require.zdr", { route: { require: { zdr: true } } }],
  ["route.require.no_train", { route: { require: { no_train: true } } }],
  ["route.require.regions", { route: { require: { regions: ["local"] } } }],
  ["route.require.max_price", { route: { require: { max_price: { input: 100, output: 100 } } } }],
  ["route.max_attempts", { route: { max_attempts: 2 } }],
  ["route.timeout_ms", { route: { timeout_ms: 60_000 } }],
  ...["none", "user", "session", "prompt"].map(
    (affinity) => [`route.affinity ${affinity}`, { route: { affinity } }] as const,
  ),
  ["metadata.app", { metadata: { app: "console" } }],
  ["metadata.user_id", { metadata: { user_id: "u" } }],
  ["metadata.session_id", { metadata: { session_id: "s" } }],
  ["metadata.tags", { metadata: { tags: { team: "blue" } } }],
  ["compat.strict", { compat: { strict: false } }],
  ["provider_options", { provider_options: { another: { x: 1 } } }],
  ...["cancel", "drain", "detach"].map((how) => [`on_disconnect ${how}`, { on_disconnect: how }] as const),
  ...["full", "fit"].map((hold) => [`hold ${hold}`, { hold }] as const),
  ["hold_wait_ms of nothing", { hold_wait_ms: 0 }],
  ["data_policy no_train", { data_policy: "no_train" }],
  ["data_policy zdr", { data_policy: "zdr" }],
];

const withOptions = ({ body, isNative }: Route, options: object) =>
  isNative ? { ...body, ...options } : { ...body, svc: options };

describe.each(ROUTES.map((route) => [route.path, route] as const))("%s", (path, route) => {
  test.each(OPTIONS)("O19: takes %s", async (_, options) => {
    const answer = await gateway.call("POST", path, { body: withOptions(route, options) });
    expect(answer.status, answer.text).toBe(200);
  });

  test("O19: another data_policy is refused where it stands", async () => {
    const answer = await gateway.call("POST", path, {
      body: withOptions(route, { data_policy: "whatever" }),
    });
    const pointer = route.isNative ? "/data_policy" : "/svc/data_policy";
    expect([answer.status, answer.json.error.param]).toEqual([400, pointer]);
  });
});

/** Whom a chat call under these options reaches, the cheapest first. */
const planOf = async (options: object): Promise<string[]> => {
  const body = { ...native, model: "test/model", ...options };
  const { json } = await gateway.call("POST", "/v1/svc/dry_run", { body });
  return json.plan.map(({ provider }: { provider: string }) => provider);
};

describe("what data_policy leaves out", () => {
  const sort = "price";

  test.each<[string, object, readonly string[]]>([
    ["nothing, where it is absent", {}, ["trains", "keeps", "forgets"]],
    ["who trains", { data_policy: "no_train" }, ["keeps", "forgets"]],
    ["who keeps anything", { data_policy: "zdr" }, ["forgets"]],
    [
      "no less than the route requires",
      { data_policy: "no_train", route: { sort, require: { zdr: true } } },
      ["forgets"],
    ],
    [
      "as much as alone, where the route says that it requires nothing",
      { data_policy: "zdr", route: { sort, require: { zdr: false, no_train: false } } },
      ["forgets"],
    ],
    [
      "beside another requirement, which holds too",
      { data_policy: "no_train", route: { sort, require: { max_price: { input: 2.5 } } } },
      ["keeps"],
    ],
  ])("O19: %s", async (_, options, expected) => {
    expect(await planOf({ route: { sort }, ...options })).toEqual(expected);
  });

  test("O19: the call goes where the dry run said, or is refused with the reason", async () => {
    const ask = (svc: object) => gateway.chat({ model: "test/model", svc });
    const answered = await ask({ data_policy: "no_train", route: { sort } });
    expect(answered.json.svc.provider).toBe("keeps");
    const only = { providers: { only: ["trains"] } };
    const refused = await ask({ data_policy: "no_train", route: only });
    expect([refused.status, refused.json.error.code]).toEqual([404, "no_endpoint"]);
    const trains = { kind: "data_policy", reason: expect.stringContaining("train") };
    expect(refused.json.error.details.excluded).toContainEqual(expect.objectContaining(trains));
  });

  test("O19: a policy's dry run takes it as a request does", async () => {
    const yaml = "version: 1\ndefaults:\n  sort: price\n  require: {no_train: false}\n";
    const made = await gateway.call("POST", "/v1/policies", { body: { name: "house", yaml } });
    expect(made.status, made.text).toBe(201);
    const dry = async (more: object) => {
      const body = { model: "test/model", ...more };
      const { json } = await gateway.call("POST", "/v1/policies/house/dry-run", { body });
      return json.plan.map(({ provider }: { provider: string }) => provider);
    };
    expect(await dry({})).toEqual(["trains", "keeps", "forgets"]);
    expect(await dry({ data_policy: "no_train" })).toEqual(["keeps", "forgets"]);
    const route = { require: { zdr: false } };
    expect(await dry({ data_policy: "zdr", route })).toEqual(["forgets"]);
  });

  test("O19: a policy in force cannot take it back", async () => {
    await gateway.call("POST", "/v1/policies/house/activate", { body: { version: 1 } });
    expect(await planOf({ data_policy: "no_train" })).toEqual(["keeps", "forgets"]);
    await gateway.call("POST", "/v1/policies/house/deactivate", { body: {} });
  });

  test("O19: under zdr nothing that was said is kept, and the record says why", async () => {
    const recordOf = async (answer: Answer) => {
      let found: Answer | undefined;
      await until("the record is there", async () => {
        found = await gateway.call("GET", `/v1/requests/${answer.json.svc.request_id}`);
        return found.status === 200;
      });
      return found?.json;
    };
    const usual = await recordOf(await gateway.chat({ model: "test/model" }));
    expect(usual).toMatchObject({ payload_state: "available" });
    const private_ = await recordOf(await gateway.chat({ model: "test/model", svc: { data_policy: "zdr" } }));
    expect(private_).toMatchObject({ payload_state: "zdr", provider: "forgets" });
  });
});
