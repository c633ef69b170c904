import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR_MS } from "../../../src/base/time.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { attempt, caller, manyRecords, ORG, OTHER_ORG, record } from "../../support/analytics/records.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const NOW = Date.now();
let bench: Bench;
const seeded = manyRecords(400, NOW - 48 * HOUR_MS, NOW - HOUR_MS);

beforeAll(async () => {
  bench = openBench();
  await bench.add(seeded);
  await bench.add(manyRecords(20, NOW - 48 * HOUR_MS, NOW, 2).map((r) => ({ ...r, orgId: OTHER_ORG })));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
});
afterAll(() => bench.close());

type Query = Record<string, string>;

async function list(query: Query = {}, orgId = ORG) {
  const { listRequests } = bench.analytics.operations;
  const parsed = listRequests.query?.parse(query) as never;
  const page = await listRequests.run(
    { params: undefined, query: parsed, body: undefined },
    caller(orgId),
    NO_HEAD,
  );
  return listRequests.output.parse(page);
}

async function walk(query: Query): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const page = await list({ ...query, cursor });
    ids.push(...page.data.map((r) => r.request_id));
    cursor = page.next_cursor;
  } while (cursor !== "");
  return ids;
}

const get = (id: string, orgId = ORG, query: { raw?: boolean } = {}) =>
  bench.analytics.operations.getRequest.run(
    { params: { id }, query, body: undefined },
    caller(orgId),
    NO_HEAD,
  );
const generation = (id: string, orgId = ORG) =>
  bench.analytics.operations.getGeneration.run(
    { params: { id }, query: undefined, body: undefined },
    caller(orgId),
    NO_HEAD,
  );

const newestFirst = (a: CallRecord, b: CallRecord) => b.tsMs - a.tsMs || (a.requestId < b.requestId ? 1 : -1);

const middle = [...seeded].sort(newestFirst)[200] as CallRecord;
const FILTERS: readonly [Query, (r: CallRecord) => boolean][] = [
  [{}, () => true],
  [{ since: new Date(middle.tsMs).toISOString() }, (r) => r.tsMs >= middle.tsMs],
  [{ until: new Date(middle.tsMs).toISOString() }, (r) => r.tsMs < middle.tsMs],
  [{ project_id: "prj_a" }, (r) => r.projectId === "prj_a"],
  [{ key_id: "key_b" }, (r) => r.keyId === "key_b"],
  [{ app_id: "app-1" }, (r) => r.appId === "app-1"],
  [{ app_id: "app-1' OR '1" }, () => false],
  [{ model: "bolt/large" }, (r) => r.model === "bolt/large"],
  [{ provider: "bolt" }, (r) => r.provider === "bolt"],
  [{ status: "cancelled" }, (r) => r.status === "cancelled"],
  [{ errors_only: "true" }, (r) => r.status === "error" || r.status === "rejected"],
  [{ errors_only: "false" }, () => true],
  [{ fallbacks_only: "1" }, (r) => r.attempts.length > 1],
  [{ min_cost_micro: "500" }, (r) => r.cost.total_micro_usd >= 500],
  [{ max_cost_micro: "499" }, (r) => r.cost.total_micro_usd <= 499],
  [{ q: middle.requestId.slice(0, 12) }, (r) => r.requestId.startsWith(middle.requestId.slice(0, 12))],
  [{ q: "' OR 1 = 1 --" }, () => false],
  [
    { model: "acme/model", provider: "bolt", status: "ok", min_cost_micro: "100" },
    (r) =>
      r.model === "acme/model" && r.provider === "bolt" && r.status === "ok" && r.cost.total_micro_usd >= 100,
  ],
];

describe("the request feed", () => {
  it.each(FILTERS)("filters by %j", async (query, wanted) => {
    const expected = seeded.filter(wanted).sort(newestFirst);
    const page = await list({ ...query, limit: "500" });
    expect(page.data.map((r) => r.request_id)).toEqual(expected.map((r) => r.requestId));
    expect(page.next_cursor).toBe("");
  });

  it("shows a row as it was recorded", async () => {
    const page = await list({ q: middle.requestId });
    expect(page.data).toEqual([
      {
        request_id: middle.requestId,
        ts: new Date(middle.tsMs).toISOString().replace("T", " ").slice(0, 23),
        project_id: middle.projectId,
        key_id: middle.keyId,
        model: middle.model,
        provider: middle.provider,
        endpoint_id: middle.endpointId,
        region: "eu",
        status: middle.status,
        http_status: middle.httpStatus,
        error_code: middle.errorCode,
        stop_reason: "stop",
        attempts: middle.attempts.length,
        input_tokens: middle.usage.inputTokens,
        cache_read_tokens: middle.usage.cacheReadTokens,
        output_tokens: middle.usage.outputTokens,
        usage_source: "provider",
        cost_micro: middle.cost.total_micro_usd,
        ttft_ms: 130,
        duration_ms: 950,
        stream: false,
        byok: middle.byok,
        zdr: false,
        logged: false,
        app_id: middle.appId,
        user_hash: "0123456789abcdef",
      },
    ]);
  });

  it("sees every row once on a walk, though rows are added meanwhile, many in one millisecond", async () => {
    const tsMs = NOW - 72 * HOUR_MS;
    const twins = Array.from({ length: 30 }, () => record({ tsMs, keyId: "key_walk", payloadState: "off" }));
    await bench.add(twins);
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list({ key_id: "key_walk", limit: "7", cursor });
      seen.push(...page.data.map((r) => r.request_id));
      cursor = page.next_cursor;
      await bench.add([
        record({ tsMs: NOW, keyId: "key_walk" }),
        record({ tsMs: tsMs + 1, keyId: "key_walk" }),
      ]);
    } while (cursor !== "");
    expect(seen).toEqual(
      twins
        .map((r) => r.requestId)
        .sort()
        .reverse(),
    );
  });

  it("takes a cursor that was never issued, or was issued to another org, as the first page", async () => {
    const first = (await list({ limit: "5" })).data;
    expect((await list({ limit: "5", cursor: "made-up" })).data).toEqual(first);
    const foreign = (await list({ limit: "5" }, OTHER_ORG)).next_cursor;
    expect((await list({ limit: "5", cursor: foreign })).data).toEqual(first);
  });

  it("shows an org its own rows only", async () => {
    expect((await list({ limit: "500" }, OTHER_ORG)).data).toHaveLength(20);
    expect(await walk({ limit: "100", q: "0" })).not.toContain(
      (await list({}, OTHER_ORG)).data[0]?.request_id,
    );
  });

  it("lists a call right after it was recorded", async () => {
    const fresh = record({ keyId: "key_fresh" });
    await bench.add([fresh]);
    let listed: string[] = [];
    // A read waits a second for what is to be inserted, which a busy machine may need several of.
    await holdsUnlessCrowded(async () => {
      listed = (await list({ key_id: "key_fresh" })).data.map((r) => r.request_id);
      return listed.length > 0;
    });
    expect(listed).toEqual([fresh.requestId]);
  });

  it("refuses a limit beyond 500 and a status that does not exist", async () => {
    await expect(list({ limit: "501" })).rejects.toThrow();
    await expect(list({ status: "great" })).rejects.toThrow();
  });
});

describe("one request", () => {
  const full = record({
    requestId: "01JZZZZZZZZZZZZZZZZZZZZZZZ",
    tsMs: NOW - 5000,
    tags: { team: "blue", "a'b": 'c"\n😀' },
    warnings: ["reserve_exceeded"],
    canary: "ep_new",
    attempts: [
      attempt({
        tsMs: NOW - 4990,
        outcome: "timeout",
        httpStatus: 0,
        errorClass: "timeout",
        upstreamMessage: "no\tanswer",
      }),
      attempt({ attempt: 2, tsMs: NOW - 4000, endpointId: "ep_bolt_model_us", provider: "bolt" }),
    ],
    request: Buffer.from(
      '{"model":"acme/model","messages":[{"role":"user","content":"my key sk-aaaaaaaaaaaaaaaaaaaaaaaa"}]}',
    ),
    response: Buffer.from(
      'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"4111 1111"}}]}\n\n' +
        'data: {"choices":[{"index":0,"delta":{"content":" 1111 1111 ok"}}]}\n\n' +
        'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\\"a\\""}}]}}]}\n\n' +
        'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
    ),
  });

  it("answers the same from the outbox and from ClickHouse, payload redacted in both", async () => {
    const outputs: unknown[] = [];
    const { getRequest, getGeneration } = bench.analytics.operations;
    await bench.add([full]);
    outputs.push([
      getRequest.output.parse(await get(full.requestId)),
      getGeneration.output.parse(await generation(full.requestId)),
    ]);
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    // A second process on the same engine knows nothing of the first one's memory.
    const other = await secondReader(bench);
    try {
      const read = other.analytics.operations;
      const input = { params: { id: full.requestId }, query: undefined, body: undefined };
      outputs.push([
        read.getRequest.output.parse(await read.getRequest.run({ ...input, query: {} }, caller(), NO_HEAD)),
        read.getGeneration.output.parse(await read.getGeneration.run(input, caller(), NO_HEAD)),
      ]);
    } finally {
      await other.close();
    }
    expect(outputs[1]).toEqual(outputs[0]);
    const [detail, gen] = outputs[0] as [Record<string, unknown>, Record<string, unknown>];
    expect(detail.payload_state).toBe("available");
    expect(detail.request).toEqual({
      model: "acme/model",
      messages: [{ role: "user", content: [{ type: "text", text: "my key [REDACTED:api_key]" }] }],
    });
    expect(detail.response).toEqual({
      candidates: [
        {
          index: 0,
          content: [
            { type: "text", text: "[REDACTED:card] ok" },
            { type: "tool_call", id: "c1", name: "f", arguments: '{"a":1}' },
          ],
          stop: { reason: "tool_calls" },
        },
      ],
      usage: {
        input_tokens: 100,
        output_tokens: 20,
        cache_read_tokens: 10,
        cache_write_tokens: 0,
        reasoning_tokens: 5,
      },
      cost: full.cost,
    });
    expect(detail.tags).toEqual(full.tags);
    expect(detail.attempt_rows).toHaveLength(2);
    expect(detail).toMatchObject({
      policy: "house",
      policy_version: 3,
      rule: "small",
      canary: "ep_new",
      experiment: "hosts",
      arm: "b",
      route_trace: "ep_acme_model_eu",
      // No line that the planner wrote.
      plan: null,
      cost: full.cost,
      receipt: `/v1/generation/${full.requestId}/receipt`,
      ledger: `/v1/credits/ledger?request_id=${full.requestId}`,
    });
    expect(gen).toMatchObject({
      id: full.requestId,
      created: new Date(full.tsMs).toISOString(),
      cost: full.cost,
      attempts: [
        { attempt: 1, outcome: "timeout" },
        { attempt: 2, outcome: "ok", provider: "bolt" },
      ],
      warnings: ["reserve_exceeded"],
    });
  });

  it("does not exist for another org, pending or stored, nor when it never was", async () => {
    const fresh = record();
    await bench.add([fresh]);
    await expect(get(fresh.requestId, OTHER_ORG)).rejects.toMatchObject({ kind: "not_found" });
    await expect(generation(middle.requestId, OTHER_ORG)).rejects.toMatchObject({ kind: "not_found" });
    await expect(generation("01J00000000000000000000000")).rejects.toMatchObject({ kind: "not_found" });
  });

  it.each(["off", "zdr"] as const)("shows the cost and no payload in state %s", async (payloadState) => {
    const { request, response, ...rest } = record({ payloadState });
    await bench.add([rest]);
    const detail = (await get(rest.requestId)) as Record<string, unknown>;
    expect(detail).toMatchObject({ payload_state: payloadState, logged: false, cost: rest.cost });
    expect(detail).not.toHaveProperty("request");
    expect(detail).not.toHaveProperty("response");
  });
});

/** The room once more, on the engine of another one. */
async function secondReader(of: Bench): Promise<Bench> {
  const { readFileSync } = await import("node:fs");
  const { url, username, password, database } = JSON.parse(
    readFileSync(`${of.dataDir}/clickhouse.json`, "utf8"),
  );
  return openBench({ clickhouseUrl: `${url.replace("://", `://${username}:${password}@`)}/${database}` });
}
