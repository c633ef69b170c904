/**
 * Looking a call up by its id: at once after the answer, while ClickHouse is away, after a restart, once the row has
 * arrived; for calls that went well, badly or nowhere; and never for another org. Test keys: served, shown a cost, free.
 */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { recorded } from "../../support/observations.ts";

let folder: string;
let gateway: TestGateway;

/** A key of a second org, which no route can make yet. */
let otherSecret: string;

beforeAll(async () => {
  folder = await seededFolder(() => {});
  otherSecret = (await addOrgs(folder, { other: { creditMicroUsd: 0 } })).other;
  gateway = await start(false);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = (engine: boolean) =>
  testGateway({
    engine,
    folder,
    endpoints: [{ provider: "paid", isReal: true }],
  });

const lookUp = async (id: string, key?: string) => {
  const options = key === undefined ? {} : { key };
  const generation = await gateway.call("GET", `/v1/generation/${id}`, options);
  const detail = await gateway.call("GET", `/v1/requests/${id}`, options);
  return { generation, detail };
};

const asked = (content: string) => ({ messages: [{ role: "user", content }] });

/** One call of each kind of end, with what its record must say. */
const CALLS: Readonly<Record<string, { body: object; record: object }>> = {
  "a whole answer": {
    body: asked("Whole"),
    record: { status: "ok", http_status: 200, stream: false, output_tokens: 16 },
  },
  "a stream": {
    body: { ...asked("Stream [[sim tokens=9]]"), stream: true },
    record: { status: "ok", http_status: 200, stream: true, output_tokens: 9, stop_reason: "stop" },
  },
  "a call that no upstream answered": {
    body: asked("Fail [[sim status=500]]"),
    record: { status: "error", http_status: 502, error_code: "upstream_error", cost_micro: 0, attempts: 1 },
  },
  "a stream that broke": {
    body: { ...asked("Break [[sim fault=reset_mid after=4]]"), stream: true },
    record: { status: "error", stream: true, error_code: "upstream_error", usage_source: "estimated" },
  },
  "a refused call": {
    body: { model: "weir/nope" },
    record: { status: "rejected", http_status: 404, error_code: "model_not_found", attempts: 0 },
  },
  "a body that could not be read": {
    body: { messages: [] },
    record: { status: "rejected", http_status: 400, error_code: "invalid_value" },
  },
};

describe("a lookup", () => {
  const found: Record<string, { id: string; generation: unknown; detail: unknown }> = {};

  test.each(Object.entries(CALLS))("finds %s at once, though ClickHouse is away", async (name, call) => {
    const answer = await gateway.chat(call.body as Record<string, unknown>);
    const id = answer.headers.get("x-svc-request-id") ?? "";
    const { generation, detail } = await lookUp(id);
    expect([generation.status, detail.status]).toEqual([200, 200]);
    expect(detail.json).toMatchObject({ request_id: id, ...call.record });
    expect(generation.json).toMatchObject({ id, cost: { total_micro_usd: detail.json.cost_micro } });
    expect(detail.json.attempt_rows).toHaveLength(detail.json.attempts);
    if (answer.json?.svc !== undefined) expect(generation.json.cost).toEqual(answer.json.svc.cost);
    found[name] = { id, generation: generation.json, detail: detail.json };
  });

  async function expectAllFound() {
    for (const { id, ...seen } of Object.values(found)) {
      const { generation, detail } = await lookUp(id);
      expect({ generation: generation.json, detail: detail.json }).toEqual(seen);
      await expectInLedger(id, detail.json);
    }
    expect(Object.keys(found)).toHaveLength(Object.keys(CALLS).length);
  }

  /** The ledger filtered by the request has its charge, or nothing where it cost nothing. */
  async function expectInLedger(id: string, { cost_micro }: { cost_micro: number }) {
    const { status, json } = await gateway.call("GET", `/v1/credits/ledger?request_id=${id}`);
    expect(status).toBe(200);
    const charge = { kind: "settle", amount_micro_usd: -cost_micro, request_id: id };
    expect(json).toMatchObject({ data: cost_micro === 0 ? [] : [charge], next_cursor: "" });
    const csv = await gateway.call("GET", `/v1/credits/ledger?request_id=${id}&format=csv`);
    expect(csv.text.trim().split("\r\n").slice(1)).toHaveLength(json.data.length);
  }

  test("of the ledger's entries by a malformed id is refused, with the parameter's name", async () => {
    const { status, json } = await gateway.call("GET", "/v1/credits/ledger?request_id=01HZ");
    expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_value", "/request_id"]);
  });

  test("says the same after a restart, still without ClickHouse", async () => {
    await gateway.stop();
    gateway = await start(false);
    await expectAllFound();
    // The feed needs ClickHouse and says so.
    const { status, json } = await gateway.call("GET", "/v1/requests");
    expect([status, json.error.code]).toEqual([503, "analytics_unavailable"]);
  });

  test("says the same once the row has reached ClickHouse, and the feed has each call once", async () => {
    await gateway.stop();
    gateway = await start(true);
    await recorded(gateway);
    await expectAllFound();
    const { json } = await gateway.call("GET", "/v1/requests");
    const ids = json.data.map((row: { request_id: string }) => row.request_id);
    expect(ids.toSorted()).toEqual(
      Object.values(found)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  test("of another org's call is 404, before and after the row has arrived; its lists are its own", async () => {
    const answer = await gateway.chat();
    const fresh = answer.headers.get("x-svc-request-id") ?? "";
    for (const id of [fresh, ...Object.values(found).map((call) => call.id), "01HZZZZZZZZZZZZZZZZZZZZZZZ"]) {
      const { generation, detail } = await lookUp(id, otherSecret);
      expect([generation.status, detail.status]).toEqual([404, 404]);
      expect(generation.json.error.code).toBe("not_found");
    }
    const own = { key: otherSecret };
    expect((await gateway.call("GET", "/v1/requests", own)).json.data).toEqual([]);
    expect((await gateway.call("GET", "/v1/credits/ledger", own)).json.data).toEqual([]);
    for (const id of [fresh, found["a whole answer"]?.id]) {
      const { status, json } = await gateway.call("GET", `/v1/credits/ledger?request_id=${id}`, own);
      expect([status, json.data, json.next_cursor]).toEqual([200, [], ""]);
    }
    expect((await gateway.call("GET", "/v1/keys", own)).json.data).toHaveLength(1);
    const mine = (await gateway.call("GET", "/v1/keys")).json.data[0].id;
    for (const [method, path] of [
      ["GET", `/v1/keys/${mine}`],
      ["DELETE", `/v1/keys/${mine}`],
      ["POST", `/v1/keys/${mine}/rotate`],
    ] as const) {
      expect((await gateway.call(method, path, own)).status).toBe(404);
    }
    const usage = await gateway.call("GET", "/v1/usage", own);
    expect(usage.json.totals.requests).toBe(0);
  });

  test("without credit, another org's calls are refused", async () => {
    const answer = await gateway.chat({}, { key: otherSecret });
    expect([answer.status, answer.json.error.code]).toEqual([402, "insufficient_credits"]);
  });
});

describe("test keys", () => {
  test("reach the simulator only", async () => {
    const real = await gateway.chat({ model: "test/model" }, { key: gateway.testKey });
    expect([real.status, real.json.error.code]).toEqual([404, "no_endpoint"]);
    expect((await gateway.chat({ model: "test/model" })).status).toBe(200);
  });

  test("are shown a cost and charged nothing, streamed or not", async () => {
    const ledger = async () => (await gateway.call("GET", "/v1/credits/ledger")).text;
    const [before, balance] = [await ledger(), await gateway.balance()];
    const options = { key: gateway.testKey };
    const whole = await gateway.chat({}, options);
    expect(whole.json.svc.cost.total_micro_usd).toBeGreaterThan(0);
    const streamed = await gateway.chat({ stream: true }, options);
    expect(streamed.text).toContain('"total_micro_usd"');
    const { generation } = await lookUp(whole.json.svc.request_id, gateway.testKey);
    expect(generation.json.cost).toEqual(whole.json.svc.cost);
    expect(await gateway.balance()).toEqual(balance);
    expect(await ledger()).toBe(before);
  });
});
