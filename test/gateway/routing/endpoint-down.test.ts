/** The event `endpoint.down`: who hears that an endpoint fails, what it says, and that it is said once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { closedPort, type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    engine: false,
    endpoints: [
      { provider: "broken", price: { input: 1, output: 2 }, instruction: { status: 500 } },
      {
        provider: "gone",
        price: { input: 1, output: 2 },
        baseUrl: `http://127.0.0.1:${await closedPort()}/v1`,
      },
      { provider: "well", price: { input: 5, output: 9 } },
    ],
  });
});
afterAll(() => gateway?.stop());

const chat = (order: readonly string[]) =>
  gateway.chat({ model: "test/model", svc: { route: { providers: { order } } } });

interface Told {
  readonly data: { readonly endpoint_id: string; readonly provider: string; readonly since: string };
}

const told = async (provider: string): Promise<Told[]> => {
  const { json } = await gateway.call("GET", "/v1/events?type=endpoint.down");
  return json.data.filter(({ data }: Told) => data.provider === provider);
};

test("an org whose calls fail over from a failing endpoint is told once, with reason and time", async () => {
  const fromMs = Date.now();
  expect((await chat(["broken", "well"])).status).toBe(200);
  expect(await told("broken")).toEqual([]);
  for (let calls = 0; calls < 12; calls++) expect((await chat(["broken", "well"])).status).toBe(200);
  await until("it is told", async () => (await told("broken")).length > 0);
  const toldMs = Date.now();
  const [event] = await told("broken");
  expect(event?.data).toEqual({
    endpoint_id: expect.stringContaining("broken"),
    model: "test/model",
    provider: "broken",
    reason: "server",
    since: expect.any(String),
  });
  const sinceMs = Date.parse(event?.data.since ?? "");
  expect(sinceMs).toBeGreaterThanOrEqual(fromMs - 5);
  expect(sinceMs).toBeLessThanOrEqual(toldMs + 5);
  for (let calls = 0; calls < 12; calls++) await chat(["broken"]);
  expect(await told("broken")).toHaveLength(1);
});

test("the reason says that nothing could be reached, and each endpoint has an event of its own", async () => {
  for (let calls = 0; calls < 6; calls++) await chat(["gone", "well"]);
  await until("it is told", async () => (await told("gone")).length > 0);
  expect((await told("gone")).map(({ data }) => data)).toMatchObject([
    { provider: "gone", reason: "network" },
  ]);
});

test("calls that succeed, and requests that an upstream refuses as wrong, tell nobody", async () => {
  for (let calls = 0; calls < 6; calls++) {
    await chat(["well"]);
    await gateway.chat({
      model: "test/model",
      messages: [{ role: "user", content: "Hi [[sim status=400]]" }],
      svc: { route: { providers: { order: ["well"] } } },
    });
  }
  expect(await told("well")).toEqual([]);
});
