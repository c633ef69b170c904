/**
 * `hold_wait_ms`: a stream that does not fit only because of what other calls hold waits for its turn. It has begun by then, so its end
 * by time is an event.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  removeFolder,
  seededFolder,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { auditedLedger, chargesOf, idle, metric } from "../../support/money/fixtures.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { start } from "../../support/observations.ts";
import { equals, until } from "../../support/wait.ts";
import { at, OUTPUT, only } from "./hold.fixtures.ts";

/** Pays for a call of `TOKENS`, and not for two. */
const CREDIT = 20_000;
const TOKENS = 1_200;
const LONG_MS = 120_000;
/** In the line of an org. */
const MOST_WAITING = 50;

const ORGS = [
  "turns",
  "never",
  "leaves",
  "bounded",
  "budgets",
  "repeats",
  "poor",
  "alive",
  ...["chat", "completions", "responses", "messages", "generate"].map((format) => `late_${format}`),
] as const;

let folder: string;
let gateway: TestGateway;
let keys: Record<string, string>;

beforeAll(async () => {
  folder = await seededFolder(() => {});
  keys = await addOrgs(folder, Object.fromEntries(ORGS.map((name) => [name, { creditMicroUsd: CREDIT }])));
  gateway = await testGateway({
    folder,
    endpoints: [at("good"), at("hangs", { instruction: { fault: "hang" } })],
    settings: {
      limits: { max_hold_waits_of_org: MOST_WAITING },
      timeouts: { keep_alive_ms: 20 },
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});
afterEach(() => idle(gateway));

const keyOf = (org: string) => keys[org] as string;
const bodyOf = (words: string, svc: object = {}) => ({
  model: "test/model",
  stream: true,
  max_tokens: TOKENS,
  messages: [{ role: "user", content: words }],
  svc: { ...only("good"), ...svc },
});
const waiting = () => metric(gateway, "weir_calls_waiting");
const numberWaits = (count: number) => until(`${count} calls wait`, waiting, equals(count));

/** A call that holds what there is until it is left. @returns leaves it */
async function holdAll(org: string, key = keyOf(org)): Promise<() => Promise<void>> {
  const leave = new AbortController();
  const before = gateway.simulator.totalCalls;
  const call = start(gateway, bodyOf("Hold on.", only("hangs")), { key, signal: leave.signal });
  const over = call.catch(() => {});
  await until("the call is asked", () => gateway.simulator.totalCalls > before);
  return async () => {
    leave.abort();
    await over;
  };
}

const wait = (org: string, words: string, svc: object = {}, key = keyOf(org)): Promise<Answer> =>
  gateway.chat(bodyOf(words, { hold_wait_ms: LONG_MS, ...svc }), { key });

async function balanceOf(org: string): Promise<number> {
  const { json } = await gateway.call("GET", "/v1/credits", { key: keyOf(org) });
  expect(json.available_micro_usd).toBeGreaterThanOrEqual(0);
  return json.available_micro_usd;
}

test("C14: streams wait for what another call holds, and are served in the order of their coming", async () => {
  const letGo = await holdAll("turns");
  const words = ["first", "second", "third"];
  const answers: Promise<Answer>[] = [];
  for (const [index, word] of words.entries()) {
    answers.push(wait("turns", word));
    await numberWaits(index + 1);
  }
  const before = gateway.simulator.totalCalls;
  await letGo();
  for (const answer of await Promise.all(answers)) {
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/^: keep-alive\n\n/);
    expect(answer.text).toMatch(/"warnings":\["hold_waited: \d+"\]/);
    expect(answer.text).toMatch(/data: \[DONE\]\n\n$/);
  }
  const asked = gateway.simulator.calls
    .slice(-3)
    .map(({ body }) => JSON.parse(String(body)).messages[0].content);
  expect(gateway.simulator.totalCalls).toBe(before + 3);
  expect(asked).toEqual(words);
});

test("C14: a client that waits is sent keep-alive comments", async () => {
  const letGo = await holdAll("alive");
  const response = await start(gateway, bodyOf("wait", { hold_wait_ms: LONG_MS }), { key: keyOf("alive") });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  const read = async () => {
    text += Buffer.from((await reader.read()).value ?? []).toString();
    return text.split(": keep-alive\n\n").length - 1;
  };
  await until("some have come", read, (count) => count >= 3);
  expect(text.replaceAll(": keep-alive\n\n", "")).toBe("");
  await letGo();
  await until("the answer has come", async () => (await reader.read()).done);
});

const LATE: readonly (readonly [string, string, object, RegExp])[] = [
  ["chat", "/v1/chat/completions", bodyOf("wait"), /^(?:: keep-alive\n\n)+data: \{"error":\{/],
  [
    "completions",
    "/v1/completions",
    { model: "test/model", prompt: "wait", max_tokens: TOKENS, stream: true },
    /^(?:: keep-alive\n\n)+data: \{"error":\{/,
  ],
  [
    "responses",
    "/v1/responses",
    { model: "test/model", input: "wait", max_output_tokens: TOKENS, stream: true, store: false },
    /^(?:: keep-alive\n\n)+event: (?:error|response\.failed)\n/,
  ],
  [
    "messages",
    "/v1/messages",
    bodyOf("wait"),
    /^(?:event: ping\ndata: \{"type":"ping"\}\n\n)+event: error\n/,
  ],
  [
    "generate",
    "/v1/svc/generate",
    {
      model: "test/model",
      stream: true,
      generation: { max_tokens: TOKENS },
      messages: [{ role: "user", content: [{ type: "text", text: "wait" }] }],
    },
    /^(?:: keep-alive\n\n)+event: error\n/,
  ],
];

test.each(LATE)("C14: its time is over: an error event of %s", async (format, path, body, shape) => {
  const org = `late_${format}`;
  const letGo = await holdAll(org);
  const isNative = format === "generate";
  const svc = { hold_wait_ms: 50 };
  const options = isNative ? { ...only("good"), ...svc } : { svc: { ...only("good"), ...svc } };
  const answer = await gateway.call("POST", path, { key: keyOf(org), body: { ...body, ...options } });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.text).toMatch(shape);
  expect(answer.text).toContain('"insufficient_credits"');
  expect(await waiting()).toBe(0);
  await letGo();
  await idle(gateway);
  expect(await balanceOf(org)).toBe(CREDIT);
});

describe("C14: who does not wait", () => {
  test("a call that would not fit if no other held anything is refused at once", async () => {
    const letGo = await holdAll("never");
    const answer = await gateway.chat(
      { ...bodyOf("never", { hold_wait_ms: LONG_MS }), max_tokens: 2 * TOKENS },
      { key: keyOf("never") },
    );
    expect([answer.status, answer.json.error.code]).toEqual([402, "insufficient_credits"]);
    await letGo();
  });

  test.each([
    [
      "a whole answer",
      "/v1/chat/completions",
      { ...bodyOf("whole"), stream: false, svc: { hold_wait_ms: 9 } },
      "/svc/hold_wait_ms",
    ],
    [
      "messages",
      "/v1/messages",
      { ...bodyOf("whole"), stream: undefined, svc: { hold_wait_ms: 9 } },
      "/svc/hold_wait_ms",
    ],
    [
      "embeddings",
      "/v1/embeddings",
      { model: "weir/sim-embed", input: "x", svc: { hold_wait_ms: 9 } },
      "/svc/hold_wait_ms",
    ],
    [
      "a native body",
      "/v1/svc/generate",
      { model: "test/model", messages: [{ role: "user", content: "x" }], hold_wait_ms: 9 },
      "/hold_wait_ms",
    ],
    [
      "longer than two minutes",
      "/v1/chat/completions",
      bodyOf("x", { hold_wait_ms: LONG_MS + 1 }),
      "/svc/hold_wait_ms",
    ],
  ])("it is refused where it stands: %s", async (_, path, body, param) => {
    const { status, json, text } = await gateway.call("POST", path, { body });
    expect(status, text).toBe(400);
    expect(text).toContain(param);
    expect(json.error.type).toMatch(/^invalid_request/);
  });

  test("0 is no wait, also for a whole answer", async () => {
    const body = { ...bodyOf("whole", { hold_wait_ms: 0 }), stream: false };
    expect((await gateway.chat(body)).status).toBe(200);
  });

  test("a call beyond the number that may wait is refused as if it did not wait", async () => {
    const letGo = await holdAll("bounded");
    const answers = Array.from({ length: MOST_WAITING }, (_, index) => wait("bounded", `number ${index}`));
    await numberWaits(MOST_WAITING);
    const refused = await wait("bounded", "one more");
    expect([refused.status, refused.json.error.code]).toEqual([402, "insufficient_credits"]);
    await letGo();
    // Each of them costs a little: the last find too little left.
    const answered = (await Promise.all(answers)).filter(({ text }) => text.endsWith("[DONE]\n\n"));
    expect(answered.length).toBeGreaterThan(0);
    expect(answered.length).toBeLessThan(MOST_WAITING);
    expect(await balanceOf("bounded")).toBeLessThan(TOKENS * OUTPUT + 200);
  });
});

describe("C14: a client that leaves the line", () => {
  test("is not asked for, and the next is served", async () => {
    const letGo = await holdAll("leaves");
    const leave = new AbortController();
    const left = start(gateway, bodyOf("left", { hold_wait_ms: LONG_MS }), {
      key: keyOf("leaves"),
      signal: leave.signal,
    });
    const response = await left;
    await numberWaits(1);
    const next = wait("leaves", "next");
    await numberWaits(2);
    leave.abort();
    await response.text().catch(() => {});
    await numberWaits(1);
    const before = gateway.simulator.totalCalls;
    await letGo();
    expect((await next).text).toContain("[DONE]");
    expect(gateway.simulator.totalCalls).toBe(before + 1);
  });

  test("with an Idempotency-Key goes on waiting without it, and its repetition has the answer", async () => {
    const letGo = await holdAll("repeats");
    const leave = new AbortController();
    const headers = { "idempotency-key": "once" };
    const body = bodyOf("again", { hold_wait_ms: LONG_MS });
    const response = await start(gateway, body, { key: keyOf("repeats"), signal: leave.signal, headers });
    await numberWaits(1);
    leave.abort();
    await response.text().catch(() => {});
    await until("it runs without its client", () => metric(gateway, "weir_calls_draining"), equals(1));
    await letGo();
    await idle(gateway);
    const again = await gateway.chat(body, { key: keyOf("repeats"), headers });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.text).toContain("[DONE]");
    expect((await chargesOf(await auditedLedger(booksOf("repeats")))).size).toBe(1);
  });
});

test("C14: a call that waits for its key's budget holds up none of another key", async () => {
  const key = keyOf("budgets");
  const make = async (name: string, budget?: object) =>
    (await gateway.call("POST", "/v1/keys", { body: { name, ...(budget && { budget }) }, key })).json.secret;
  const small = await make("small", { daily_micro: 9_000, hard: true });
  const large = await make("large");
  const short = (words: string, more: object) => ({ ...bodyOf(words, more), max_tokens: 500 });
  const leave = new AbortController();
  const before = gateway.simulator.totalCalls;
  const held = start(gateway, short("hold", only("hangs")), { key: small, signal: leave.signal }).catch(
    () => {},
  );
  await until("it is asked", () => gateway.simulator.totalCalls > before);
  const blocked = gateway.chat(short("blocked", { hold_wait_ms: LONG_MS }), { key: small });
  await numberWaits(1);
  // It comes later, and its credit is there.
  const other = await gateway.chat(short("other", { hold_wait_ms: LONG_MS }), { key: large });
  expect(other.text).toContain("[DONE]");
  expect(await waiting()).toBe(1);
  leave.abort();
  await held;
  expect((await blocked).text).toContain("[DONE]");
});

test("C14: at a shutdown a call that waits is told so, and holds it up no longer than others", async () => {
  const own = await testGateway({
    endpoints: [at("hangs", { instruction: { fault: "hang" } })],
    settings: { timeouts: { shutdown_ms: 3000 } },
  });
  const body = (svc: object) => ({ ...bodyOf("stop", { ...only("hangs"), ...svc }), max_tokens: 100_000 });
  // Each holds $1.50 of $25.
  const holders = Array.from({ length: 16 }, () => start(own, body({})).catch(() => {}));
  await until("they are asked", () => own.simulator.openCalls, equals(16));
  const waits = own.chat(body({ hold_wait_ms: LONG_MS }));
  await until("it waits", () => metric(own, "weir_calls_waiting"), equals(1));
  await own.stop();
  expect((await waits).text).toContain('"shutting_down"');
  await Promise.all(holders);
});

const booksOf = (org: string) => ({
  call: (method: string, path: string, more: object = {}) =>
    gateway.call(method, path, { key: keyOf(org), ...more }),
});
