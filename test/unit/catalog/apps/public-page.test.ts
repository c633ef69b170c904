/** An app's page for people: what it says, and that what tenants wrote is text. */
import { describe, expect, test } from "vitest";
import type { AppPage } from "../../../../src/catalog/apps/app-page.ts";
import { categoryWords, publicPage } from "../../../../src/catalog/apps/public-page.ts";

const HOSTILE = `<script>alert(1)</script>" onload='x' ](javascript:x)`;

const day = (at: number, tokens: number) => ({
  day: `2026-11-${String(at + 1).padStart(2, "0")}`,
  tokens,
  requests: tokens / 100,
});
const page: AppPage = {
  slug: "acme-chat",
  name: "Acme Chat",
  category: "customer_support",
  tokens_30d: 1_234_500,
  requests_30d: 12_345,
  models: [
    { id: "weir/sim-small", tokens: 1_230_000, requests: 12_300 },
    { id: "weir/sim-large", tokens: 4_500, requests: 45 },
  ],
  trend: Array.from({ length: 30 }, (_, at) => day(at, at * 100)),
  analytics: true,
  generated_at: "2026-11-30T12:34:56.000Z",
};
const textOf = (change: Partial<AppPage> = {}, address = "https://weir.example") =>
  publicPage({ page: { ...page, ...change }, address });

describe("an app's page", () => {
  test("says figures, days, models, and how its badge is shown elsewhere", () => {
    const text = textOf();
    for (const said of [
      "1,234,500",
      "12,345",
      "Customer support",
      "100 %",
      "under 1 %",
      "2026-11-30 12:34 UTC",
    ])
      expect(text).toContain(said);
    expect(text).toContain(
      "[![Acme Chat](https://weir.example/v1/apps/acme-chat/badge)](https://weir.example/v1/apps/acme-chat/public)",
    );
    expect(text).toContain("&lt;a href=&quot;https://weir.example/v1/apps/acme-chat/public&quot;&gt;");
  });

  test("has a bar for each day, the busiest as high as the drawing, one without use without height", () => {
    const heights = [...textOf().matchAll(/<rect [^>]*height="([\d.]+)"/g)].map(([, height]) =>
      Number(height),
    );
    expect(heights).toHaveLength(30);
    expect([heights[0], heights.at(-1), Math.max(...heights)]).toEqual([0, 120, 120]);
    expect(heights[1]).toBeGreaterThan(2);
  });

  test("draws days without any use", () => {
    const text = textOf({
      tokens_30d: 0,
      models: [],
      trend: page.trend.map(({ day }) => ({ day, tokens: 0, requests: 0 })),
    });
    expect(text).not.toMatch(/NaN|Infinity/);
    expect(text).not.toContain("Models that it uses");
  });

  test("says that there are no figures, and which ones are old", () => {
    expect(textOf({ trend: [], models: [], analytics: false })).toContain("No figures are shown now");
    expect(textOf({ analytics: false })).toContain("newer figures could not be read");
  });

  test("takes what tenants wrote as text", () => {
    const models = [{ id: HOSTILE, tokens: 1, requests: 1 }];
    const text = textOf({ name: HOSTILE, category: HOSTILE, models });
    expect(text).not.toMatch(/<script|onload='|" onload/);
    // In Markdown, a bracket of the name ends no link.
    expect(text).toContain("\\](javascript:x)](https://weir.example");
  });

  test("words of a category", () => {
    expect(["image_video", "other"].map(categoryWords)).toEqual(["Image video", "Other"]);
  });
});
