/** `GET /v1/attention` over HTTP: what needs somebody, and only what the caller may see. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { idle } from "../../support/money/fixtures.ts";
import { until } from "../../support/wait.ts";

const price = { input: 100, output: 200 };
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "good", price },
      { model: "test/broken", provider: "broken", price, instruction: { status: 500 } },
    ],
  });
});
afterAll(() => gateway.stop());

interface Finding {
  readonly kind: string;
  readonly severity: string;
  readonly subject: { readonly type: string; readonly id: string; readonly name: string };
  readonly link?: string;
}
const attention = async (key?: string) => {
  const { status, json, text } = await gateway.call("GET", "/v1/attention", key ? { key } : {});
  expect(status, text).toBe(200);
  return json as { data: Finding[]; left_out: object[] };
};
const kinds = async (key?: string) => (await attention(key)).data.map(({ kind }) => kind);
const body = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  simulator: { tokens: 100 },
});
const madeKey = async (more: object) =>
  (await gateway.call("POST", "/v1/keys", { body: { name: "k", ...more } })).json;

test("a new installation needs nobody", async () => {
  expect(await attention()).toMatchObject({ object: "list", data: [], left_out: [] });
});

test("budgets, credit and endpoints stand there, worst first, each with where more is told", async () => {
  const robot = await madeKey({ name: "Robot" });
  const before = await gateway.balance();
  expect((await gateway.chat(body("test/model"), { key: robot.secret })).status).toBe(200);
  await idle(gateway);
  const spent = before.available - (await gateway.balance()).available;
  const budget = { daily_micro: Math.ceil(spent / 0.9), hard: true };
  expect((await gateway.call("PATCH", `/v1/keys/${robot.id}`, { body: { budget } })).status).toBe(200);
  const [org] = (await gateway.call("GET", "/v1/orgs")).json.data;
  const settings = { credits_low_micro: 1_000_000_000 };
  expect((await gateway.call("PATCH", `/v1/orgs/${org.id}`, { body: { settings } })).status).toBe(200);
  await until(
    "the endpoint is out",
    async () => {
      await gateway.chat(body("test/broken"));
      return kinds();
    },
    (found) => found.includes("endpoint_down"),
  );
  await idle(gateway);
  const { data } = await attention();
  expect(data.map(({ kind, severity, subject }) => [kind, severity, subject.type])).toEqual([
    ["endpoint_down", "critical", "endpoint"],
    ["credit_low", "warning", "org"],
    ["budget_near", "warning", "key"],
  ]);
  expect(data[2]).toMatchObject({ subject: { id: robot.id, name: "Robot" }, link: `/v1/keys/${robot.id}` });
  for (const { link = "" } of data)
    expect([link, (await gateway.call("GET", link)).status]).toEqual([link, 200]);
});

test("a key sees what its scopes show", async () => {
  const sees = async (...scopes: string[]) => await kinds((await madeKey({ scopes })).secret);
  expect(await sees("inference")).toEqual([]);
  expect(await sees("read:billing")).toEqual(["credit_low"]);
  expect(await sees("read:usage")).toEqual(["endpoint_down"]);
  expect(await sees("read:usage", "read:keys")).toEqual(["endpoint_down", "budget_near"]);
});
