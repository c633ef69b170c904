/**
 * C13: a requirement that leaves a call without an endpoint is named by the error, with who set it, and is warned about where it is set.
 * One endpoint is in the region eu, the other in us.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";

let gateway: TestGateway;
/** May change the org and its policies. */
let admin: string;
let org: string;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "europe", entry: { region: "eu" }, price: { input: 1, output: 1 } },
      { provider: "states", entry: { region: "us" }, price: { input: 9, output: 9 } },
    ],
  });
  const scopes = ["read:org", "write:org", "read:policies", "write:policies"];
  admin = (await gateway.call("POST", "/v1/keys", { body: { name: "admin", scopes } })).json.secret;
  org = (await gateway.call("GET", "/v1/orgs", { key: admin })).json.data[0].id;
});
afterAll(() => gateway.stop());
afterEach(async () => {
  await setDataPolicy({ zdr: false, no_train: false, regions: [] });
});

const setDataPolicy = async (dataPolicy: object): Promise<Answer> => {
  const answer = await gateway.call("PATCH", `/v1/orgs/${org}`, {
    key: admin,
    body: { data_policy: dataPolicy },
  });
  expect(answer.status).toBe(200);
  return answer;
};

const messages = [{ role: "user", content: "Hello" }];
const FORMATS: readonly (readonly [string, string, object])[] = [
  ["OpenAI's chat", "/v1/chat/completions", { messages }],
  ["OpenAI's chat, streamed", "/v1/chat/completions", { messages, stream: true }],
  ["OpenAI's responses", "/v1/responses", { input: "Hello" }],
  ["OpenAI's completions", "/v1/completions", { prompt: "Hello" }],
  ["Anthropic's", "/v1/messages", { messages, max_tokens: 9 }],
  ["Anthropic's, streamed", "/v1/messages", { messages, max_tokens: 9, stream: true }],
  ["the count of tokens", "/v1/messages/count_tokens", { messages }],
  [
    "the native one",
    "/v1/svc/generate",
    { messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }] },
  ],
  [
    "its dry run",
    "/v1/svc/dry_run",
    { messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }] },
  ],
];
const NOTHING = "No endpoint of test/model satisfies this request.";

const ask = async (path: string, body: object): Promise<Answer["json"]["error"]> => {
  const { status, json } = await gateway.call("POST", path, { body: { model: "test/model", ...body } });
  expect([status, json.error?.code]).toEqual([404, "no_endpoint"]);
  return json.error;
};
const chat = (route: object) => ask("/v1/chat/completions", { messages, svc: { route } });

test.each(FORMATS)("C13: %s: the data policy's regions are named", async (_format, path, body) => {
  await setDataPolicy({ regions: ["mars"] });
  const error = await ask(path, body);
  expect(error.message).toBe(
    `${NOTHING} data_policy.regions ["mars"] of the organisation excludes all 2 endpoints of test/model.`,
  );
  expect(error.details.excluded_by).toEqual([
    { filter: "data_policy.regions", value: '["mars"]', set_by: "organisation", endpoints: 2 },
  ]);
});

describe("C13: whatever leaves out all endpoints is named", () => {
  test.each([
    ["regions", { require: { regions: ["mars"] } }, 'require.regions ["mars"] of the request excludes all'],
    [
      "a price",
      { require: { max_price: { input: 0.5 } } },
      'require.max_price {"input":0.5} of the request excludes all',
    ],
    [
      "a list of the allowed",
      { providers: { only: ["nobody"] } },
      'only ["nobody"] of the request excludes all',
    ],
    [
      "a list of the refused",
      { providers: { ignore: ["europe", "states"] } },
      'ignore ["europe", "states"] of the request excludes all',
    ],
    [
      "an order without others",
      { providers: { order: ["nobody"] }, fallbacks: false },
      'order without fallbacks, ["nobody"] of the request excludes all',
    ],
  ])("of a request: %s", async (_what, route, words) => {
    expect((await chat(route)).message).toBe(`${NOTHING} ${words} 2 endpoints of test/model.`);
  });

  test("two that do so are both named, and long lists are short", async () => {
    await setDataPolicy({ regions: ["mars"] });
    const only = Array.from({ length: 9 }, (_, i) => `nobody-${i}`);
    expect((await chat({ providers: { only } })).message).toBe(
      `${NOTHING} data_policy.regions ["mars"] of the organisation excludes all 2 endpoints of test/model; so does only ["nobody-0", "nobody-1", "nobody-2", "nobody-3", and 5 more] of the request.`,
    );
  });

  test("where each leaves some, all are named with how many", async () => {
    await setDataPolicy({ regions: ["us"] });
    expect((await chat({ providers: { only: ["europe"] } })).message).toBe(
      `${NOTHING} data_policy.regions ["us"] of the organisation excludes 1 of the 2 endpoints of test/model, only ["europe"] of the request excludes 1.`,
    );
  });

  test("of a routing policy, also in its dry run; with the request's own part both are", async () => {
    const yaml = "version: 1\ndefaults: { require: { regions: [mars, us] }, only: [europe] }\n";
    const made = await gateway.call("POST", "/v1/policies", { key: admin, body: { name: "house", yaml } });
    expect(made.json.warnings.map(({ message }: { message: string }) => message)).toContain(
      'there is no endpoint in region "mars"',
    );
    await gateway.call("POST", "/v1/policies/house/activate", { key: admin, body: { version: 1 } });
    const why =
      'require.regions ["mars", "us"] of the routing policy excludes 1 of the 2 endpoints of test/model, only ["europe"] of the routing policy excludes 1.';
    expect((await chat({})).message).toBe(`${NOTHING} ${why}`);
    const { json } = await gateway.call("POST", "/v1/policies/house/dry-run", {
      key: admin,
      body: { model: "test/model" },
    });
    expect([json.plan, json.decision.notes.at(-1)]).toEqual([[], why]);
    const both = await chat({ require: { regions: ["eu"] }, providers: { only: ["states"] } });
    expect(both.message).toBe(
      `${NOTHING} require.regions [] of the routing policy and the request together excludes all 2 endpoints of test/model.`,
    );
    await gateway.call("POST", "/v1/policies/house/deactivate", { key: admin, body: {} });
  });
});

describe("C13: a change of the data policy answers with what the catalog does not have", () => {
  test("a region without an endpoint, and that every call is refused", async () => {
    const warned = (await setDataPolicy({ regions: ["mars"] })).json;
    expect(warned.data_policy.regions).toEqual(["mars"]);
    expect(warned.warnings).toEqual([
      { path: "/data_policy/regions/0", message: 'there is no endpoint in region "mars"' },
      {
        path: "/data_policy",
        message: expect.stringMatching(
          /^no endpoint satisfies this, and every call is refused \(404 no_endpoint\)\. data_policy\.regions \["mars"\] of the organisation excludes all \d+ endpoints of the catalog\.$/,
        ),
      },
    ]);
    expect((await gateway.call("GET", `/v1/orgs/${org}`, { key: admin })).json.warnings).toBeUndefined();
  });

  test("one region of several, with the nearest; none where all have endpoints, and none of other changes", async () => {
    const { warnings } = (await setDataPolicy({ regions: ["eu", "uss"] })).json;
    expect(warnings).toEqual([
      { path: "/data_policy/regions/1", message: 'there is no endpoint in region "uss"; did you mean "us"?' },
    ]);
    expect((await setDataPolicy({ retention_days: 30 })).json.warnings).toBeUndefined();
    expect((await setDataPolicy({ regions: ["eu", "us"] })).json.warnings).toBeUndefined();
  });
});
