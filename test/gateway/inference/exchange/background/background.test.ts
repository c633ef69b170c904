/** Background responses with OpenAI's own client, at upstreams of each dialect: accepted, polled, resumed, cancelled. */
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import {
  backgroundGateway,
  DIALECTS,
  ENDLESS,
  hasSaid,
  modelOf,
  polled,
  SHORT,
} from "../../../../support/background/fixtures.ts";
import { expectEvent, expectResponse } from "../../../../support/wire/open-responses.ts";
import { bodiesSince } from "../../../sdk/fixtures.ts";

const own = backgroundGateway();

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
    const from = own.gateway.simulator.totalCalls;
    const queued = await own.openai.responses.create({ ...asked, background: true });
    expectResponse(queued);
    expect(queued).toMatchObject({
      status: "queued",
      background: true,
      output: [],
      metadata: { a: "ö" },
      instructions: "Größe",
      max_output_tokens: 60,
    });
    const running = await own.openai.responses.retrieve(queued.id);
    expect(["in_progress", "completed"]).toContain(running.status);
    const ended = await polled(own.openai, queued.id);
    expect(ended).toMatchObject({ id: queued.id, status: "completed", background: true, error: null });
    expect(ended.created_at).toBe(queued.created_at);
    const plain = await own.openai.responses.create(asked);
    expect(ended.output_text).toBe(plain.output_text);
    expect(ended.output_text).not.toBe("");
    expect(ended.usage).toEqual(plain.usage);
    const bodies = bodiesSince(own.gateway, from);
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body).not.toHaveProperty("background");
  });

  test("its events are read while it runs, again after it, and from any of them on", async () => {
    const live = await all(
      await own.openai.responses.create({ model, input: SHORT, background: true, stream: true }),
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
    const told = live.flatMap((event) => ("response" in event ? [event.response.created_at] : []));
    expect(told).toEqual(told.map(() => told[0]));
    expect(await all(await own.openai.responses.retrieve(id, { stream: true }))).toEqual(live);
    for (const after of [0, 1, 2, Math.floor(live.length / 2), live.length - 2, live.length - 1]) {
      const rest = await all(
        await own.openai.responses.retrieve(id, { stream: true, starting_after: after }),
      );
      expect(rest).toEqual(live.slice(after + 1));
    }
    const stored = await own.openai.responses.retrieve(id);
    expect(stored).toEqual({ ...last.response, output_text: stored.output_text });
  });

  test("cut while it runs, it is gone on with behind the last event that arrived", async () => {
    const seen: Event[] = [];
    const asked = { model, input: ENDLESS, background: true, stream: true } as const;
    for await (const event of await own.openai.responses.create(asked)) {
      seen.push(event);
      if (event.sequence_number === 6) break;
    }
    const [created] = seen as [Extract<Event, { type: "response.created" }>];
    const { id } = created.response;
    const options = { stream: true, starting_after: 6 } as const;
    for await (const event of await own.openai.responses.retrieve(id, options)) {
      seen.push(event);
      if (event.sequence_number === 12) break;
    }
    expect(numbersOf(seen)).toEqual(upTo(13));
    expect((await own.openai.responses.retrieve(id)).status).toBe("in_progress");
    await own.openai.responses.cancel(id);
    const whole = await all(await own.openai.responses.retrieve(id, { stream: true }));
    expect(whole.slice(0, 13)).toEqual(seen);
  });

  test("a client that was told only its state streams it all the same", async () => {
    const { id } = await own.openai.responses.create({ model, input: SHORT, background: true });
    const helper = own.openai.responses.stream({ response_id: id, starting_after: 4 });
    const numbers: number[] = [];
    helper.on("event", (event) => numbers.push(event.sequence_number));
    const final = await helper.finalResponse();
    expect(final).toMatchObject({ id, status: "completed" });
    expect(numbers[0]).toBe(5);
    expect(final.output_text).toBe((await own.openai.responses.retrieve(id)).output_text);
  });

  test("cancelled, it ends, and what it said is charged", async () => {
    const { id } = await own.openai.responses.create({ model, input: ENDLESS, background: true });
    await hasSaid(own.gateway, id, 12);
    const cancelled = await own.openai.responses.cancel(id);
    expectResponse(cancelled);
    expect(cancelled).toMatchObject({ id, status: "cancelled", background: true, output: [], error: null });
    expect(cancelled.usage?.output_tokens).toBeGreaterThan(0);
    expect(cancelled.usage?.output_tokens).toBeLessThan(1000);
    expect(await own.openai.responses.retrieve(id)).toEqual({ ...cancelled, output_text: "" });
    expect(await own.openai.responses.cancel(id)).toEqual(cancelled);
    const events = await all(await own.openai.responses.retrieve(id, { stream: true }));
    expect(numbersOf(events)).toEqual(upTo(events.length));
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });
    const { svc } = cancelled as unknown as { svc: { cost: { total_micro_usd: number } } };
    expect(svc.cost.total_micro_usd).toBeGreaterThan(0);
    const { json } = await own.gateway.call("GET", `/v1/generation/${id.slice("resp_".length)}`);
    expect(json.cost.total_micro_usd).toBe(svc.cost.total_micro_usd);
  });
});
