/** What the address of the overview asks, and the lines that its chart draws. */
import { describe, expect, test } from "vitest";
import { type Finding, placeOf } from "../../../console/pages/overview/attention-places.ts";
import { creditState } from "../../../console/pages/overview/budget-words.ts";
import { linesOf, METRICS, metricOf, type Usage } from "../../../console/pages/overview/metrics.ts";
import { callsOf, filtersOf, groupOf, rangeOf, usageQuery } from "../../../console/pages/overview/range.ts";
import { formatFor } from "../../../console/text/format.ts";

type Latency = Usage["totals"]["latency"];

const asked = (query: string, zone = "UTC") => usageQuery(new URLSearchParams(query), zone);

describe("the address", () => {
  test("without filters it is the last 24 hours by model, compared with the 24 before", () => {
    expect(asked("")).toEqual({ range: "24h", compare: "1", group_by: "model", limit: 10 });
  });

  test("filters and grouping are those of the address, and a month is asked for by day", () => {
    expect(asked("range=30d&by=key&model=weir/a&key_id=key_1&show=calls&q=")).toEqual({
      range: "30d",
      granularity: "day",
      compare: "1",
      group_by: "key",
      limit: 10,
      model: "weir/a",
      key_id: "key_1",
    });
  });

  test("a custom range is whole days of the org's zone, the last one with", () => {
    expect(asked("range=custom&from=2026-11-01&to=2026-11-30", "Asia/Kolkata")).toMatchObject({
      range: "custom",
      from: "2026-10-31T18:30:00.000Z",
      to: "2026-11-30T18:30:00.000Z",
    });
  });

  test.each(["from=2026-11-01", "from=2026-11-02&to=2026-11-01", "from=yesterday&to=2026-11-01", ""])(
    "a custom range that is not whole asks nothing: %s",
    (days) => {
      expect(asked(`range=custom&${days}`)).toBeUndefined();
    },
  );

  test("a link to the calls has the same filters and the same range", () => {
    const calls = (query: string) => callsOf(new URLSearchParams(query));
    expect(calls("range=7d&model=weir/a&by=key")).toEqual({ model: "weir/a", within: "7d" });
    expect(calls("range=90d&key_id=key_1")).toEqual({ key_id: "key_1", within: "90d" });
    expect(calls("range=custom&from=2026-11-01&to=2026-11-03")).toEqual({
      within: "custom",
      from: "2026-11-01",
      to: "2026-11-03",
    });
  });

  test("what it does not know is as if it were not there", () => {
    const query = new URLSearchParams("range=1y&by=__proto__&show=constructor&provider=");
    expect([rangeOf(query), groupOf(query), metricOf(query), filtersOf(query)]).toEqual([
      "24h",
      "model",
      "spend",
      {},
    ]);
  });
});

describe("the lines", () => {
  const latency: Latency = { ttft_p50_ms: 10, ttft_p95_ms: 20, duration_p50_ms: null, duration_p95_ms: null };
  const item = (requests: number, measured = latency) => ({
    bucket: "2026-11-30T00:00:00Z",
    requests,
    ok: requests,
    errors: 0,
    input_tokens: 7,
    output_tokens: 3,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    cost_micro: requests * 100,
    latency: measured,
    cache_share: 0,
  });
  const none: Latency = {
    ttft_p50_ms: null,
    ttft_p95_ms: null,
    duration_p50_ms: null,
    duration_p95_ms: null,
  };
  const series = [item(1), item(2, none), item(3)];
  const range = { from: "", to: "" };
  const compare = { range, totals: item(9), series: [item(4), item(5)] };

  test("the period before is one more line, as long as the other", () => {
    expect(linesOf("calls", { series, compare })).toEqual([
      { name: "Calls", values: [1, 2, 3] },
      { name: "Period before", values: [4, 5, null], isBefore: true },
    ]);
    expect(linesOf("calls", { series })).toHaveLength(1);
  });

  test("where nothing was measured there is a gap, not a zero", () => {
    expect(linesOf("first", { series, compare }).map(({ name, values }) => [name, values])).toEqual([
      ["Median", [10, null, 10]],
      ["95 of 100 within", [20, null, 20]],
      ["Median, period before", [10, 10, null]],
    ]);
    expect(linesOf("tokens", { series }).map(({ values }) => values[0])).toEqual([10, 3]);
  });

  test("each figure is short at the axis and whole above the lines", () => {
    const format = formatFor({ locale: "en-US", zone: "UTC" });
    expect(METRICS.spend.text(41_234_567_890, format)).toBe("$41.2K");
    expect(METRICS.spend.exact(41_234_567_890, format)).toBe("$41,234.56789");
    expect(METRICS.calls.exact(41_234, format)).toBe("41,234");
  });
});

test.each([
  [0, null, "over"],
  [-1, 3, "over"],
  [5, 6.9, "near"],
  [5, 7, "fine"],
  [5, null, "fine"],
])("credit of %i that lasts %s days is %s", (available, days, state) => {
  expect(creditState(available, days)).toBe(state);
});

describe("what needs somebody leads to", () => {
  const finding = (kind: Finding["kind"], type: Finding["subject"]["type"], details = {}): Finding => ({
    kind,
    severity: "warning",
    title: "",
    subject: { type, id: "id_1", name: "" },
    since: null,
    details,
  });

  test.each([
    [finding("credit_low", "org"), { to: ["credits"] }],
    [finding("auto_topup_failed", "mandate"), { to: ["billing", "auto"] }],
    [finding("subscription_past_due", "org"), { to: ["billing"] }],
    [finding("budget_near", "key"), { to: ["keys", "id_1"] }],
    [
      finding("budget_used_up", "project"),
      { to: ["overview"], filters: { project_id: "id_1", range: "30d" } },
    ],
    [finding("budget_used_up", "org"), { to: ["overview"], filters: { range: "30d", by: "key" } }],
    [finding("key_expiring", "key"), { to: ["keys", "id_1"] }],
    [finding("endpoint_down", "endpoint", { model: "acme/a" }), { to: ["models", "acme", "a"] }],
    [finding("endpoint_down", "endpoint"), undefined],
    [finding("canary_red", "policy"), { to: ["policies", "id_1", "reports"] }],
    [finding("webhook_failing", "webhook"), { to: ["webhooks", "id_1"] }],
    [finding("job_given_up", "job"), undefined],
  ])("the page of %o", (each, place) => expect(placeOf(each)).toEqual(place));
});
