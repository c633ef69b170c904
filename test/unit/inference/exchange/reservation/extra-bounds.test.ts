/** What a request's extras may cost at an endpoint, and what is charged of them. */
import { describe, expect, test } from "vitest";
import type { Endpoint } from "../../../../../src/base/endpoint.ts";
import type { UnitPrices } from "../../../../../src/base/money.ts";
import { meter } from "../../../../../src/inference/exchange/meter.ts";
import {
  DEFAULT_TOOL_USES,
  dearest,
  extraBound,
} from "../../../../../src/inference/exchange/reservation/extra-bounds.ts";
import { sentOf } from "../../../../../src/wire/extras/sent.ts";
import { sift } from "../../../../../src/wire/extras/sift.ts";
import type { Ask } from "../../../../../src/wire/neutral/asked-extras.ts";
import type { RequestFacts } from "../../../../../src/wire/neutral/contract.ts";

const PRICES: UnitPrices = {
  version: "pv",
  input: 1000,
  output: 2000,
  tiers: { priority: { input: 10_000, output: 20_000 }, flex: { input: 500, output: 1000, cacheRead: 50 } },
  serverTools: { web_search: 10_000_000, web_fetch: 0 },
};
const tier = (name: string): Ask => ({
  kind: "tier",
  aspect: "tier",
  name,
  path: ["service_tier"],
  said: name,
});
const tool = (name: string, uses?: number): Ask => ({
  kind: "tool",
  name,
  path: ["tools", 0],
  said: name,
  isRead: true,
  ...(uses !== undefined && { uses }),
});

describe("a hold", () => {
  test("S3: covers the dearer of the tier and the standard price, which a provider may serve instead", () => {
    expect(extraBound([tier("priority")], PRICES, "platform")).toMatchObject({
      input: 10_000,
      output: 20_000,
    });
    expect(extraBound([tier("flex")], PRICES, "platform")).toMatchObject({ input: 1000, output: 2000 });
    expect(extraBound([tier("scale")], PRICES, "platform")).toMatchObject({ input: 1000, output: 2000 });
    expect(dearest(PRICES, { tier: "priority" })).toEqual({ input: 10_000, output: 20_000 });
  });

  test("S3: covers a tool's price times its bound, and times a default where the request has none", () => {
    const three = extraBound([tool("web_search", 3)], PRICES, "platform");
    expect(three).toMatchObject({ uses: 3, isRead: true });
    expect(three.toolsMicroUsd).toBeGreaterThanOrEqual(30_000);
    const any = extraBound([tool("web_search")], PRICES, "platform");
    expect(any.uses).toBe(DEFAULT_TOOL_USES);
    expect(any.toolsMicroUsd).toBeGreaterThanOrEqual(10_000 * DEFAULT_TOOL_USES);
  });

  test("S3: covers each of two tiers that body and options name", () => {
    const asks = [tier("priority"), { ...tier("flex"), path: ["serviceTier"] as [string] }];
    expect(extraBound(asks, PRICES, "platform")).toMatchObject({ input: 10_000, output: 20_000 });
  });

  test("S3: has nothing of what is not sent", () => {
    const none = { uses: 0, toolsMicroUsd: 0, isRead: false };
    expect(extraBound([tool("advisor", 3), tool("", 3)], PRICES, "platform")).toMatchObject(none);
    // On an org's own key it is sent: what it finds is read, and part of what the fee is a share of.
    expect(extraBound([tool("advisor", 3)], PRICES, "org")).toMatchObject({ uses: 0, isRead: true });
  });
});

describe("a charge", () => {
  const request = { promptTokens: 10, imageCount: 0 } as RequestFacts;
  const endpoint = { prices: PRICES } as Endpoint;
  const usage = {
    inputTokens: 100,
    outputTokens: 10,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
  const facts = { usage, stopReason: "stop", toolCalls: 0, outputBytes: 0, unreportedBytes: 0 };

  test("S3: of a call that was cut off has the uses that were seen", () => {
    const cut = { ...facts, usage: undefined, report: { tiers: {}, uses: { web_search: 4 } } };
    const { cost, source } = meter(
      request,
      endpoint,
      cut,
      undefined,
      undefined,
      sentOf([tool("web_search", 10)], []),
    );
    expect(source).toBe("estimated");
    expect(cost.lines).toContainEqual(
      expect.objectContaining({ kind: "server_tool", units: 4, micro_usd: 40_000 }),
    );
  });

  test("S3: follows the reported tier, and without a report the one that was asked for", () => {
    const lineOf = (report: { tiers: object; uses: object } | undefined) =>
      meter(
        request,
        endpoint,
        { ...facts, report } as typeof facts,
        undefined,
        undefined,
        sentOf([tier("priority")], []),
      ).cost.lines[0];
    expect(lineOf(undefined)).toMatchObject({ tier: "priority", micro_usd: 1000 });
    expect(lineOf({ tiers: { tier: "" }, uses: {} })).toEqual({
      kind: "input",
      units: 100,
      unit_price_nano: 1000,
      micro_usd: 100,
    });
    expect(lineOf({ tiers: { tier: "flex" }, uses: {} })).toMatchObject({ tier: "flex", micro_usd: 50 });
  });

  test("S3: of a tier that is reported and has no price is at the price of the one that was asked for", () => {
    const sent = sentOf([tier("priority")], []);
    const report = { tiers: { tier: "turbo" }, uses: {} };
    const { cost, unpriced } = meter(request, endpoint, { ...facts, report }, undefined, undefined, sent);
    expect(cost.lines[0]).toMatchObject({ tier: "priority", micro_usd: 1000 });
    expect(unpriced).toEqual(["turbo"]);
  });

  test.each([
    ["web_search_preview", "web_search"],
    ["web_search_options", "web_search"],
    ["code_execution", "code_interpreter"],
    ["collections_search", "file_search"],
  ])("S3: of %s, whose uses providers report as %s, has its price", (asked, reported) => {
    const prices: UnitPrices = { ...PRICES, serverTools: { web_search: 1_000_000, [asked]: 25_000_000 } };
    const report = { tiers: {}, uses: { [reported]: 3 } };
    const chargeOf = (...names: readonly string[]) =>
      meter(
        request,
        { prices } as Endpoint,
        { ...facts, report },
        undefined,
        undefined,
        sentOf(
          names.map((name) => ({ ...tool(name), assumed: 1 })),
          [],
        ),
      );
    expect(chargeOf(asked).cost.lines).toContainEqual(
      expect.objectContaining({ tool: asked, units: 3, micro_usd: 75_000 }),
    );
    expect(chargeOf(asked).unpriced).toBeUndefined();
    // Which of both was used is not told.
    if (reported === "web_search")
      expect(chargeOf("web_search", asked).cost.lines).toContainEqual(
        expect.objectContaining({ tool: asked, units: 3 }),
      );
  });

  test("S3: names what is reported and has no price, but for an own key, whose provider bills the org", () => {
    const strange = { ...facts, report: { tiers: { geo: "us" }, uses: { advisor: 2, constructor: 1 } } };
    const said = ["us", "advisor (2)", "constructor (1)"];
    expect(meter(request, endpoint, strange).unpriced).toEqual(said);
    expect(meter(request, endpoint, strange, undefined, { bps: 500, microUsdPerRequest: 0 }).unpriced).toBe(
      undefined,
    );
  });
});

test("S3: of tiers that have no price together the first is sent; with an unknown one among them too", () => {
  const speed: Ask = { kind: "tier", aspect: "speed", name: "fast", path: ["speed"], said: "fast" };
  const { kept, dropped } = sift([tier("priority"), speed], PRICES, "platform");
  expect([kept, dropped]).toEqual([[tier("priority")], [speed]]);
  const unknown: Ask = { ...speed, name: "" };
  expect(sift([tier("priority"), unknown], PRICES, "platform").kept).toEqual([tier("priority")]);
});
