/**
 * A stream cut at every byte, inside characters and line ends included, through real sockets: what the client gets never
 * depends on where the reads of the upstream happened to end, and usage is found wherever it stands.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CUT_STEP } from "../../support/effort.ts";
import { sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, start } from "../../support/observations.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "plain" },
      { provider: "picky", instruction: { reject: ["stream_options"] }, quirks: { stream_usage: false } },
    ],
    settings: { timeouts: { keep_alive_ms: 0 } },
  });
});
afterAll(() => gateway?.stop());

const only = (provider: string) => ({ svc: { route: { providers: { only: [provider] } } } });

/** The bytes of a streamed answer, but for what differs from call to call: the request's id. */
async function streamed(simulator: object, more: object = {}): Promise<string> {
  const response = await start(gateway, { stream: true, simulator, ...only("plain"), ...more });
  const bytes = Buffer.from(await response.arrayBuffer());
  const id = response.headers.get("x-svc-request-id") ?? "";
  return bytes.toString("latin1").replaceAll(id, "<id>");
}

/** Length of the upstream's body, as the gateway asks for it. */
async function upstreamBytes(simulator: object): Promise<number> {
  const response = await fetch(`${gateway.simulator.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({
      model: "sim-test",
      stream: true,
      stream_options: { include_usage: true },
      messages,
      simulator,
    }),
  });
  return (await response.arrayBuffer()).byteLength;
}

/** Runs `each` for every number below `count`, a few at a time. */
async function forAll(count: number, each: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await each(next++);
  };
  await Promise.all(Array.from({ length: 24 }, lane));
}

/** Three tokens of characters of one to four bytes: the first teaches the frame that the others pass through. */
const SHORT = { echo: true };
const TEXT = "é水🌊e\u0301ß €Ж🦦";
const messages = [{ role: "user", content: TEXT }];

test(`T3, T4, T5: cut in two at every byte (step ${CUT_STEP}), the client gets the same bytes`, async () => {
  const whole = await streamed(SHORT, { messages });
  expect(Buffer.from(whole, "latin1").toString()).toContain("水🌊e");
  const length = await upstreamBytes(SHORT);
  const different: number[] = [];
  await forAll(Math.ceil((length - 1) / CUT_STEP), async (i) => {
    const at = i * CUT_STEP + 1;
    if ((await streamed({ ...SHORT, split: [at] }, { messages })) !== whole) different.push(at);
  });
  expect(length).toBeGreaterThan(1200);
  expect(different).toEqual([]);
});

test("T5, T6: with CRLF and comments, cut in fourteen at every byte, the client gets the same bytes", async () => {
  const simulator = { ...SHORT, crlf: true, comments: true };
  const whole = await streamed(SHORT, { messages });
  const length = await upstreamBytes(simulator);
  const stride = Math.ceil(length / 14);
  const different: number[] = [];
  await forAll(stride, async (i) => {
    const split = Array.from({ length: 13 }, (_, n) => i + 1 + n * stride);
    if ((await streamed({ ...simulator, split }, { messages })) !== whole) different.push(i + 1);
  });
  expect(different).toEqual([]);
});

test("T3, T4, T5: cut into pieces of every small size, the client gets the same bytes", async () => {
  const whole = await streamed(SHORT, { messages });
  for (const split_every of [1, 2, 3, 5, 7, 64]) {
    expect(await streamed({ ...SHORT, split_every }, { messages }), `pieces of ${split_every}`).toBe(whole);
  }
});

test("T4: characters of two to four bytes arrive whole, and T6: comments do not arrive", async () => {
  const cut = await streamed({ unicode: true, tokens: 24, split_every: 1, comments: true });
  const text = Buffer.from(cut, "latin1").toString();
  expect(text).not.toContain("\ufffd");
  expect(text).not.toContain("comment");
  const said = sseData(text)
    .map((e) => (e as { choices?: { delta: { content?: string } }[] }).choices?.[0]?.delta.content ?? "")
    .join("");
  for (const character of ["é", "€", "水", "🌊", "👩‍🚀", "e\u0301"]) expect(said).toContain(character);
});

interface Last {
  readonly choices: unknown[];
  readonly usage: { prompt_tokens: number; completion_tokens: number };
  readonly svc: { cost: { total_micro_usd: number } };
}

describe("usage", () => {
  test.each([
    ["in a chunk of its own", {}],
    ["with the finish reason", { usage: "with_last" }],
    ["late, apart from [DONE]", { usage: "split" }],
    ["late and byte by byte", { usage: "split", split_every: 1 }],
    ["on every chunk, cumulative", { usage: "every" }],
    ["unasked", { usage: "always" }],
  ])("T1, T2, T3: %s, is found and reported once, before [DONE]", async (_, more) => {
    const text = await streamed({ tokens: 7, prompt_tokens: 11, ...more });
    const events = sseData(text) as Last[];
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1);
    expect(chunks.filter((c) => c.usage != null)).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 11, completion_tokens: 7 },
      // At $1 and $2 a million: 11 and 14 micro-USD.
      svc: { cost: { total_micro_usd: 25 } },
    });
  });

  test.each([
    ["the upstream reports none", { usage: "none" }, {}],
    ["the provider rejects the switch", {}, only("picky")],
  ])("T2: where %s, what was delivered is estimated", async (_, simulator, more) => {
    const events = sseData(await streamed({ tokens: 40, ...simulator }, more)) as Last[];
    const last = events.at(-2) as Last;
    // 40 tokens of 5 bytes each.
    expect(last.usage.completion_tokens).toBe(50);
    expect(last.svc.cost.total_micro_usd).toBeGreaterThan(100);
  });

  test("T53: a provider that rejects the switch gets none, others get nothing but the switch", async () => {
    const before = gateway.simulator.totalCalls;
    await streamed({ tokens: 1 }, only("picky"));
    await streamed({ tokens: 1 });
    const sent = gateway.simulator.calls.slice(before - gateway.simulator.totalCalls);
    const fields = sent.map((call) => Object.keys(JSON.parse(call.body.toString())).sort());
    expect(fields[0]).toEqual(["messages", "model", "simulator", "stream"]);
    expect(fields[1]).toEqual(["messages", "model", "simulator", "stream", "stream_options"]);
  });

  test.each([
    [
      "a sum beyond every integer",
      { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 9_007_199_254_740_991 },
    ],
    ["more tokens than any model has", { prompt_tokens: 5, completion_tokens: 5_000_000_000 }],
    ["words", { prompt_tokens: "five", completion_tokens: {} }],
    ["negative counts", { prompt_tokens: -5, completion_tokens: -1 }],
    ["fractions", { prompt_tokens: 1.5, completion_tokens: 2.25 }],
  ])("T26: a report of %s ends the call as any other, streamed and not", async (_, usage) => {
    const text = await streamed({ tokens: 8, usage });
    expect(sseData(text).at(-1)).toBe("[DONE]");
    const whole = await gateway.chat({
      model: "test/model",
      simulator: { tokens: 8, usage },
      ...only("plain"),
    });
    expect(whole.status).toBe(200);
    expect(whole.json.svc.cost.total_micro_usd).toBeLessThan(1000);
    await atRest(gateway);
  });
});
