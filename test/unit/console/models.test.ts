/** What the page "Models" shows of a catalog: search, filters, order, days of endpoints, data policies in words. */
import { describe, expect, test } from "vitest";
import {
  comparedIds,
  type Model,
  nextSort,
  shownModels,
  vendorsOf,
  wantedOf,
} from "../../../console/pages/models/catalog.ts";
import { dataPolicyText } from "../../../console/pages/models/data-policy.ts";
import { dayLines } from "../../../console/pages/models/days.ts";

const NOTHING = {
  tools: false,
  json_schema: false,
  vision: false,
  audio: false,
  reasoning: false,
  cache: false,
  zdr: false,
  no_train: false,
};

function model(id: string, changes: Partial<Model> = {}): Model {
  const [vendor = ""] = id.split("/");
  return {
    id,
    object: "model",
    created: 0,
    owned_by: vendor,
    vendor,
    name: id.toUpperCase(),
    task: "generate",
    modalities: { in: ["text"], out: ["text"] },
    context_length: 1000,
    max_output: 100,
    pricing_from: { input: 1, output: 2, cache_read: 0.5 },
    endpoints: 1,
    status: "active",
    markup_bps: 0,
    capabilities: NOTHING,
    uptime_30d: 1,
    ttft_p50_ms: 0,
    requests_7d: 0,
    ...changes,
  };
}

const MODELS = [
  model("acme/big", { pricing_from: { input: 9, output: 9, cache_read: 9 }, ttft_p50_ms: 400 }),
  model("acme/small", { capabilities: { ...NOTHING, tools: true, vision: true }, aliases: ["tiny"] }),
  model("other/mid", { modalities: { in: ["text", "image"], out: ["text"] }, ttft_p50_ms: 90 }),
];
const ids = (query: string) => shownModels(MODELS, wantedOf(new URLSearchParams(query))).map(({ id }) => id);

describe("the catalog", () => {
  test.each([
    ["", ["acme/big", "acme/small", "other/mid"]],
    ["q= SMALL ", ["acme/small"]],
    ["q=tiny", ["acme/small"]],
    ["vendor=other", ["other/mid"]],
    ["modality=image", ["other/mid"]],
    ["can=tools,vision", ["acme/small"]],
    ["can=tools,zdr", []],
    ["can=flight", ["acme/big", "acme/small", "other/mid"]],
    ["sort=input", ["acme/small", "other/mid", "acme/big"]],
    ["sort=-input", ["acme/big", "acme/small", "other/mid"]],
    // What is not measured comes last, whichever way round.
    ["sort=first", ["other/mid", "acme/big", "acme/small"]],
    ["sort=-first", ["acme/big", "other/mid", "acme/small"]],
    ["sort=toString", ["acme/big", "acme/small", "other/mid"]],
  ])("of the address %s", (query, expected) => expect(ids(query)).toEqual(expected));

  test("a second click on a column turns its order round, and a third back", () => {
    const clicked = (sort: string) => nextSort("context", wantedOf(new URLSearchParams({ sort })));
    expect([clicked("name"), clicked("context"), clicked("-context")]).toEqual([
      "context",
      "-context",
      "context",
    ]);
    expect(wantedOf(new URLSearchParams("sort=context")).isDescending).toBe(true);
  });

  test("vendors are named once, and at most four models are compared", () => {
    expect(vendorsOf(MODELS)).toEqual(["acme", "other"]);
    expect(comparedIds(new URLSearchParams("compare=a,b,,a,c,d,e"))).toEqual(["a", "b", "c", "d"]);
    expect(comparedIds(new URLSearchParams(""))).toEqual([]);
  });
});

describe("days of endpoints", () => {
  const day = (endpoint: string, date: string, attempts: number, first: number) => ({
    endpoint_id: endpoint,
    day: date,
    attempts,
    ok: attempts / 2,
    ttft_p50_ms: first,
    ttft_p95_ms: 0,
    tpot_p50_ms: 0,
  });
  const series = [
    day("a", "2026-11-28", 4, 100),
    day("a", "2026-11-30", 4, 0),
    day("b", "2026-11-30", 100, 300),
    ...["c", "d", "e"].map((id) => day(id, "2026-11-01", 1, 1)),
  ];
  const lines = (figure: Parameters<typeof dayLines>[1]) =>
    dayLines(series, figure, "2026-11-30", (id) => `endpoint ${id}`);

  test("thirty days end today; what was not measured is a gap", () => {
    const { times, lines: shown, leftOut } = lines("first");
    expect([times.length, times[0], times.at(-1)]).toEqual([
      30,
      "2026-11-01T00:00:00Z",
      "2026-11-30T00:00:00Z",
    ]);
    expect(shown.map(({ name }) => name)).toEqual(["endpoint b", "endpoint a", "endpoint c", "endpoint d"]);
    expect(shown[0]?.values.slice(-3)).toEqual([null, null, 300]);
    expect(shown[1]?.values.slice(-3)).toEqual([100, null, null]);
    expect(leftOut).toBe(1);
  });

  test("a share is one of attempts", () => {
    expect(lines("ok").lines[1]?.values.slice(-3)).toEqual([0.5, null, 0.5]);
    expect(lines("attempts").lines[1]?.values.slice(-3)).toEqual([4, null, 4]);
  });
});

test.each([
  [{ trains: false, retention_days: 0, zdr: true }, "does not train; keeps nothing"],
  [{ trains: true, retention_days: 1, zdr: false }, "trains on prompts; keeps prompts 1 day"],
  [{ trains: false, retention_days: 30, zdr: false }, "does not train; keeps prompts 30 days"],
  [
    { trains: false, retention_days: 36_500, zdr: false },
    "does not train; keeps prompts, with no limit named",
  ],
])("%o in words", (policy, text) => expect(dataPolicyText(policy)).toBe(text));
