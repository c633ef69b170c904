/** Filters of an address, which may hold anything, as a question that the API takes. */
import { expect, test } from "vitest";
import { chosenFilters, questionOf } from "../../../console/pages/requests/feed-filters.ts";

const NOW = Date.parse("2026-11-30T12:00:30.000Z");
const asked = (query: string) => questionOf(chosenFilters(new URLSearchParams(query)), NOW, "Asia/Kolkata");

test.each([
  ["", {}],
  ["within=24h", { since: "2026-11-29T12:00:00.000Z" }],
  ["within=90d", { since: "2026-09-01T12:00:00.000Z" }],
  [
    "within=custom&from=2026-11-01&to=2026-11-03",
    { since: "2026-10-31T18:30:00.000Z", until: "2026-11-03T18:30:00.000Z" },
  ],
  ["within=custom&from=2026-11-01", { since: "2026-10-31T18:30:00.000Z" }],
  ["app_id=notebook", { app_id: "notebook" }],
  ["status=failed&fallbacks=true", { errors_only: "true", fallbacks_only: "true" }],
  ["status=ok&model=weir/sim-small&key_id=key_1", { status: "ok", model: "weir/sim-small", key_id: "key_1" }],
  ["min_usd=0.25", { min_cost_micro: 250_000 }],
  ["q=01abc", { q: "01ABC" }],
])("%j", (query, question) => expect(asked(query)).toEqual(question));

test.each([
  "within=eternity",
  "within=custom&from=2026-02-30&to=tomorrow",
  "from=2026-11-01&to=2026-11-03",
  "status=odd",
  "fallbacks=perhaps",
  "min_usd=much",
  "min_usd=1e300",
  "model=%20",
])("%j asks for nothing", (query) => expect(asked(query)).toEqual({}));

test("a question is the same within a minute, so that a page that draws again does not ask again", () => {
  const filters = chosenFilters(new URLSearchParams("within=1h"));
  expect(questionOf(filters, NOW + 20_000, "UTC")).toEqual(questionOf(filters, NOW, "UTC"));
});

test("what is longer than the API takes is cut", () => {
  expect(asked(`model=${"x".repeat(300)}&q=${"a".repeat(40)}`)).toEqual({
    model: "x".repeat(256),
    q: "A".repeat(26),
  });
});
