/**
 * Clients that leave, by the means of their SDK, on every route that generates but chat, whose turn is in
 * `disconnect.test.ts`: the upstream call is closed within a second and nothing stays taken.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";
import { equals, until } from "../../support/wait.ts";
import { clientsOf, DIALECTS, type DialectName, modelOf, thrownBy } from "./fixtures.ts";

let gateway: TestGateway;
let clients: ReturnType<typeof clientsOf>;
beforeAll(async () => {
  gateway = await testGateway({ settings: { timeouts: { keep_alive_ms: 0 } } });
  clients = clientsOf(gateway);
});
afterAll(() => gateway?.stop());

type Events = AsyncIterable<unknown>;

interface Call {
  readonly model: string;
  readonly text: string;
  readonly signal: AbortSignal;
}

/** One route as its client calls it. */
interface Route {
  whole(call: Call): PromiseLike<unknown>;
  stream(call: Call): PromiseLike<Events>;
}

const generate = async ({ model, text, signal }: Call, stream: boolean): Promise<Response> =>
  fetch(`${gateway.url}/v1/svc/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: text }] }),
    signal,
  });

async function* eventsOf(response: Response): AsyncGenerator<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of Buffer.from(value).toString("latin1").split("\n\n")) if (event !== "") yield event;
  }
}

const ROUTES = {
  "/v1/messages": {
    whole: ({ model, text: content, signal }) =>
      clients.anthropic.messages.create(
        { model, max_tokens: 9000, messages: [{ role: "user", content }] },
        { signal },
      ),
    stream: ({ model, text: content, signal }) =>
      clients.anthropic.messages.create(
        { model, max_tokens: 9000, messages: [{ role: "user", content }], stream: true },
        { signal },
      ),
  },
  "/v1/responses": {
    whole: ({ model, text: input, signal }) => clients.openai.responses.create({ model, input }, { signal }),
    stream: ({ model, text: input, signal }) =>
      clients.openai.responses.create({ model, input, stream: true }, { signal }),
  },
  "/v1/completions": {
    whole: ({ model, text: prompt, signal }) =>
      clients.openai.completions.create({ model, prompt }, { signal }),
    stream: ({ model, text: prompt, signal }) =>
      clients.openai.completions.create({ model, prompt, stream: true }, { signal }),
  },
  "/v1/svc/generate": {
    whole: (call) => generate(call, false),
    stream: async (call) => eventsOf(await generate(call, true)),
  },
} satisfies Record<string, Route>;

/** Whether it is the error of the SDKs, or of a bare request, for an abort. */
const isAbort = (error: unknown): boolean =>
  error instanceof OpenAI.APIUserAbortError ||
  error instanceof Anthropic.APIUserAbortError ||
  (error instanceof Error && error.name === "AbortError");

/** Resolves when the gateway has closed the upstream call; fails where that takes a second. */
async function closedWithinASecond(): Promise<void> {
  await until("the upstream call is closed", () => gateway.simulator.openCalls, equals(0));
  expect(gateway.simulator.calls.at(-1)?.closedByPeer).toBe(true);
  await atRest(gateway);
}

/** Leaves once the upstream was asked. */
async function leave(ask: (signal: AbortSignal) => PromiseLike<unknown>): Promise<void> {
  const going = new AbortController();
  const asked = gateway.simulator.totalCalls;
  const outcome = thrownBy(ask(going.signal));
  await until("the call has reached the simulator", () => gateway.simulator.totalCalls > asked);
  going.abort();
  expect(isAbort(await outcome)).toBe(true);
  await closedWithinASecond();
}

async function readSome(events: Events, going: AbortController): Promise<number> {
  let seen = 0;
  try {
    for await (const _ of events) if (++seen === 5) going.abort();
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
  return seen;
}

const PAIRS = Object.entries<Route>(ROUTES).flatMap(([name, route]) =>
  DIALECTS.map((dialect): [string, DialectName, Route] => [name, dialect, route]),
);

test.each(PAIRS)("T16, T18: %s to %s: left before the first token", async (_, dialect, route) => {
  const text = "Not yet [[sim header_then_ms=60000]]";
  await leave(async (signal) => {
    const events = await route.stream({ model: modelOf(dialect), text, signal });
    for await (const _ of events) expect.fail("there was an event");
    // The SDKs end an aborted stream without an error.
    signal.throwIfAborted();
  });
});

test.each(PAIRS)("T17, T18: %s to %s: left though not streamed", async (_, dialect, route) => {
  const text = "Never mind [[sim fault=hang]]";
  await leave(async (signal) => route.whole({ model: modelOf(dialect), text, signal }));
});

test.each(PAIRS)("T18: %s to %s: left mid-stream", async (_, dialect, route) => {
  const going = new AbortController();
  const text = "Go on [[sim tokens=5000 gap_ms=5]]";
  const call = { model: modelOf(dialect), text, signal: going.signal };
  const seen = await readSome(await route.stream(call), going);
  expect(seen).toBeGreaterThanOrEqual(5);
  expect(seen).toBeLessThan(5000);
  await closedWithinASecond();
});
