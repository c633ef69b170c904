/** Background responses on the wire: what is read and told, the objects of a call in each of its states, and the numbers of its events. */
import { describe, expect, test } from "vitest";
import { fail } from "../../../../src/base/errors.ts";
import { translated } from "../../../../src/wire/relay/translate.ts";
import { responsesDialect } from "../../../../src/wire/responses/dialect.ts";
import { failedEvents } from "../../../../src/wire/responses/failed.ts";
import { responsesFormat } from "../../../../src/wire/responses/format.ts";
import { readResponsesCount, readResponsesRequest } from "../../../../src/wire/responses/request.ts";
import { responsesSplice } from "../../../../src/wire/responses/splice.ts";
import { ResponsesSpliceStream } from "../../../../src/wire/responses/splice-stream.ts";
import { type Json, SVC, usage } from "../../../support/wire/fixtures.ts";
import { expectEvent, expectResponse } from "../../../support/wire/open-responses.ts";
import {
  eventsIn,
  IDENTITY,
  RECORDED,
  recorded,
  requestOf,
  streamed,
  UPSTREAM,
  written,
} from "../responses.fixtures.ts";

const { generation, background } = responsesFormat as Required<typeof responsesFormat>;
if (generation === undefined) throw new Error("the format has no generation");

/** The request as upstreams are asked. */
const asked = (body: Json) => {
  const request = requestOf({ background: true, ...body });
  return background.continuing(readResponsesRequest(background.asStream(request)), request);
};

const responseOf = (latin1: string): Json => JSON.parse(Buffer.from(latin1, "latin1").toString()) as Json;

describe("requests", () => {
  test.each<[Json, object]>([
    [{}, { isBackground: false, isStreamAsked: false }],
    [{ background: false }, { isBackground: false }],
    [{ background: null, store: false }, { isBackground: false }],
    [{ background: true }, { isBackground: true, isStreamAsked: false, store: true }],
    [
      { background: true, stream: true, store: true },
      { isBackground: true, isStreamAsked: true },
    ],
    [
      { background: true, store: null },
      { isBackground: true, store: true },
    ],
  ])("%j", (body, wanted) => {
    expect(requestOf(body)).toMatchObject(wanted);
  });

  test.each<[Json, string, string]>([
    [{ background: true, store: false }, "unsupported_option", "/background"],
    [{ background: "yes" }, "invalid_value", "/background"],
    [{ background: 1 }, "invalid_value", "/background"],
  ])("%j is refused", (body, kind, param) => {
    expect(() => requestOf(body)).toThrow(expect.objectContaining({ kind, param, status: 400 }));
  });

  test("is no matter of a count", () => {
    const body = { model: "v/m", input: "Hi", background: true, store: false };
    expect(readResponsesCount(Buffer.from(JSON.stringify(body))).facts.model).toBe("v/m");
  });

  test.each<[string, string]>([
    ['{"model":"v/m","input":"Hi","background":true}', '{"model":"v/m","input":"Hi","stream":true}'],
    [
      '{"background" : true , "model":"v/m","stream":false,"input":"Größe"}',
      '{"model":"v/m","stream":true,"input":"Größe"}',
    ],
    [
      '{"model":"v/m","stream":null,"background":true,"input":"x"}',
      '{"model":"v/m","stream":true,"input":"x"}',
    ],
    [
      '{"model":"v/m","stream":true,"input":"x","background":true}',
      '{"model":"v/m","stream":true,"input":"x"}',
    ],
  ])("%s asks upstreams for a stream, and names no background", (body, wanted) => {
    const request = readResponsesRequest(Buffer.from(body));
    expect(background.isAsked(request)).toBe(true);
    const bytes = background.asStream(request);
    expect(bytes.toString()).toBe(wanted);
    const read = background.continuing(readResponsesRequest(bytes), request);
    expect(read).toMatchObject({
      isBackground: true,
      isStreamAsked: request.isStreamAsked,
      facts: { stream: true },
      extras: { asks: [] },
    });
    for (const billed of ["platform", "org"] as const) {
      const { parts, dropped } = responsesSplice.write(read, UPSTREAM, billed);
      expect(JSON.parse(Buffer.concat(parts).toString())).not.toHaveProperty("background");
      expect(dropped).toEqual([]);
    }
  });

  test("what a request continues stays known", () => {
    const request = { ...requestOf({ background: true, previous_response_id: "r" }), historyBy: "p" };
    const read = background.continuing(requestOf({ stream: true }), request);
    expect(read).toMatchObject({ previousResponseId: "r", historyBy: "p", store: true });
  });
});

describe("objects", () => {
  const request = asked({
    metadata: { a: "ö" },
    max_output_tokens: 50,
    tools: [{ type: "function", name: "f" }],
    previous_response_id: "resp_0",
  });
  const ECHO = {
    id: IDENTITY.id,
    model: IDENTITY.model,
    background: true,
    store: true,
    metadata: { a: "ö" },
    max_output_tokens: 50,
    previous_response_id: "resp_0",
    output: [],
    completed_at: null,
    incomplete_details: null,
  };

  test("queued and in progress", () => {
    const queued = responseOf(background.queued(request, IDENTITY));
    expectResponse(queued);
    expect(queued).toMatchObject({ ...ECHO, status: "queued", usage: null, error: null });
    const begun = responseOf(background.inProgress(background.queued(request, IDENTITY)));
    expect(begun).toEqual({ ...queued, status: "in_progress" });
  });

  test("cancelled, with what was charged", () => {
    const cancelled = responseOf(background.cancelled(request, IDENTITY, { usage: usage(7, 5), svc: SVC }));
    expectResponse(cancelled);
    expect(cancelled).toMatchObject({
      ...ECHO,
      status: "cancelled",
      error: null,
      usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
      svc: SVC,
    });
  });

  test("failed, with what was charged", () => {
    const error = fail("upstream_error", "Größe");
    const failed = responseOf(background.failed(error, request, IDENTITY, { usage: usage(7, 5), svc: SVC }));
    expectResponse(failed);
    expect(failed).toMatchObject({
      ...ECHO,
      status: "failed",
      error: { code: error.code, message: "Größe" },
      usage: { total_tokens: 12 },
      svc: SVC,
    });
    const uncharged = responseOf(background.failed(error, request, IDENTITY, undefined));
    expect(uncharged).toMatchObject({ status: "failed", usage: null });
    expect(uncharged).not.toHaveProperty("svc");
  });

  test("of a plain request say that it is none", () => {
    const { response } = written(streamed({ choices: [], usage: undefined }), requestOf({}));
    expect(response.background).toBe(false);
  });
});

/** The events of an answer as its client gets them, with those that it begins with. */
function told(request: ReturnType<typeof requestOf>, more: string): { events: Json[]; next: number } {
  const begun = background.begin(request, IDENTITY);
  return { events: eventsIn(begun.text + more), next: begun.next };
}

function expectNumbered(events: readonly Json[]): void {
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  for (const { response } of events as { response?: Json }[])
    if (response !== undefined) expect(response.background).toBe(true);
}

const BEGINNING = ["response.created", "response.queued", "response.in_progress"];

describe("events", () => {
  test("of a translated answer are numbered from the first on, each response in the background", () => {
    const request = asked({ stream: true });
    const parts = [{ type: "text" as const, text: "Größe" }];
    const { text, response } = written(
      streamed({ choices: [{ parts, stop: { reason: "stop" } }], usage: undefined }),
      request,
    );
    const { events } = told(request, text);
    for (const event of events) expectEvent(event);
    expectNumbered(events);
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual(BEGINNING);
    expect(events.slice(0, 3).map(({ response: of }) => (of as Json).status)).toEqual([
      "queued",
      "queued",
      "in_progress",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { background: true } });
    expect(response.background).toBe(true);
  });

  const spliced = (pieces: readonly string[], request = asked({ stream: true })) => {
    const stream = responsesSplice.stream(request, IDENTITY);
    expect(stream).toBeInstanceOf(ResponsesSpliceStream);
    expect(stream.nextSequence).toBe(2);
    let text = "";
    for (const piece of pieces) {
      text += stream.push(piece);
      expect(stream.nextSequence).toBe(2 + eventsIn(text).length);
    }
    text += stream.end();
    text += stream.close(stream.facts.usage ?? usage(1, 1), SVC);
    return { text, stream };
  };

  test.each(RECORDED)(
    "%s: spliced ones are numbered anew at every cut, and are else as they came",
    (name) => {
      const all = recorded(name);
      const request = asked({ stream: true, previous_response_id: "resp_0" });
      const { text, stream } = spliced([all], request);
      const { events } = told(request, text);
      expectNumbered(events);
      expect(events.slice(0, 3).map(({ type }) => type)).toEqual(BEGINNING);
      const own = eventsIn(all).filter(({ type }) => type !== "response.created");
      expect(events.length).toBe(own.length + 2);
      for (const [index, event] of own.entries()) {
        const out = events[index + 2] as Json;
        expect(out.type).toBe(event.type);
        if (event.response !== undefined) continue;
        expect(out).toEqual({ ...event, sequence_number: index + 2 });
      }
      expect(JSON.parse(stream.responseJson?.() ?? "")).toMatchObject({ background: true, svc: SVC });
      const middle = Math.floor(all.length / 2);
      expect(spliced([all.slice(0, middle), all.slice(middle)], request).text).toBe(text);
      expect(spliced(all.match(/[\s\S]{1,97}/g) as string[], request).text).toBe(text);
    },
  );

  test("of an upstream that numbers none, or names a number elsewhere", () => {
    const event = (type: string, more: Json, first: Json = {}) =>
      `event: ${type}\ndata: ${JSON.stringify({ ...first, type, ...more })}\n\n`;
    const response = { id: "r", object: "response", model: "m", status: "in_progress", output: [] };
    const item = { type: "message", id: "m1", role: "assistant", status: "in_progress", content: [] };
    const said = { item_id: "m1", output_index: 0, content_index: 0 };
    const delta = 'a "sequence_number":9 b';
    const end = { ...response, status: "completed", output: [] };
    const { text } = spliced([
      event("response.created", { response }) +
        event("response.in_progress", { response: { ...response, metadata: { sequence_number: "5" } } }) +
        event("response.output_item.added", { output_index: 0 }, { item: { ...item, sequence_number: 7 } }) +
        event("response.content_part.added", { ...said, part: { type: "output_text", text: "" } }) +
        event("response.output_text.delta", { ...said, delta }) +
        event("response.output_text.delta", { ...said, delta, sequence_number: 44 }) +
        event("response.output_text.done", { ...said, text: delta + delta }) +
        event("response.completed", { response: end }),
    ]);
    const { events } = told(asked({}), text);
    expectNumbered(events);
    expect(events[3]).toMatchObject({ item: { sequence_number: 7 } });
    expect(events[2]).toMatchObject({ response: { metadata: { sequence_number: "5" } } });
    expect(events.filter(({ delta: of }) => of === delta)).toHaveLength(2);
  });

  test("of a failure and of a cancel end the stream where it stands", () => {
    const request = asked({ stream: true });
    const { next, text } = failedEvents(fail("internal", "x"), request, IDENTITY, 2);
    const failed = told(request, text);
    expectNumbered(failed.events);
    expect([failed.next, next]).toEqual([2, 3]);
    const cancelled = background.endedEvent(
      background.cancelled(request, IDENTITY, { usage: usage(1, 1), svc: SVC }),
      2,
    );
    const { events } = told(request, cancelled);
    expectNumbered(events);
    for (const event of events) expectEvent(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "cancelled", output: [] },
    });
  });

  test("of a translation ask the upstream for a stream", () => {
    const request = asked({});
    const { parts } = translated(generation, responsesDialect).write(request, UPSTREAM);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Json;
    expect(body).toMatchObject({ stream: true });
    expect(body).not.toHaveProperty("background");
  });
});
