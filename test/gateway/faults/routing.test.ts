/**
 * Where a call goes, through the whole gateway: saturated endpoints stay out and are probed by one call, the request's
 * route options are obeyed, the trace says why, and time that is up is up for all endpoints together.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { events, type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, attemptsOf, recordOf, requestIdOf, start } from "../../support/observations.ts";
import { rest } from "../../support/pace.ts";
import { equals, until } from "../../support/wait.ts";

const callsTo = (gateway: TestGateway, mark: string): number =>
  gateway.simulator.calls.filter((c) => c.path.includes(encodeURIComponent(mark))).length;

const marked = (mark: string, instruction: object = {}) => ({ ...instruction, error_message: mark });

/** A call by route options; resolves with the answer and its record. */
async function routed(gateway: TestGateway, route: object, body: object = {}) {
  const answer = await gateway.chat({ model: "test/model", svc: { route }, ...body });
  const record = await recordOf(gateway, requestIdOf(answer));
  return { answer, record, attempts: attemptsOf(record) };
}

describe("saturation", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({
      endpoints: [
        { provider: "busy", instruction: marked("busy", { status: 429, retry_after: 60 }) },
        { provider: "busier", instruction: marked("busier", { status: 429, retry_after: 90 }) },
        {
          provider: "back-soon",
          instruction: marked("back-soon", { status: 429, retry_after_ms: 700, times: 1, first_ms: 400 }),
        },
        { provider: "free" },
      ],
    });
  });
  afterAll(() => gateway?.stop());

  test("a saturated endpoint is passed over until its time, and 503 says when all are out", async () => {
    const busyFirst = { providers: { order: ["busy", "free"], only: ["busy", "free"] } };
    const first = await routed(gateway, busyFirst);
    expect(first.attempts).toEqual(["rate_limited 429 capacity", "ok 200"]);
    const second = await routed(gateway, busyFirst);
    expect(second.attempts).toEqual(["ok 200"]);
    expect(second.record.route_trace).toMatch(/out: .*ep_busy_.*saturated/);

    const pair = { providers: { only: ["busy", "busier"] } };
    const third = await routed(gateway, pair);
    expect(third.answer.status).toBe(429);
    expect(third.attempts).toEqual(["rate_limited 429 capacity"]);
    for (const stream of [false, true]) {
      const { answer, attempts, record } = await routed(gateway, pair, { stream });
      expect(answer.status).toBe(503);
      expect(answer.json.error).toMatchObject({ type: "unavailable", code: "upstream_capacity" });
      const waitMs = answer.json.error.retry_after_ms;
      expect(waitMs).toBeGreaterThan(30_000);
      expect(waitMs).toBeLessThanOrEqual(60_000);
      expect(answer.headers.get("retry-after-ms")).toBe(String(waitMs));
      expect(answer.headers.get("retry-after")).toBe(String(Math.ceil(waitMs / 1000)));
      expect(attempts).toEqual([]);
      expect(record.cost_micro).toBe(0);
    }
    expect(callsTo(gateway, "busy")).toBe(1);
    expect(callsTo(gateway, "busier")).toBe(1);
    await atRest(gateway);
  });

  test("O18: after the wait one call probes, the others are told to wait, and its success lets more in", async () => {
    const route = { providers: { only: ["back-soon"] } };
    const refused = await gateway.chat({ model: "test/model", svc: { route } });
    expect(refused.status).toBe(429);
    expect(refused.json.error.retry_after_ms).toBe(700);
    await rest(refused.json.error.retry_after_ms + 10);
    const together = await Promise.all(Array.from({ length: 6 }, () => routed(gateway, route)));
    const statuses = together.map(({ answer }) => answer.status).sort();
    expect(statuses).toEqual([200, 503, 503, 503, 503, 503]);
    expect(callsTo(gateway, "back-soon")).toBe(2);
    // Twice as many after each success, so that it is not flooded at once.
    for (const count of [2, 4]) {
      const after = await Promise.all(Array.from({ length: count }, () => routed(gateway, route)));
      expect(after.map(({ answer }) => answer.status)).toEqual(Array(count).fill(200));
    }
    await atRest(gateway);
  });
});

describe("route options", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    // "cheapest" does not know the model: the next is asked, and its health does not suffer from one test to the next.
    gateway = await testGateway({
      endpoints: [
        { provider: "cheap", price: { input: 1, output: 2 }, instruction: { first_ms: 150 } },
        { provider: "dear", price: { input: 30, output: 60 }, instruction: { tokens: 3 } },
        {
          provider: "cheapest",
          price: { input: 0.1, output: 0.1 },
          instruction: marked("cheapest", { status: 404 }),
        },
        {
          provider: "breaks",
          price: { input: 5, output: 5 },
          instruction: marked("breaks", { fault: "reset_mid", after: 4 }),
        },
      ],
    });
  });
  afterAll(() => gateway?.stop());

  /** How long each whole answer took, by the provider that gave it: what the gateway knows of them. */
  const tookMs: Record<string, number[]> = {};
  const note = ({ attempt_rows: rows }: Awaited<ReturnType<typeof routed>>["record"]) => {
    for (const { provider, outcome, duration_ms: ms } of rows)
      if (outcome === "ok") tookMs[provider] = [...(tookMs[provider] ?? []), ms];
  };
  const meanMs = (provider: string): number => {
    const all = tookMs[provider] ?? [];
    return all.reduce((sum, ms) => sum + ms, 0) / all.length;
  };

  test.each([
    ["order", { providers: { order: ["dear", "cheap"] } }, ["dear"]],
    ["order by endpoint id", { providers: { order: ["ep_dear_sim-test_local"] } }, ["dear"]],
    ["only", { providers: { only: ["dear"] } }, ["dear"]],
    ["ignore", { sort: "price", providers: { ignore: ["cheapest", "breaks", "cheap"] } }, ["dear"]],
    ["sort by price, fallback included", { sort: "price" }, ["cheapest", "cheap"]],
    ["max_price", { sort: "price", require: { max_price: { input: 2, output: 2 } } }, ["cheapest", "cheap"]],
    ["max_price of one kind", { require: { max_price: { output: 0.5 } } }, ["cheapest"]],
    ["fallbacks off", { sort: "price", fallbacks: false }, ["cheapest"]],
    [
      "fallbacks off, within the order",
      { fallbacks: false, providers: { order: ["cheapest", "dear"] } },
      ["cheapest", "dear"],
    ],
  ])("%s", async (_, route, providers) => {
    const { answer, record } = await routed(gateway, route);
    note(record);
    expect(record.attempt_rows.map((a: { provider: string }) => a.provider)).toEqual(providers);
    expect(answer.status).toBe(providers.at(-1) === "cheapest" ? 404 : 200);
    if (answer.status === 200) expect(answer.json.svc.provider).toBe(providers.at(-1));
  });

  test("sort by latency asks the quicker once both are known", async () => {
    const pair = ["cheap", "dear"];
    // An answer of the quicker one that a late machine has delayed makes it the slower one, until more of them are known.
    await until("the quicker one has been quicker, by a quarter", async () => {
      for (const provider of pair) note((await routed(gateway, { providers: { only: [provider] } })).record);
      return 1.25 * meanMs("dear") < meanMs("cheap");
    });
    const { record } = await routed(gateway, { sort: "latency", providers: { only: pair } });
    expect(record.provider).toBe("dear");
  });

  test("what nothing satisfies is 404 with the reason for each endpoint", async () => {
    const { answer, attempts } = await routed(gateway, { require: { max_price: { input: 0.01 } } });
    expect(answer.status).toBe(404);
    expect(answer.json.error.code).toBe("no_endpoint");
    const { excluded } = answer.json.error.details;
    expect(excluded).toHaveLength(4);
    for (const { kind, reason } of excluded)
      expect([kind, reason]).toEqual(["price", expect.stringContaining("USD")]);
    expect(attempts).toEqual([]);
  });

  test("T15: after the first content nobody else is asked, whatever else could answer", async () => {
    const route = { providers: { order: ["breaks", "dear"], only: ["breaks", "dear"] } };
    const { answer, attempts, record } = await routed(gateway, route, { stream: true });
    expect(attempts).toEqual(["stream_error 200 network"]);
    expect(answer.text).toMatch(/"error":\{"type":"upstream_error"[^\n]*\n\n$/);
    expect(answer.text).not.toContain("[DONE]");
    expect(record).toMatchObject({ status: "error", http_status: 200, error_code: "upstream_error" });
    expect(record.cost_micro).toBeGreaterThan(0);
    // A whole answer that breaks has delivered nothing: another endpoint may give one.
    const whole = await routed(gateway, route);
    expect(whole.answer.json.svc.provider).toBe("dear");
    expect(whole.record.cost_micro).toBe(whole.answer.json.svc.cost.total_micro_usd);
  });

  test("x-svc-debug shows the plan in a header, streamed or not, on errors too; nothing shows it unasked", async () => {
    const debug = { "x-svc-debug": "1" };
    const route = { sort: "price", providers: { ignore: ["dear"] } };
    for (const stream of [false, true]) {
      const response = await start(gateway, { stream, svc: { route } }, { headers: debug });
      const trace = response.headers.get("x-svc-route-trace") ?? "";
      expect(trace).toMatch(/^sort=price; try: 1 ep_cheapest_\S+ \(about .* USD\), 2 ep_cheap_/);
      expect(trace).toMatch(/out: ep_dear_\S+ \(route: it is left out by name/);
      await response.text();
    }
    const unasked = await start(gateway, { svc: { route } });
    expect(unasked.headers.get("x-svc-route-trace")).toBeNull();
    await unasked.text();
    const failed = await start(
      gateway,
      { svc: { route: { providers: { only: ["cheapest"] } } } },
      { headers: debug },
    );
    expect(failed.status).toBe(404);
    expect(failed.headers.get("x-svc-route-trace")).toContain("ep_cheapest");
    await failed.text();
  });
});

describe("time", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({
      endpoints: [1, 2, 3].map((n) => ({
        provider: `mute${n}`,
        instruction: marked(`mute${n}`, { fault: "hang" }),
      })),
      settings: { timeouts: { total_ms: 1500, first_byte_ms: 60_000, keep_alive_ms: 0 } },
    });
  });
  afterAll(() => gateway?.stop());

  test("T43: when the time of a call is up, no further endpoint is asked", async () => {
    const { answer, attempts } = await routed(gateway, { providers: { order: ["mute1", "mute2", "mute3"] } });
    expect(answer.status).toBe(504);
    expect(attempts).toEqual(["timeout 0 timeout"]);
    expect(gateway.simulator.totalCalls).toBe(1);
    await until("the upstream call is over", () => gateway.simulator.openCalls === 0);
    await atRest(gateway);
  });
});

test("T63: reloading the catalog again and again closes no connection in use", async () => {
  const gateway = await testGateway({
    endpoints: [{ provider: "slow", instruction: { tokens: 30, gap_ms: 20 } }],
  });
  try {
    const running = Array.from({ length: 5 }, () => start(gateway, { stream: true }).then(events));
    await until("five calls are open", () => gateway.simulator.openCalls, equals(5));
    for (let i = 0; i < 5; i++) await gateway.reload();
    for (const stream of await Promise.all(running)) expect(stream.at(-1)).toBe("[DONE]");
    expect((await gateway.chat({ model: "test/model" })).status).toBe(200);
    await atRest(gateway);
  } finally {
    await gateway.stop();
  }
});
