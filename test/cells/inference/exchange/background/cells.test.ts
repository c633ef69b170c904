/** Background responses over cells: each reads, streams and cancels what any of them runs, and a cell that dies ends its own. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUNNING } from "../../../../support/background/fixtures.ts";
import { sseEvents } from "../../../../support/conformance/ask.ts";
import { type Answer, callsBy } from "../../../../support/gateway.ts";
import { until } from "../../../../support/wait.ts";
import { expectResponse } from "../../../../support/wire/open-responses.ts";
import { type At, by, DetachedCells } from "../detached/cells-rig.ts";

let cells: DetachedCells;
beforeAll(async () => {
  cells = await DetachedCells.open();
});
afterAll(() => cells?.close());

const begin = async (at: At, provider: string, headers = {}): Promise<Answer> => {
  const { call } = callsBy(cells.gateway, at.url, cells.gateway.simulator);
  const body = { model: "test/model", input: "x", background: true, svc: by(provider) };
  const answer = await call("POST", "/v1/responses", { body, headers });
  expect([answer.status, answer.json.status], answer.text).toEqual([200, "queued"]);
  return answer;
};
const read = (at: At, id: string, query = "") => cells.call(at, "GET", `/v1/responses/${id}${query}`);
const ended = (at: At, id: string): Promise<Answer> =>
  until(
    "the response has ended",
    () => read(at, id),
    ({ status, json }) => status === 200 && !RUNNING.includes(json.status),
  );
const eventsAt = async (at: At, id: string, query = "") => {
  const { status, text } = await read(at, id, `?stream=true${query}`);
  expect(status, text).toBe(200);
  return sseEvents(text).map(({ data }) => JSON.parse(data));
};
/** The response that OpenAI's SDK reads in the last event of the stream, before it throws the error that follows. */
async function lastOfSdk({ url, liveKey }: At, id: string): Promise<unknown> {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: liveKey, maxRetries: 0 });
  let last: unknown;
  const read = async () => {
    for await (const event of await openai.responses.retrieve(id, { stream: true }))
      last = event.type === "response.failed" ? event.response : undefined;
  };
  await expect(read()).rejects.toThrow(/ended before the call did|shut down for good/);
  return last;
}
/** Resolves once so many events can be read at the cell, so that they are told. */
const hasSaid = (at: At, id: string, events: number) =>
  until("it has said so much", async () => {
    const going = new AbortController();
    const response = await fetch(`${at.url}/v1/responses/${id}?stream=true`, {
      headers: { authorization: `Bearer ${at.liveKey}` },
      signal: going.signal,
    });
    let text = "";
    for await (const bytes of response.body as ReadableStream<Uint8Array>) {
      text += Buffer.from(bytes).toString("latin1");
      if (text.split("\n\n").length > events) break;
    }
    going.abort();
    return text.split("\n\n").length > events;
  });

test("what one cell runs is polled and streamed at another, while it runs and after", async () => {
  const [owner, other] = [cells.at(0), cells.at(1)];
  const { json } = await begin(owner, "slow");
  const running = await read(other, json.id);
  expect([running.status, running.json.status]).toEqual([200, "in_progress"]);
  const [there, rest] = await Promise.all([
    eventsAt(other, json.id),
    eventsAt(other, json.id, "&starting_after=7"),
  ]);
  expect(there.map(({ sequence_number: at }) => at)).toEqual(there.map((_, at) => at));
  expect(rest).toEqual(there.slice(8));
  expect(await eventsAt(owner, json.id)).toEqual(there);
  const last = await ended(other, json.id);
  expectResponse(last.json);
  expect(last.json).toMatchObject({ id: json.id, status: "completed" });
  expect(last.json).toEqual(there.at(-1).response);
  expect((await read(owner, json.id)).json).toEqual(last.json);
});

test("it is cancelled at any cell, by many at once, and says so at all", async () => {
  const [owner, other] = [cells.at(0), cells.at(1)];
  const { json } = await begin(owner, "stalls");
  await hasSaid(owner, json.id, 15);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      cells.call(at % 2 === 0 ? owner : other, "POST", `/v1/responses/${json.id}/cancel`),
    ),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.json).toMatchObject({ status: "cancelled", output: [] });
  for (const at of [owner, other]) expect((await read(at, json.id)).json).toEqual(answers[0]?.json);
  expect((await eventsAt(other, json.id)).at(-1)).toMatchObject({ type: "response.failed" });
  const charges = await until(
    "it is charged",
    () => cells.chargesOf(json.id.slice("resp_".length)),
    ({ length }) => length > 0,
  );
  expect(charges).toEqual([answers[0]?.json.svc.cost.total_micro_usd]);
});

test("a stopped cell's stream is said to be gone once that is known, and to be away before", async () => {
  const owner = await cells.start("stops");
  const { json } = await begin(owner, "brief");
  const last = await ended(owner, json.id);
  expect(await cells.stop("stops")).toBe(0);
  const at = cells.at(0);
  expect((await read(at, json.id)).json).toEqual(last.json);
  const stream = () => read(at, json.id, "?stream=true");
  expect((await stream()).status).toBe(503);
  await cells.takeBack("stops", json.id.slice("resp_".length));
  const gone = await until("it is known how the cell stands", stream, ({ status }) => status !== 503);
  expect([gone.status, gone.json.error.message], gone.text).toEqual([
    400,
    expect.stringContaining("can no longer be streamed"),
  ]);
});

describe("the cell that runs it is killed", () => {
  test("and comes back: the response failed at every cell, charged once for what it said", async () => {
    const owner = await cells.start("returns");
    const { json } = await begin(owner, "stalls");
    await hasSaid(owner, json.id, 15);
    // What was said is stored ten times a second: before another call has ended that takes longer.
    await ended(owner, (await begin(owner, "slow")).json.id);
    await cells.kill("returns");
    expect((await read(cells.at(0), json.id)).json.status).toBe("in_progress");
    const back = await cells.start("returns");
    for (const at of [back, cells.at(0), cells.at(1)]) {
      const { json: last } = await ended(at, json.id);
      expectResponse(last);
      expect(last).toMatchObject({ status: "failed", error: { code: "gateway_unavailable" } });
    }
    const charges = await until(
      "it is charged",
      () => cells.chargesOf(json.id.slice("resp_".length)),
      ({ length }) => length > 0,
    );
    const last = (await read(cells.at(0), json.id)).json;
    expect(charges).toEqual([last.svc.cost.total_micro_usd]);
    expect(last.usage.output_tokens).toBeGreaterThan(0);
    for (const at of [back, cells.at(1)]) {
      const events = await eventsAt(at, json.id);
      expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, number) => number));
      expect(events.at(-2)).toEqual({
        type: "response.failed",
        sequence_number: events.length - 2,
        response: last,
      });
      expect(events.at(-1)).toMatchObject({ type: "error", code: "gateway_unavailable" });
      // A client may have had more than was stored.
      const behind = await eventsAt(at, json.id, "&starting_after=9000");
      expect(behind.map(({ type, sequence_number: number }) => [type, number])).toEqual([
        ["response.failed", 9001],
        ["error", 9002],
      ]);
      expect(await lastOfSdk(at, json.id)).toEqual(last);
    }
  });

  test("and is retired behind the end of the response: it stays completed, and no stream says otherwise", async () => {
    const owner = await cells.start("ends-first");
    const { json } = await begin(owner, "brief");
    expect((await ended(cells.at(0), json.id)).json.status).toBe("completed");
    await cells.kill("ends-first");
    await cells.retire("ends-first");
    for (const at of [cells.at(0), cells.at(1)]) {
      for (const query of ["?stream=true", "?stream=true&starting_after=3"]) {
        const {
          status,
          text,
          json: refused,
        } = await until(
          "the retirement is known",
          () => read(at, json.id, query),
          ({ status }) => status !== 503,
        );
        expect(status, text).toBe(400);
        expect(refused.error.message).toContain("can no longer be streamed");
      }
      expect((await read(at, json.id)).json.status).toBe("completed");
    }
  });

  test("and is retired: the response failed at every other cell", async () => {
    const owner = await cells.start("retires");
    const { json } = await begin(owner, "stalls");
    await hasSaid(owner, json.id, 15);
    const reading = eventsAt(cells.at(0), json.id);
    await hasSaid(cells.at(1), json.id, 15);
    await cells.kill("retires");
    await cells.retire("retires");
    const isTold = (events: readonly { readonly type: string }[]) =>
      expect(events.slice(-2)).toMatchObject([
        { type: "response.failed", response: { id: json.id, status: "failed", usage: null } },
        { type: "error", code: "gateway_unavailable" },
      ]);
    isTold(await reading);
    for (const at of [cells.at(0), cells.at(1)]) {
      const { json: last } = await ended(at, json.id);
      expect(last).toMatchObject({ status: "failed", error: { code: "gateway_unavailable" } });
      const { status, json: refused } = await cells.call(at, "POST", `/v1/responses/${json.id}/cancel`);
      expect([status, refused.error.message]).toEqual([400, "Cannot cancel a failed response."]);
      isTold(await eventsAt(at, json.id));
      expect(await lastOfSdk(at, json.id)).toEqual(last);
    }
  });
});
