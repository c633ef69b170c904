/**
 * Exact money, end to end: whatever the prices, the usage and the order of things, what an answer says it cost is its
 * lines at the catalog's prices, is its ledger entry, is its record; and every sum over them is the same sum.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { nanoFromUsdPerMillion, withMarkup } from "../../../src/base/money.ts";
import {
  type Answer,
  sseData,
  type TestEndpoint,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import {
  allRecords,
  auditedLedger,
  chargesOf,
  idle,
  spendOfKeys,
  spendOfProjects,
  sum,
  usageCost,
} from "../../support/money/fixtures.ts";
import { rest } from "../../support/pace.ts";

const SEED = 20_261_120;
const usd = fc.oneof(
  fc.integer({ min: 1, max: 999 }).map((n) => n / 1000),
  fc.integer({ min: 1, max: 75_000 }).map((n) => n / 1000),
  fc.integer({ min: 1, max: 99 }).map((n) => n / 10_000),
);
const priced = fc.record({
  price: fc.record(
    { input: usd, output: usd, cache_read: usd, cache_write: usd, reasoning: usd },
    { requiredKeys: ["input", "output"] },
  ),
  markup_bps: fc.integer({ min: 0, max: 2500 }),
});
const PRICED = fc.sample(priced, { numRuns: 8, seed: SEED });

/** What each kind of line costs a token at each provider, worked out from the catalog's file and nothing else. */
const UNIT_PRICES = PRICED.map(({ price, markup_bps }) => {
  const nano = (usdPerMillion: number) => withMarkup(nanoFromUsdPerMillion(usdPerMillion), markup_bps);
  return {
    input: nano(price.input),
    output: nano(price.output),
    cache_read: nano(price.cache_read ?? price.input),
    cache_write: nano(price.cache_write ?? price.input),
    reasoning: nano(price.reasoning ?? price.output),
  };
});

/** Calls that fail go to a twin at the same price: the cool-down of one that failed must not starve the others. */
const endpoints: TestEndpoint[] = PRICED.flatMap((entry, i) => [
  { provider: `p${i}`, entry },
  { provider: `fails-p${i}`, entry },
  { provider: `breaks-p${i}`, entry },
]);
const providerOf = ({ provider, ending }: PlannedCall): string =>
  `${ending === "fails" || ending === "breaks" ? `${ending}-` : ""}p${provider}`;

const tokens = fc.oneof(fc.nat(20), fc.nat(3000));
const usage = fc.record({
  prompt: tokens,
  cached: tokens,
  written: tokens,
  completion: tokens,
  reasoning: tokens,
});
const ENDINGS = ["ok", "unreported", "leaves", "leaves_at_once", "breaks", "fails", "refused"] as const;
const call = fc.record({
  provider: fc.nat(PRICED.length - 1),
  caller: fc.nat(3),
  stream: fc.boolean(),
  hidesUsage: fc.boolean(),
  ending: fc.constantFrom("ok" as const, "ok" as const, ...ENDINGS),
  usage,
  length: fc.integer({ min: 1, max: 40 }),
  startsAfterMs: fc.nat(25),
});
type PlannedCall = typeof call extends fc.Arbitrary<infer C> ? C : never;

let gateway: TestGateway;
const callers: { key: string; keyId: string; projectId: string }[] = [];
let testKey = "";

beforeAll(async () => {
  gateway = await testGateway({ engine: true, endpoints, settings: { grant_usd: 500 } });
  testKey = gateway.testKey;
  for (const [i, project] of [0, 0, 1].entries()) {
    const made =
      project === 0
        ? (await gateway.call("GET", "/v1/projects")).json.data[0]
        : (
            await gateway.call("POST", "/v1/projects", {
              body: { slug: "two", name: "Two", environment: "live" },
            })
          ).json;
    const { json } = await gateway.call("POST", "/v1/keys", { body: { name: `k${i}`, project_id: made.id } });
    callers.push({ key: json.secret, keyId: json.id, projectId: made.id });
  }
});
afterAll(() => gateway.stop());

const simulated = ({ ending, usage: u, length }: PlannedCall): object => {
  const reported = {
    prompt_tokens: u.prompt,
    completion_tokens: u.completion,
    prompt_tokens_details: { cached_tokens: u.cached, cache_write_tokens: u.written },
    completion_tokens_details: { reasoning_tokens: u.reasoning },
  };
  switch (ending) {
    case "unreported":
      return { tokens: length, usage: "none" };
    case "leaves":
    case "leaves_at_once":
      return { tokens: 400, gap_ms: 2, usage: reported };
    case "breaks":
      return { tokens: 60, usage: reported, fault: "reset_mid", after: 3 + length };
    case "fails":
      return { status: [400, 429, 500, 503][length % 4] };
    default:
      return { tokens: length, usage: reported };
  }
};

interface Seen {
  readonly call: PlannedCall;
  readonly requestId: string | undefined;
  /** The cost in the answer, where it came whole. */
  readonly cost?: { total_micro_usd: number; price_version: string; lines: Line[] };
  readonly charged: boolean;
}
interface Line {
  readonly kind: keyof (typeof UNIT_PRICES)[number];
  readonly units: number;
  readonly unit_price_nano: number;
  readonly micro_usd: number;
}

async function perform(planned: PlannedCall): Promise<Seen> {
  await rest(planned.startsAfterMs);
  const caller = callers[planned.caller];
  const leave = new AbortController();
  const body = {
    model: planned.ending === "refused" ? "no/such-model" : "test/model",
    messages: [{ role: "user", content: "What does it cost?" }],
    max_tokens: 500,
    stream: planned.stream,
    ...(planned.hidesUsage && planned.stream && { stream_options: { include_usage: false } }),
    svc: { route: { providers: { only: [providerOf(planned)] }, fallbacks: false } },
    simulator: simulated(planned),
  };
  const charged = caller !== undefined;
  let requestId: string | undefined;
  try {
    if (planned.ending === "leaves_at_once") void rest(planned.length).then(() => leave.abort());
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller?.key ?? testKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: leave.signal,
    });
    requestId = response.headers.get("x-svc-request-id") ?? undefined;
    if (planned.ending === "leaves" && planned.stream) {
      await tokensOf(response, 1 + (planned.length % 10));
      leave.abort();
      return { call: planned, requestId, charged };
    }
    const cost = costOf(planned, response.status, await response.text());
    return { call: planned, requestId, charged, ...(cost && { cost }) };
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    return { call: planned, requestId, charged };
  }
}

/** Reads until so many events beyond the first (which carries only the role) have come. */
async function tokensOf(response: Response, count: number): Promise<void> {
  const reader = response.body?.getReader();
  let text = "";
  while (text.split("\n\n").length < count + 2) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return;
    text += Buffer.from(value as Uint8Array).toString();
  }
}

/** The `svc.cost` of a whole answer; undefined for errors and where the client asked not to see it. */
function costOf({ stream, hidesUsage }: PlannedCall, status: number, text: string): Seen["cost"] {
  if (status !== 200) return undefined;
  if (!stream) return JSON.parse(text).svc.cost;
  const events = sseData(text) as { svc?: { cost: Seen["cost"] }; error?: object }[];
  if (hidesUsage || events.some((e) => e.error !== undefined)) return undefined;
  const last = events.at(-2);
  expect(last?.svc?.cost).toBeDefined();
  return last?.svc?.cost;
}

function checkLines({ call: { provider }, cost }: Seen): void {
  if (cost === undefined) return;
  for (const line of cost.lines) {
    expect(line.unit_price_nano).toBe(UNIT_PRICES[provider]?.[line.kind]);
    expect(line.micro_usd).toBe(Math.floor((line.units * line.unit_price_nano + 500) / 1000));
  }
  expect(cost.total_micro_usd).toBe(sum(cost.lines.map((l) => l.micro_usd)));
}

/** Everything of all runs so far. */
const seen: Seen[] = [];

async function checkBooks(): Promise<void> {
  await idle(gateway);
  const charges = chargesOf(await auditedLedger(gateway));
  for (const one of seen) {
    checkLines(one);
    if (one.requestId === undefined) continue;
    const { json } = await gateway.call("GET", `/v1/generation/${one.requestId}`);
    if (one.cost !== undefined) expect(json.cost).toEqual(one.cost);
    expect(charges.get(one.requestId) ?? 0).toBe(one.charged ? json.cost.total_micro_usd : 0);
    if (one.call.ending === "fails" || one.call.ending === "refused") {
      expect(json.cost).toMatchObject({ total_micro_usd: 0, lines: [] });
    }
  }
}

/** Calls with all their books once more, as the pages show them. */
async function checkSums(): Promise<void> {
  const charges = chargesOf(await auditedLedger(gateway));
  const records = await allRecords(gateway);
  for (const [id, charge] of charges) expect(records.get(id)?.cost_micro).toBe(charge);
  const spentBy = (matches: (i: number) => boolean) =>
    sum(
      [...charges]
        .filter(([id]) => matches(callers.findIndex((c) => c.keyId === records.get(id)?.key_id)))
        .map(([, c]) => c),
    );

  const [keys, projects, total, byKey] = [
    await spendOfKeys(gateway),
    await spendOfProjects(gateway),
    await usageCost(gateway),
    await usageCost(gateway, "key"),
  ];
  for (const [i, { keyId }] of callers.entries()) {
    const spent = spentBy((at) => at === i);
    expect(spent).toBeGreaterThan(0);
    expect([keys.get(keyId), byKey.get(keyId)]).toEqual([spent, spent]);
  }
  expect(projects.get(callers[0]?.projectId ?? "")).toBe(spentBy((at) => at === 0 || at === 1));
  expect(projects.get(callers[2]?.projectId ?? "")).toBe(spentBy((at) => at === 2));
  expect(total.get("")).toBe(sum(charges.values()));
}

test("T20, T23, T26: lines × prices = total = ledger entry = record, however calls end and interleave", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 30 }), async (calls) => {
      const from = seen.length;
      seen.push(...(await Promise.all(calls.map(perform))));
      expect(seen).toHaveLength(from + calls.length);
    }),
    { numRuns: 12, seed: SEED, endOnFailure: true },
  );
  await checkBooks();
  // The mix is not empty of anything: some of each ending, and some that ended badly were charged for what they gave.
  const charges = chargesOf(await auditedLedger(gateway));
  const paid = (ending: string) =>
    seen.filter((s) => s.call.ending === ending && charges.has(s.requestId ?? "")).length;
  for (const ending of ["ok", "unreported", "leaves", "breaks"])
    expect([ending, paid(ending) > 2]).toEqual([ending, true]);
  for (const ending of ENDINGS) expect(seen.some((s) => s.call.ending === ending)).toBe(true);
  expect(seen.filter((s) => s.cost !== undefined).length).toBeGreaterThan(60);
  await checkSums();
});

test("T20, T22: a stream that its client leaves is charged for what it got, at the served model's price", async () => {
  const from = chargesOf(await auditedLedger(gateway)).size;
  const random = seededRandom(SEED);
  // At a price of a nano-USD a few tokens round to nothing.
  const dear = UNIT_PRICES.flatMap(({ input }, i) => (input >= 100 ? [i] : []));
  const left = await Promise.all(
    Array.from({ length: 10 }, () =>
      perform({
        provider: dear[Math.floor(random() * dear.length)] ?? 0,
        caller: 0,
        stream: true,
        hidesUsage: false,
        ending: "leaves",
        usage: { prompt: 5, cached: 0, written: 0, completion: 5, reasoning: 0 },
        length: 40,
        startsAfterMs: 0,
      }),
    ),
  );
  await idle(gateway);
  const charges = chargesOf(await auditedLedger(gateway));
  expect(charges.size).toBe(from + 10);
  for (const { requestId = "", call: planned } of left) {
    const { json }: Answer = await gateway.call("GET", `/v1/requests/${requestId}`);
    expect(json).toMatchObject({ status: "cancelled", usage_source: "estimated", error_code: "" });
    expect(json.output_tokens).toBeGreaterThan(0);
    const { input, output } = UNIT_PRICES[planned.provider] ?? { input: 0, output: 0 };
    const micro = (units: number, nano: number) => Math.floor((units * nano + 500) / 1000);
    expect(charges.get(requestId)).toBe(micro(json.input_tokens, input) + micro(json.output_tokens, output));
  }
});
