/** Bills of providers: what is read of each export, what is refused and where, and what a comparison says. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { providerUsage } from "../../../../src/analytics/usage/provider-usage.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import type { BillFormat, BillLine } from "../../../../src/billing/provider-bills/formats.ts";
import { compareBill, type Recorded } from "../../../../src/billing/provider-bills/provider-bill.ts";
import { providerBillOperations } from "../../../../src/billing/provider-bills/provider-bill-operations.ts";
import { MOST_LINES, readCsv, readJson } from "../../../../src/billing/provider-bills/reader.ts";
import { microOf } from "../../../../src/billing/provider-bills/values.ts";

const all = async (lines: AsyncIterable<BillLine>): Promise<BillLine[]> => {
  const found: BillLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
};
const csv = (text: string, format: BillFormat = "plain") => all(readCsv(format, text));
const json = (value: unknown, format: BillFormat) => all(readJson(format, JSON.stringify(value)));

describe("a bill is read", () => {
  test("from CSV of our own shape, quotes, a byte order mark and line ends of Windows included", async () => {
    const text =
      '\uFEFFday,model,input_tokens,output_tokens,cache_read_tokens,cost_usd\r\n2026-11-01,"gpt-5.4-mini",1000,200,100,0.0123456\r\n\r\n2026-11-02,gpt-5.4-mini,5,,,\r\n';
    expect(await csv(text)).toMatchObject([
      {
        day: "2026-11-01",
        model: "gpt-5.4-mini",
        requests: null,
        inputTokens: 1000,
        outputTokens: 200,
        cacheReadTokens: 100,
        costMicroUsd: 12_346,
      },
      { day: "2026-11-02", inputTokens: 5, outputTokens: null, costMicroUsd: null },
    ]);
  });

  test.each([
    ["Unix", "\n"],
    ["Windows", "\r\n"],
    ["old Macs, which a spreadsheet still writes", "\r"],
  ])("from a large CSV with line ends of %s", async (_, end) => {
    const lines = await csv(
      `day,model,input_tokens${end}${`2026-11-01,"gpt-5.4-mini",1${end}`.repeat(5000)}`,
    );
    expect(lines).toHaveLength(5000);
  });

  test("from OpenAI's usage and costs", async () => {
    const bucket = (results: object[]) => ({
      object: "page",
      has_more: false,
      next_page: null,
      data: [{ object: "bucket", start_time: 1_793_491_200, end_time: 1_793_577_600, results }],
    });
    const usage = {
      object: "organization.usage.completions.result",
      input_tokens: 1000,
      output_tokens: 500,
      input_cached_tokens: 800,
      num_model_requests: 5,
      project_id: null,
      model: "gpt-5.4-mini",
    };
    const cost = {
      object: "organization.costs.result",
      amount: { value: 0.06, currency: "usd" },
      line_item: "gpt-5.4-mini, input",
      project_id: null,
    };
    expect(await json(bucket([usage, cost]), "openai")).toMatchObject([
      { day: "2026-11-01", model: "gpt-5.4-mini", requests: 5, inputTokens: 1000, cacheReadTokens: 800 },
      { day: "2026-11-01", model: "gpt-5.4-mini", inputTokens: null, costMicroUsd: 60_000 },
    ]);
  });

  test("from Anthropic's usage and cost reports, whose prompts leave out what is cached", async () => {
    const report = {
      data: [
        {
          starting_at: "2026-11-01T00:00:00Z",
          ending_at: "2026-11-02T00:00:00Z",
          results: [
            {
              uncached_input_tokens: 100,
              cache_read_input_tokens: 20,
              output_tokens: 7,
              cache_creation: { ephemeral_1h_input_tokens: 3, ephemeral_5m_input_tokens: 4 },
              model: "claude-haiku-4-5",
            },
            { currency: "USD", amount: "123.78912", model: "claude-haiku-4-5" },
          ],
        },
      ],
      has_more: false,
      next_page: null,
    };
    expect(await json(report, "anthropic")).toMatchObject([
      { inputTokens: 127, outputTokens: 7, cacheReadTokens: 20, cacheWriteTokens: 7 },
      { costMicroUsd: 1_237_891, inputTokens: null },
    ]);
  });

  test("in amounts without a float: each decimal is the micro-USD that it states", () => {
    const at = { line: 1, column: "cost_usd" };
    expect(["0.0000005", "0.00000049", "999999999.999999", "1"].map((text) => microOf(text, at))).toEqual([
      1, 0, 999_999_999_999_999, 1_000_000,
    ]);
    fc.assert(
      fc.property(fc.nat({ max: 999_999 }), fc.nat({ max: 999_999 }), (whole, part) => {
        expect(microOf(`${whole}.${String(part).padStart(6, "0")}`, at)).toBe(whole * 1e6 + part);
      }),
    );
  });
});

describe("a wrong bill is refused with its line and column", () => {
  const HEAD = "day,model,input_tokens,cost_usd\n";
  test.each([
    ["a formula", `${HEAD}2026-11-01,=HYPERLINK("x"),1,1\n`, 2, "all"],
    ["a formula in quotes", `${HEAD}2026-11-01,"=1+1",1,1\n`, 2, "model"],
    ["a formula of another kind", `${HEAD}2026-11-01,gpt,1,1\n2026-11-01,@SUM,1,1\n`, 3, "model"],
    ["a negative count", `${HEAD}2026-11-01,gpt,-1,1\n`, 2, "input_tokens"],
    ["a huge count", `${HEAD}2026-11-01,gpt,${"9".repeat(16)},1\n`, 2, "input_tokens"],
    ["a count with an exponent", `${HEAD}2026-11-01,gpt,1e9,1\n`, 2, "input_tokens"],
    ["an amount with a comma", `${HEAD}2026-11-01,gpt,1,"1,000"\n`, 2, "cost_usd"],
    ["an amount that is none", `${HEAD}2026-11-01,gpt,1,NaN\n`, 2, "cost_usd"],
    ["a day that is none", `${HEAD}2026-02-30,gpt,1,1\n`, 2, "day"],
    ["a day in another order", `${HEAD}11/01/2026,gpt,1,1\n`, 2, "day"],
    ["an unknown column", "day,model,tokens\n", 1, "3"],
    ["a column twice", "day,day,model,cost_usd\n", 1, "2"],
    ["no column of days", "model,cost_usd\n", 1, "day"],
    ["no column of tokens or cost", "day,model\n", 1, "cost_usd"],
    ["a line that is too short", `${HEAD}2026-11-01,gpt,1\n`, 2, "all"],
    ["an open quote", `${HEAD}2026-11-01,"gpt,1,1\n`, 2, "all"],
    ["an endless field", `${HEAD}2026-11-01,${"a".repeat(30_000)},1,1\n`, 2, "all"],
    ["a line of nothing but commas", `${HEAD}\n\n${",".repeat(70_000)}`, 4, "all"],
    ["nothing", "\n\n", 1, "all"],
  ])("%s", async (_, text, line, column) => {
    const error = await csv(text).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(WeirError);
    expect(error).toMatchObject({ kind: "invalid_value", details: { line, column } });
  });

  test.each([
    ["no list", { data: 1 }, "data"],
    ["a page of several", { data: [], has_more: true }, "has_more"],
    [
      "another currency",
      { data: [{ start_time: 1, results: [{ amount: { value: 1, currency: "eur" } }] }] },
      "currency",
    ],
    [
      "a currency that is no text",
      { data: [{ results: [{ currency: { toString: 1, valueOf: 1 } }] }] },
      "currency",
    ],
    [
      "a text for a number",
      { data: [{ start_time: 1, results: [{ input_tokens: "many" }] }] },
      "input_tokens",
    ],
    ["no day", { data: [{ results: [{ input_tokens: 1 }] }] }, "start_time"],
    ["a prototype", { data: [{ start_time: 1, results: [{ model: "__proto__" }] }] }, "model"],
  ])("JSON: %s", async (_, value, column) => {
    await expect(json(value, "openai")).rejects.toMatchObject({ kind: "invalid_value", details: { column } });
  });

  test("more lines than a bill has", async () => {
    const line = "2026-11-01,gpt,1,1\n";
    await expect(csv(HEAD + line.repeat(MOST_LINES + 1))).rejects.toMatchObject({ kind: "invalid_value" });
  });
});

test("reading a large bill leaves room for other work", async () => {
  const text = `day,model,input_tokens,cost_usd\n${"2026-11-01,gpt-5.4-mini,1000,0.001\n".repeat(50_000)}`;
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await csv(text)).toHaveLength(50_000);
  isOver = true;
  // One for each piece of the file.
  expect(turns).toBeGreaterThan(30);
});

const recorded = (changes: Partial<Recorded>): Recorded => ({
  day: "2026-11-01",
  endpointId: "openai/mini",
  upstreamModel: "gpt-5.4-mini",
  requests: 1,
  inputTokens: 1000,
  outputTokens: 100,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicroUsd: 500,
  unpriced: 0,
  estimated: 0,
  ...changes,
});

describe("a comparison", () => {
  const compare = async (text: string, rows: readonly Recorded[], toleranceBps = 50) => {
    const asked: string[][] = [];
    const usage = async (...args: [string, string, string]) => {
      asked.push(args);
      return { rows, missingSinceMs: undefined };
    };
    const { rows: found } = await compareBill(readCsv("plain", text), {
      provider: "openai",
      toleranceBps,
      usage,
    });
    return { asked, found };
  };
  const HEAD = "day,model,input_tokens,output_tokens,cost_usd\n";

  test("matches by day and model, and asks for the days of the bill", async () => {
    const text = `${HEAD}2026-11-01,gpt-5.4-mini,600,60,0.0003\n2026-11-01,gpt-5.4-mini,400,40,0.0001\n2026-11-30,gpt-5.4-mini,7,0,0\n`;
    const { asked, found } = await compare(text, [recorded({})]);
    expect(asked).toEqual([["openai", "2026-11-01", "2026-12-01"]]);
    expect(found.find(({ day }) => day === "2026-11-01")).toMatchObject({
      kind: "matched",
      model: "gpt-5.4-mini",
      billed: { inputTokens: 1000, costMicroUsd: 400 },
      drift: { inputTokens: 0, costMicroUsd: -100, requests: null },
    });
  });

  test("tells drift both ways, unbilled and unrecorded traffic, and calls without a price", async () => {
    const text = `${HEAD}2026-11-01,gpt-5.4-mini,1100,100,0\n2026-11-01,gpt-5.4,900,100,0\n2026-11-01,sora,9,9,1\n`;
    const { found } = await compare(text, [
      recorded({}),
      recorded({ upstreamModel: "gpt-5.4", unpriced: 3 }),
      recorded({ upstreamModel: "o9" }),
    ]);
    expect(
      Object.fromEntries(found.map(({ model, kind, drift }) => [model, [kind, drift.inputTokens]])),
    ).toEqual({
      "gpt-5.4-mini": ["drift", 100],
      "gpt-5.4": ["drift", -100],
      sora: ["unrecorded", 9],
      o9: ["unbilled", -1000],
    });
    expect(found[0]?.model).toBe("sora");
    expect(found.find(({ model }) => model === "gpt-5.4")?.unpriced).toBe(3);
  });

  test("finds a model by its name without the date, and an endpoint by its id", async () => {
    const text =
      "day,endpoint,model,input_tokens\n2026-11-01,,gpt-5.4-mini-2026-03-01,1000\n2026-11-01,own/x,,5\n";
    const rows = [recorded({}), recorded({ endpointId: "own/x", inputTokens: 5 })];
    const { found } = await compare(text, rows);
    expect(found.map(({ model, kind, drift }) => [model, kind, drift.inputTokens]).sort()).toEqual([
      ["gpt-5.4-mini", "matched", 0],
      ["own/x", "matched", 0],
    ]);
  });

  test("tolerates what it is told to", async () => {
    const text = `${HEAD}2026-11-01,gpt-5.4-mini,1005,100,0\n`;
    expect((await compare(text, [recorded({})])).found[0]?.kind).toBe("matched");
    expect((await compare(text, [recorded({})], 10)).found[0]?.kind).toBe("drift");
  });

  test.each([
    ["too many days", `${HEAD}2026-01-01,gpt,1,1,1\n2026-11-01,gpt,1,1,1\n`],
    ["sums that are not exact", HEAD + "2026-11-01,gpt,999999999999999,1,1\n".repeat(10)],
    ["no lines", HEAD],
  ])("refuses a bill of %s", async (_, text) => {
    await expect(compare(text, [])).rejects.toMatchObject({ kind: "invalid_value" });
  });
});

test.each([
  ["before the bill's period", "2026-09-01T00:00:00.000Z", true],
  ["within it", "2026-11-30T23:59:59.999Z", true],
  ["on the day behind it, when calls of its last day ended", "2026-12-01T23:59:59.999Z", true],
  ["after that day", "2026-12-02T00:00:00.000Z", false],
  ["never", undefined, false],
])("a comparison says from when on calls may be missing, if that is %s", async (_, since, isSaid) => {
  const usage = providerUsage({
    clickhouse: { rows: async () => [] },
    waitForInserts: async () => (since === undefined ? undefined : Date.parse(since)),
  });
  const { operatorCheckProviderBill: check } = providerBillOperations({ usage });
  const csv = "day,model,input_tokens\n2026-11-01,gpt-5.4-mini,5\n2026-11-30,gpt-5.4-mini,5\n";
  const body = check.body?.parse({ provider: "openai", csv }) as never;
  const answer = check.output.parse(
    await check.run({ body, params: undefined, query: undefined }, {} as never, {} as never),
  );
  expect(answer).toMatchObject({ counts: { unrecorded: 2 } });
  expect(answer.incomplete_since).toBe(isSaid ? since : undefined);
});

test("the operation takes one file, and adds up its totals", async () => {
  const { operatorCheckProviderBill: check } = providerBillOperations({
    usage: async () => ({ rows: [recorded({})], missingSinceMs: undefined }),
  });
  const run = (body: object) =>
    check.run(
      { body: check.body?.parse(body) as never, params: undefined, query: undefined },
      {} as never,
      {} as never,
    );
  const bill = "day,model,input_tokens,output_tokens,cost_usd\n2026-11-01,gpt-5.4-mini,1000,100,0.0004\n";
  expect(check.output.parse(await run({ provider: "openai", csv: bill }))).toMatchObject({
    counts: { matched: 1, drift: 0, unbilled: 0, unrecorded: 0 },
    totals: {
      billed: { input_tokens: 1000, requests: null },
      recorded: { requests: 1 },
      drift: { cost_micro: -100 },
    },
    complete: true,
  });
  for (const body of [{ provider: "openai" }, { provider: "openai", csv: bill, json: "[]" }])
    await expect(run(body)).rejects.toMatchObject({ kind: "invalid_value" });
});
