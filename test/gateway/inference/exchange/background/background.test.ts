/** Background responses with OpenAI's own client, at upstreams of each dialect: accepted, polled, resumed, cancelled. */
import type OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  DIALECTS,
  ENDLESS,
  ENDPOINTS,
  hasSaid,
  modelOf,
  polled,
  SHORT,
} from "../../../../support/background/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { atRest } from "../../../../support/observations.ts";
import { expectEvent, expectResponse } from "../../../../support/wire/open-responses.ts";
import { bodiesSince } from "../../../sdk/fixtures.ts";

let gateway: TestGateway;
let openai: OpenAI;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: ENDPOINTS,
    settings: { timeouts: { keep_alive_ms: 0 } },
  });
  openai = gateway.openai();
});
afterAll(() => gateway?.stop());
afterEach(() => atRest(gateway));

type Event = OpenAI.Responses.ResponseStreamEvent;

async function all(events: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const numbersOf = (events: readonly Event[]) => events.map(({ sequence_number: number }) => number);
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

describe.each(DIALECTS)("at an upstream that speaks %s", (dialect) => {
  const model = modelOf(dialect);

  test("it is queued at once, then in progress, and in the end what a plain call answers", async () => {
    const asked = { model, input: SHORT, metadata: { a: "ö" }, max_output_tokens: 60, instructions: "Größe" };
    const from = gateway.simulator.totalCalls;
    const queued = await openai.responses.create({ ...asked, background: true });
    expectResponse(queued);
    expect(queued).toMatchObject({
      status: "queued",
      background: true,
      output: [],
      metadata: { a: "ö" },
      instructions: "Größe",
      max_output_tokens: 60,
    });
    const running = await openai.responses.retrieve(queued.id);
    expect(["in_progress", "completed"]).toContain(running.status);
    const ended = await polled(openai, queued.id);
    expect(ended).toMatchObject({ id: queued.id, status: "completed", background: true, error: null });
    const plain = await openai.responses.create(asked);
    expect(ended.output_text).toBe(plain.output_text);
    expect(ended.output_text).not.toBe("");
    expect(ended.usage).toEqual(plain.usage);
    const bodies = bodiesSince(gateway, from);
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body).not.toHaveProperty("background");
  });

  test("its events are read while it runs, again after it, and from any of them on", async () => {
    const live = await all(
      await openai.responses.create({ model, input: SHORT, background: true, stream: true }),
    );
    expect(numbersOf(live)).toEqual(upTo(live.length));
    expect(live.slice(0, 3).map(({ type }) => type)).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    if (dialect !== "responses") for (const event of live) expectEvent(event);
    const last = live.at(-1) as Extract<Event, { type: "response.completed" }>;
    expect(last.type).toBe("response.completed");
    const { id } = last.response;
    expect(await all(await openai.responses.retrieve(id, { stream: true }))).toEqual(live);
    for (const after of [0, 1, 2, Math.floor(live.length / 2), live.length - 2, live.length - 1]) {
      const rest = await all(await openai.responses.retrieve(id, { stream: true, starting_after: after }));
      expect(rest).toEqual(live.slice(after + 1));
    }
    const stored = await openai.responses.retrieve(id);
    expect(stored).toEqual({ ...last.response, output_text: stored.output_text });
  });

  test("a client that was told only its state streams it all the same", async () => {
    const { id } = await openai.responses.create({ model, input: SHORT, background: true });
    const helper = openai.responses.stream({ response_id: id, starting_after: 4 });
    const numbers: number[] = [];
    helper.on("event", (event) => numbers.push(event.sequence_number));
    const final = await helper.finalResponse();
    expect(final).toMatchObject({ id, status: "completed" });
    expect(numbers[0]).toBe(5);
    expect(final.output_text).toBe((await openai.responses.retrieve(id)).output_text);
  });

  test("cancelled, it ends, and what it said is charged", async () => {
    const { id } = await openai.responses.create({ model, input: ENDLESS, background: true });
    await hasSaid(gateway, id, 12);
    const cancelled = await openai.responses.cancel(id);
    expectResponse(cancelled);
    expect(cancelled).toMatchObject({ id, status: "cancelled", background: true, output: [], error: null });
    expect(cancelled.usage?.output_tokens).toBeGreaterThan(0);
    expect(cancelled.usage?.output_tokens).toBeLessThan(1000);
    expect(await openai.responses.retrieve(id)).toEqual({ ...cancelled, output_text: "" });
    expect(await openai.responses.cancel(id)).toEqual(cancelled);
    const events = await all(await openai.responses.retrieve(id, { stream: true }));
    expect(numbersOf(events)).toEqual(upTo(events.length));
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });
    const { svc } = cancelled as unknown as { svc: { cost: { total_micro_usd: number } } };
    expect(svc.cost.total_micro_usd).toBeGreaterThan(0);
    const { json } = await gateway.call("GET", `/v1/generation/${id.slice("resp_".length)}`);
    expect(json.cost.total_micro_usd).toBe(svc.cost.total_micro_usd);
  });
});
