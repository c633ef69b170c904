/**
 * What providers bill beside tokens: sent on the platform's credential where the endpoint has a price for it, held and
 * charged as lines; also options for one provider, and tiers by translation.
 */
import { describe, expect, test } from "vitest";
import {
  ask,
  type DialectName,
  type FormatName,
  gateway,
  isStreamed,
  type Json,
  PRICE,
  startExtras,
  type Told,
  toldOf,
  tool,
} from "./fixtures.ts";

startExtras();

describe("options for one provider", () => {
  const strange = { nested: 1 };
  test.each<readonly [FormatName, DialectName, Json, string]>([
    ["chat", "chat", { service_tier: "priority" }, "service_tier"],
    ["generate", "chat", { web_search_options: {} }, "web_search_options"],
    ["chat", "messages", { speed: "fast" }, "speed"],
    ["messages", "messages", { inference_geo: "us" }, "inference_geo"],
    ["chat", "converse", { serviceTier: { type: "priority" } }, "serviceTier"],
    ["chat", "converse", { performanceConfig: { latency: "optimized" } }, "performanceConfig"],
    [
      "chat",
      "converse",
      { additionalModelRequestFields: { anthropic_beta: ["context-1m-2025-08-07"] } },
      "additionalModelRequestFields",
    ],
    ["chat", "gemini", { serviceTier: "priority" }, "serviceTier"],
    ["chat", "gemini", { service_tier: "flex" }, "service_tier"],
    ["generate", "gemini", { cached_content: "cachedContents/x" }, "cached_content"],
  ])("S3: from %s to %s: %j is left out without a price", async (format, dialect, options, name) => {
    const provider = `plain-${dialect}`;
    const answer = await ask(format, provider, {}, { svc: { provider_options: { [provider]: options } } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.sent).not.toHaveProperty(name);
    const at = format === "generate" ? "" : "/svc";
    expect(toldOf(answer).warnings).toContain(`dropped: ${at}/provider_options/${provider}/${name}`);
  });

  test("S3: with a price it is sent and charged, and on an own key it passes; what is not listed passes", async () => {
    const options = { service_tier: "priority", strange };
    const of = (provider: string) => ({
      svc: { provider_options: { [provider]: options } },
      text: "Hi [[sim tier=priority]]",
    });
    const priced = await ask("generate", "priced-chat", {}, of("priced-chat"));
    expect(priced.sent).toMatchObject(options);
    expect(toldOf(priced).cost.lines).toMatchObject([
      { kind: "input", tier: "priority" },
      { kind: "output", tier: "priority" },
    ]);
    const own = await ask("chat", "own-chat", {}, of("own-chat"));
    expect(own.sent).toMatchObject(options);
  });
});

describe("a tier by translation", () => {
  test.each<readonly [FormatName, DialectName, Json, string]>([
    ["chat", "responses", { service_tier: "priority" }, "service_tier"],
    ["responses", "chat", { service_tier: "flex" }, "service_tier"],
    ["chat", "converse", { service_tier: "priority" }, "serviceTier"],
    ["chat", "gemini", { service_tier: "priority" }, "serviceTier"],
    ["generate", "gemini", { generation: { max_tokens: 50, service_tier: "flex" } }, "serviceTier"],
  ])("S3: from %s to %s", async (format, dialect, members, name) => {
    const plain = await ask(format, `plain-${dialect}`, members);
    expect(plain.status, plain.text).toBe(200);
    expect(plain.sent).not.toHaveProperty(name);
    const pointer = format === "generate" ? "/generation/service_tier" : "/service_tier";
    expect(toldOf(plain).warnings).toContain(`dropped: ${pointer}`);
    const text = `Hi [[sim tier=${JSON.stringify(members).includes("flex") ? "flex" : "priority"}]]`;
    const priced = await ask(format, `priced-${dialect}`, members, { text });
    expect(priced.sent).toHaveProperty(name);
    expect(toldOf(priced).cost.lines[0]).toHaveProperty("tier");
    const own = await ask(format, `own-${dialect}`, members);
    expect(own.sent).toHaveProperty(name);
  });
});

const unitsOf = ({ cost }: Told) =>
  cost.lines.map(({ kind, units, tool, tier, unit_price_nano }) => ({
    kind,
    units,
    ...(tool !== undefined && { tool }),
    ...(tier !== undefined && { tier }),
    unit_price_nano,
  }));

describe.each(isStreamed)("%s, with a price", (_, stream) => {
  test("S3: ten Anthropic searches are charged as ten, and not as 35 micro-USD of tokens", async () => {
    const members = { ...tool("web_search_20250305", { name: "web_search", max_uses: 10 }), ...stream };
    const text = 'Hi [[sim uses={"web_search":10,"web_fetch":2}]]';
    const answer = await ask("messages", "priced-messages", members, { text });
    expect(answer.sent).toMatchObject({ tools: [{ type: "web_search_20250305", max_uses: 10 }] });
    const told = toldOf(answer);
    expect(told.warnings).toEqual([]);
    expect(told.cost.lines).toContainEqual({
      kind: "server_tool",
      tool: "web_search",
      units: 10,
      unit_price_nano: 10_000_000,
      micro_usd: 100_000,
    });
    expect(told.cost.lines).toContainEqual(
      expect.objectContaining({ kind: "server_tool", tool: "web_fetch", units: 2, micro_usd: 0 }),
    );
    expect(told.cost.total_micro_usd).toBeGreaterThan(100_000);
  });

  test("S3: searches and code of responses", async () => {
    const members = {
      tools: [{ type: "web_search" }, { type: "code_interpreter", container: { type: "auto" } }],
      ...stream,
    };
    const text = 'Hi [[sim uses={"web_search":3,"code_interpreter":1}]]';
    const told = toldOf(await ask("responses", "priced-responses", members, { text }));
    expect(unitsOf(told).slice(2)).toEqual([
      { kind: "server_tool", tool: "web_search", units: 3, unit_price_nano: 10_000_000 },
      { kind: "server_tool", tool: "code_interpreter", units: 1, unit_price_nano: 30_000_000 },
    ]);
  });

  test("S3: a search of chat, of which no count is reported, is charged as one", async () => {
    const told = toldOf(await ask("chat", "priced-chat", { web_search_options: {}, ...stream }));
    expect(told.cost.lines).toContainEqual(
      expect.objectContaining({ tool: "web_search_options", units: 1, micro_usd: 25_000 }),
    );
  });

  test.each<readonly [FormatName & DialectName, Json, string, string | undefined]>([
    ["chat", { service_tier: "priority" }, "tier=priority", "priority"],
    ["chat", { service_tier: "priority" }, "tier=default", undefined],
    ["chat", { service_tier: "flex" }, "tier=flex", "flex"],
    ["responses", { service_tier: "priority" }, "tier=priority", "priority"],
    ["responses", { service_tier: "fast" }, "tier=priority", "priority"],
    ["responses", { service_tier: "priority" }, "tier=default", undefined],
    // Nothing is reported: the tier that was asked for counts.
    ["messages", { speed: "fast" }, "tokens=5", "fast"],
    ["messages", { speed: "fast" }, "speed=standard", undefined],
    ["messages", { inference_geo: "us" }, "geo=us", "us"],
    ["messages", { speed: "fast", inference_geo: "us" }, "speed=fast geo=us", "fast+us"],
    // The account's own setting may be dearer than what was asked for.
    ["messages", {}, "geo=us", "us"],
  ])("S3: %s: %j, and the answer says %s", async (format, members, says, tier) => {
    const answer = await ask(
      format,
      `priced-${format}`,
      { ...members, ...stream },
      { text: `Hi [[sim ${says}]]` },
    );
    const { lines } = toldOf(answer).cost;
    const nano =
      tier === undefined
        ? 1000
        : Math.round((PRICE.tiers[tier as keyof typeof PRICE.tiers].input ?? 0) * 1000);
    expect(lines[0]).toMatchObject({ kind: "input", unit_price_nano: nano });
    expect(lines.map((line) => line.tier)).toEqual([tier, tier]);
  });

  test("S3: what is reported and has no price is told, never silently free", async () => {
    const text = 'Hi [[sim uses={"web_search":2} geo=us]]';
    const { warnings } = toldOf(await ask("messages", "plain-messages", stream, { text }));
    expect(warnings).toEqual(expect.arrayContaining(["unpriced: us", "unpriced: web_search (2)"]));
    const { text: metrics } = await gateway.call("GET", "/metrics");
    expect(Number(/^weir_unpriced_reports_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(2);
  });
});

test("S3: a tool that a later price list prices alone is sent by itself; of tiers without a price together, one", async () => {
  const both = await ask("messages", "priced-messages", {
    tools: [
      { type: "web_search_20250305", name: "web_search" },
      { type: "advisor_20260301", name: "advisor", model: "m" },
    ],
  });
  expect(both.sent.tools).toEqual([{ type: "web_search_20250305", name: "web_search" }]);
});

test("S3: the record of a call has tool and tier on its lines", async () => {
  const answer = await ask(
    "messages",
    "priced-messages",
    { speed: "fast", ...tool("web_search_20250305", { name: "web_search" }) },
    { text: 'Hi [[sim uses={"web_search":1} speed=fast]]' },
  );
  const id = answer.headers.get("x-svc-request-id");
  const { json } = await gateway.call("GET", `/v1/generation/${id}`);
  expect(json.cost.lines).toEqual(toldOf(answer).cost.lines);
  expect(json.cost.lines).toMatchObject([{ tier: "fast" }, { tier: "fast" }, { tool: "web_search" }]);
});

describe("money", () => {
  const spent = async (act: () => Promise<unknown>): Promise<number> => {
    const before = (await gateway.balance()).available;
    await act();
    return before - (await gateway.balance()).available;
  };

  test("S3: the ledger has what the lines say, and nothing stays held", async () => {
    const members = tool("web_search_20250305", { name: "web_search", max_uses: 2 });
    let told: Told | undefined;
    const micro = await spent(async () => {
      const text = 'Hi [[sim uses={"web_search":2}]]';
      told = toldOf(await ask("messages", "priced-messages", members, { text }));
    });
    expect(micro).toBe(told?.cost.total_micro_usd);
    expect(micro).toBeGreaterThan(20_000);
    expect((await gateway.balance()).held).toBe(0);
  });

  test("S3: more uses than are held are charged all the same; a stream extends its hold first", async () => {
    const members = tool("web_search_20250305", { name: "web_search", max_uses: 1 });
    const asking = { text: 'Hi [[sim uses={"web_search":40}]]' };
    const whole = toldOf(await ask("messages", "priced-messages", members, asking));
    expect(whole.cost.lines).toContainEqual(expect.objectContaining({ units: 40, micro_usd: 400_000 }));
    expect(whole.warnings).toEqual(["reserve_exceeded"]);
    const streamed = toldOf(await ask("messages", "priced-messages", { ...members, stream: true }, asking));
    expect(streamed.cost.lines).toContainEqual(expect.objectContaining({ units: 40, micro_usd: 400_000 }));
    expect(streamed.warnings).toEqual([]);
  });

  test("S3: a call that cannot pay for its tools is refused before the upstream", async () => {
    const members = tool("web_search_20250305", { name: "web_search", max_uses: 1_000_000 });
    const answer = await ask("messages", "priced-messages", members);
    expect([answer.status, answer.calls], answer.text).toEqual([402, 0]);
  });
});
