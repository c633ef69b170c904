import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Model } from "../../../../src/base/endpoint.ts";
import { HOUR_MS } from "../../../../src/base/time.ts";
import { replayReportSchema } from "../../../../src/routing/policies/replay/replay-report.ts";
import { attempt } from "../../../support/analytics/records.ts";
import {
  CHEAP,
  DEAR,
  HOSTS,
  host,
  MIDDLE,
  openTraffic,
  refused,
  replay,
  replaysOf,
  served,
  type TrafficBench,
} from "../../../support/policies/replay.fixtures.ts";
import { model } from "../../../support/routing/fixtures.ts";

let home: TrafficBench;
beforeAll(async () => {
  home = await openTraffic();
});
afterAll(() => home.close());

let orgs = 0;
/** An org of the test's own, so that no test sees another's calls. */
const newOrg = (): string => `org_replay_${++orgs}`;

const flowText = ({
  from,
  to,
  changed,
  ...sums
}: Awaited<ReturnType<typeof replay>>["flows"][number]): string => {
  const [left, right] = [from, to].map(({ endpoint_id: id, outcome }) => id || outcome);
  const money = `${sums.recorded_micro}→${sums.replayed_micro}`;
  return `${left}→${right}: ${sums.requests} for ${money}${changed ? ", moved" : ""}`;
};

const PRICE_FIRST = "version: 1\nsort: price\n";

describe("a draft that decides as it was decided", () => {
  test("moves nothing and costs the same, also after fallbacks and with a cached prompt", async () => {
    const orgId = newOrg();
    const fellBack = [
      attempt({
        endpointId: DEAR.id,
        outcome: "http_error",
        httpStatus: 500,
        errorClass: "server",
        ttftMs: 0,
      }),
      attempt({ attempt: 2, endpointId: CHEAP.id, ttftMs: 300 }),
    ];
    await home.add([
      served(DEAR, { orgId, appId: "a", usage: { cacheReadTokens: 800 } }),
      served(MIDDLE, { orgId, appId: "b", stream: false, ttftMs: 900 }),
      served(CHEAP, { orgId, appId: "c", usageSource: "estimated", status: "cancelled" }),
      served(CHEAP, { orgId, appId: "a", attempts: fellBack }),
      // Its request named an order of its own, which wins over the draft's.
      served(MIDDLE, { orgId, appId: "a", routeOptions: '{"order":["ep_middle"]}' }),
    ]);
    const yaml = [
      "version: 1",
      "rules:",
      "  - {name: a, match: {app: a}, then: {order: [ep_dear, ep_cheap]}}",
      "  - {name: b, match: {app: b, project: front, stream: false}, then: {order: [ep_middle]}}",
      "  - {name: c, match: {app: c, tag: {team: blue}}, then: {only: [ep_cheap]}}",
    ].join("\n");
    const report = await replay(replaysOf(home.traffic), yaml, { orgId });
    expect(replayReportSchema.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      hours: 24,
      version: 2,
      requests: 5,
      replayed: 5,
      moved: 0,
      moved_share: 0,
    });
    // 200 × 1000 + 800 × 100 + 100 × 4000 nano; 1000 × 500 + 100 × 2000, twice; 1000 × 250 + 100 × 1000, twice.
    expect(report.cost_micro).toEqual({ recorded: 680 + 1400 + 700, replayed: 2780, delta: 0, repriced: 0 });
    expect(report.ttft_ms).toMatchObject({
      // The whole answer has no first token.
      compared: 4,
      recorded_p50: 300,
      recorded_mean: 300,
      delta_mean: 0,
    });
    expect(report.by_endpoint).toEqual([
      { endpoint_id: CHEAP.id, recorded: 2, replayed: 2 },
      { endpoint_id: MIDDLE.id, recorded: 2, replayed: 2 },
      { endpoint_id: DEAR.id, recorded: 1, replayed: 1 },
    ]);
    expect(report.by_rule).toEqual([
      { rule: "a", requests: 3 },
      { rule: "b", requests: 1 },
      { rule: "c", requests: 1 },
    ]);
  });

  test("prices calls anew that stay where prices changed since", async () => {
    const orgId = newOrg();
    await home.add([served(DEAR, { orgId }), served(CHEAP, { orgId, usageSource: "none", ttftMs: 0 })]);
    const cheaper = { ...DEAR, prices: { ...DEAR.prices, version: "pv_new", input: 500 } };
    const yaml = "version: 1\ndefaults: {order: [ep_dear]}\n";
    const report = await replay(replaysOf(home.traffic, [model(cheaper, CHEAP)]), yaml, { orgId });
    // 1000 × 500 + 100 × 4000 nano instead of 1400 micro; the other moves, and used nothing.
    expect(report.cost_micro).toEqual({ recorded: 1400 + 350, replayed: 900, delta: -850, repriced: 1 });
  });
});

describe("a draft that asks the cheapest first", () => {
  test("moves and saves exactly what a hand-written table expects", async () => {
    const orgId = newOrg();
    await home.add([
      // 1400 → 350 micro-USD, expected after the 200 ms of cheap.
      served(DEAR, { orgId, ttftMs: 500 }),
      // 500 × 1000 + 500 × 100 + 0 = 550 → 1000 × 250 = 250: what was read from a cache is plain input elsewhere.
      served(DEAR, { orgId, ttftMs: 500, usage: { cacheReadTokens: 500, outputTokens: 0 } }),
      // 700 → 350, of a whole answer.
      served(MIDDLE, { orgId, stream: false, ttftMs: 400, attempts: [attempt({ endpointId: MIDDLE.id })] }),
      // Stays.
      served(CHEAP, { orgId, ttftMs: 200, attempts: [attempt({ endpointId: CHEAP.id, ttftMs: 200 })] }),
      // 1400: its tools leave cheap out, so it goes to middle for 700.
      served(DEAR, { orgId, hasTools: true, ttftMs: 500 }),
      // Shown, not charged: no money on either side. Moves.
      served(DEAR, { orgId, charged: false, ttftMs: 500 }),
      // Failed at cheap and nowhere else: dear is out of the request's own choice, so it fails again.
      served(CHEAP, {
        orgId,
        status: "error",
        usageSource: "none",
        usage: { inputTokens: 0, outputTokens: 0 },
        ttftMs: 0,
        routeOptions: '{"only":["ep_cheap"]}',
        attempts: [attempt({ endpointId: CHEAP.id, outcome: "timeout", errorClass: "timeout", ttftMs: 0 })],
      }),
    ]);
    const noTools = { ...CHEAP, capabilities: { ...CHEAP.capabilities, tools: false } };
    const hosts = model(DEAR, MIDDLE, noTools);
    const report = await replay(replaysOf(home.traffic, [hosts]), PRICE_FIRST, { orgId });
    expect(report).toMatchObject({ requests: 7, replayed: 7, moved: 5, moved_share: 0.7143 });
    expect(report.cost_micro).toEqual({
      recorded: 1400 + 550 + 700 + 350 + 1400,
      replayed: 350 + 250 + 350 + 350 + 700,
      delta: -2400,
      repriced: 0,
    });
    // All but the one that failed and the whole answer; what is known of 30 days depends on the other tests.
    expect(report.ttft_ms.compared + report.ttft_ms.unknown).toBe(5);
    expect(report.failures).toEqual({ recorded: 1, replayed: 1 });
    expect(report.by_endpoint).toEqual([
      { endpoint_id: CHEAP.id, recorded: 2, replayed: 5 },
      { endpoint_id: MIDDLE.id, recorded: 1, replayed: 1 },
      { endpoint_id: DEAR.id, recorded: 4, replayed: 0 },
    ]);
    expect(report.flows.map(flowText)).toEqual([
      "ep_dear→ep_cheap: 3 for 1950→600, moved",
      "failed→failed: 1 for 0→0",
      "ep_cheap→ep_cheap: 1 for 350→350",
      "ep_dear→ep_middle: 1 for 1400→700, moved",
      "ep_middle→ep_cheap: 1 for 700→350, moved",
    ]);
  });

  test("expects the first token by the median of the endpoint, and counts apart where there is none", async () => {
    const orgId = newOrg();
    const [quick, slow, unseen] = [
      host("ep_quick", 100, 100),
      host("ep_slow", 200, 200),
      host("ep_unseen", 1, 1),
    ];
    const at = (ttftMs: number) => ({ orgId, ttftMs, attempts: [attempt({ endpointId: quick.id, ttftMs })] });
    await home.add([
      ...[100, 110, 5000].map((ttftMs) => served(quick, at(ttftMs))),
      served(slow, { orgId, ttftMs: 900, attempts: [attempt({ endpointId: slow.id, ttftMs: 900 })] }),
    ]);
    const ask = (hosts: Model) => replay(replaysOf(home.traffic, [hosts]), PRICE_FIRST, { orgId });
    expect((await ask(model(quick, slow))).ttft_ms).toEqual({
      compared: 4,
      recorded_p50: 110,
      recorded_p95: 5000,
      recorded_mean: 1527.5,
      expected_p50: 110,
      expected_p95: 5000,
      expected_mean: 1330,
      delta_p50: 0,
      delta_mean: -197.5,
      unknown: 0,
    });
    expect((await ask(model(quick, slow, unseen))).ttft_ms).toMatchObject({
      compared: 0,
      unknown: 4,
      recorded_p50: null,
      delta_mean: null,
    });
  });
});

test("a draft that denies refuses, and says whom", async () => {
  const orgId = newOrg();
  const calls = Array.from({ length: 7 }, () => served(DEAR, { orgId, appId: "toy" }));
  const already = refused("denied_by_policy", { orgId, appId: "toy" });
  const none = refused("no_endpoint", { orgId, routeOptions: '{"require":{"regions":["mars"]}}' });
  await home.add([...calls, already, none, served(CHEAP, { orgId })]);
  const yaml = 'version: 1\nrules: [{name: toys, match: {app: toy}, then: {deny: {message: "No toys."}}}]\n';
  const report = await replay(replaysOf(home.traffic), yaml, { orgId });
  expect(report.refusals).toEqual({
    recorded: { denied_by_policy: 1, no_endpoint: 1 },
    replayed: { denied_by_policy: 8, no_endpoint: 1 },
    newly: 7,
  });
  expect(report.flows.slice(0, 2).map(flowText)).toEqual([
    "ep_dear→refused: 7 for 9800→0, moved",
    "refused→refused: 2 for 0→0",
  ]);
  expect(report.cost_micro).toMatchObject({ recorded: 7 * 1400 + 350 });
  expect(report.cost_micro.replayed).toBeLessThanOrEqual(1400);
  expect(report.examples).toHaveLength(5);
  const newly = new Set(calls.map(({ requestId }) => requestId));
  for (const { request_id, reason, is_new: isNew } of report.examples) {
    expect(newly.has(request_id)).toBe(true);
    expect(isNew).toBe(true);
    expect(reason).toBe("No toys.");
  }
});

test("a call that its endpoint refused as invalid fails there again", async () => {
  const orgId = newOrg();
  const invalid = {
    orgId,
    status: "error",
    usageSource: "none",
    usage: { inputTokens: 0, outputTokens: 0 },
    ttftMs: 0,
    attempts: [attempt({ endpointId: CHEAP.id, outcome: "http_error", errorClass: "client", ttftMs: 0 })],
  } as const;
  await home.add([served(CHEAP, invalid)]);
  const report = await replay(replaysOf(home.traffic), PRICE_FIRST, { orgId });
  expect(report).toMatchObject({ moved: 0, failures: { recorded: 1, replayed: 1 } });
  expect(report.flows.map(flowText)).toEqual(["failed→failed: 1 for 0→0"]);
});

test("the org's data policy of today and a draft's requirements leave endpoints out", async () => {
  const orgId = newOrg();
  await home.add([served(DEAR, { orgId })]);
  const dataPolicy = { zdr: false, noTrain: false, regions: ["mars"] };
  const report = await replay(replaysOf(home.traffic), "version: 1\n", { orgId, dataPolicy });
  expect(report.refusals.replayed).toEqual({ denied_by_policy: 0, no_endpoint: 1 });
  expect(report.examples[0]?.reason).toMatch(
    /^ep_\w+: its region eu is not among mars; 2 more are left out$/,
  );
  const tight = "version: 1\ndefaults: {require: {max_price: {input: 0.3}}}\n";
  expect((await replay(replaysOf(home.traffic), tight, { orgId })).by_endpoint).toContainEqual({
    endpoint_id: CHEAP.id,
    recorded: 0,
    replayed: 1,
  });
});

test("calls that no policy affects are skipped and counted by reason", async () => {
  const orgId = newOrg();
  await home.add([
    refused("rpm", { orgId }),
    refused("insufficient_credits", { orgId }),
    refused("model_not_found", { orgId, model: "no/such" }),
    served(DEAR, { orgId, model: "v/gone" }),
    served(DEAR, { orgId, routeOptions: "{broken" }),
    served(DEAR, { orgId }),
  ]);
  const report = await replay(replaysOf(home.traffic), "version: 1\n", { orgId });
  expect(report).toMatchObject({ requests: 6, replayed: 1 });
  expect(report.skipped).toEqual({ requests: 5, rejected: 2, unknown_model: 2, unreadable: 1 });
});

test("only the hours, the org and the project that were asked for", async () => {
  const orgId = newOrg();
  const nowMs = Date.now();
  await home.add([
    served(DEAR, { orgId, tsMs: nowMs - 1000 }),
    served(DEAR, { orgId, tsMs: nowMs - 3 * HOUR_MS, projectId: "prj_other" }),
    served(DEAR, { orgId, tsMs: nowMs - 5 * HOUR_MS }),
    served(DEAR, { orgId: newOrg(), tsMs: nowMs - 1000 }),
  ]);
  const replays = replaysOf(home.traffic);
  const count = async (hours: number, projectId?: string) =>
    (await replay(replays, "version: 1\n", { orgId, hours, projectId })).requests;
  expect(await count(1)).toBe(1);
  expect(await count(4)).toBe(2);
  expect(await count(24)).toBe(3);
  expect(await count(24, "prj_other")).toBe(1);
});

test("page by page or in one, twice: the same report; beyond the bound the newest count", async () => {
  const orgId = newOrg();
  const nowMs = Date.now();
  // Several in each millisecond, so that pages end within one.
  const calls = Array.from({ length: 40 }, (_, i) => served(DEAR, { orgId, tsMs: nowMs - 1000 - (i % 4) }));
  await home.add(calls);
  const yaml = "version: 1\ndefaults: {affinity: none, weights: {ep_dear: 1, ep_middle: 1}}\n";
  const ask = (bounds: { maxCalls?: number; pageCalls?: number }) =>
    replay(replaysOf(home.traffic, [HOSTS], { bounds }), yaml, { orgId });
  const whole = await ask({});
  expect(whole).toMatchObject({ requests: 40, truncated: false });
  expect(whole.moved).toBeGreaterThan(5);
  expect(whole.moved).toBeLessThan(35);
  expect(await ask({ pageCalls: 7 })).toEqual(whole);
  expect(await ask({ maxCalls: 40 })).toEqual(whole);
  expect(await ask({ maxCalls: 15, pageCalls: 10 })).toMatchObject({ requests: 15, truncated: true });
});

test("embeddings are not left out for the sum of their inputs", async () => {
  const orgId = newOrg();
  const small = { ...host("ep_embed", 20, 0), contextLength: 8000, maxOutput: 0 };
  await home.add([served(small, { orgId, usage: { inputTokens: 90_000, outputTokens: 0 } })]);
  const embedder: Model = { ...model(small), task: "embed" };
  const report = await replay(replaysOf(home.traffic, [embedder]), PRICE_FIRST, { orgId });
  expect(report).toMatchObject({ moved: 0, cost_micro: { recorded: 1800, replayed: 1800 } });
});

test("a report says from when on calls may be missing, and says nothing where none is", async () => {
  const orgId = newOrg();
  await home.add([served(DEAR, { orgId })]);
  const after = async (missingSinceMs: number | undefined) =>
    await replay(replaysOf(home.trafficAfter(async () => missingSinceMs)), PRICE_FIRST, { orgId });
  const late = await after(Date.UTC(2026, 10, 30, 23));
  expect(late).toMatchObject({ requests: 1, incomplete_since: "2026-11-30T23:00:00.000Z" });
  expect(replayReportSchema.parse(late)).toEqual(late);
  expect(await after(undefined)).not.toHaveProperty("incomplete_since");
});
