/**
 * Errors within streams that began with status 200, as their first event and behind content: the client hears the provider's reason in
 * its own format, bounded, and without what is none of its business.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { frame } from "../../support/wire/converse.fixtures.ts";
import { bytesOf, DIALECTS, dataOf, FORMATS, requestOf, streamed, TEXT } from "./answer-forms.fixtures.ts";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

/** By these words the request is at fault, whatever else an event says. */
const REASON = "Unsupported parameter: max_output_tokens";
const error = { message: REASON, type: "invalid_request_error", code: "odd_one" };
const json = (value: unknown): string => JSON.stringify(value);

/** Events that dialects with server-sent events get alike. */
const EVENTS: readonly (readonly [name: string, event: string, code?: string])[] = [
  ["an object", `data: ${json({ error })}`, error.code],
  ["an object that is named", `event: error\ndata: ${json({ error })}`, error.code],
  ["a text", `data: ${json({ error: REASON })}`],
  // octos-org/octos#13
  ["a text that is named", `event: error\ndata: ${json({ error: REASON })}`],
  ["plain text", `event: error\ndata: ${REASON}`],
  ["plain text behind a word (lucasjinreal/Crane#121)", `data: error: ${REASON}`],
  ["a string", `event: error\ndata: ${json(REASON)}`],
  ["llama.cpp's field (ggml-org/llama.cpp#16109)", `error: ${json(error)}`, error.code],
  ["a list", `data: ${json([{ error }])}`, error.code],
  ["FastAPI's", `data: ${json({ detail: REASON })}`],
  ["FastAPI's faults", `data: ${json({ detail: [{ loc: ["body"], msg: REASON }] })}`],
  ["Coze's (coze-dev/coze-py#78)", `data: ${json({ code: 4100, msg: REASON })}`, "4100"],
  ["Dify's", `data: ${json({ event: "error", status: 400, code: "odd_one", message: REASON })}`, "odd_one"],
  ["OpenAI's of responses", `event: error\ndata: ${json({ ...error, type: "error" })}`, error.code],
  ["a type of its own", `event: error\ndata: ${json({ type: "overloading", message: REASON })}`],
  [
    "what broke off within another event (Wei-Shaw/sub2api#1471)",
    `data: {"type":"response.comp\ndata: ${json({ type: "error", error })}`,
    error.code,
  ],
];

const RESPONSES_EVENTS: typeof EVENTS = [
  [
    "a failed response",
    `data: ${json({ type: "response.failed", response: { status: "failed", error } })}`,
    error.code,
  ],
  [
    "a failed response whose error is a text",
    `data: ${json({ type: "response.failed", response: { status: "failed", error: REASON } })}`,
  ],
  ["a response that failed elsewhere", `data: ${json({ type: "response.failed", error })}`, error.code],
];

const exception = (payload: string, headers: Readonly<Record<string, string>> = {}): string =>
  frame({ ":exception-type": "validationException", ":message-type": "exception", ...headers }, payload);
const CONVERSE_EVENTS: typeof EVENTS = [
  ["an exception", exception(json({ message: REASON }))],
  ["an exception with a capital", exception(json({ Message: REASON }))],
  ["an exception that is a text", exception(REASON)],
  ["an exception whose reason is a header", exception("", { ":error-message": REASON })],
  [
    "an error",
    frame({ ":message-type": "error", ":error-code": "odd_one", ":error-message": REASON }, ""),
    "odd_one",
  ],
];

type Way = readonly [dialect: ChatUpstreamName, name: string, event: string, code: string | undefined];
const WAYS: readonly Way[] = DIALECTS.flatMap((dialect): Way[] => {
  if (dialect === "converse")
    return CONVERSE_EVENTS.map(([name, event, code]) => [dialect, name, event, code]);
  const events = dialect === "responses" ? [...EVENTS, ...RESPONSES_EVENTS] : EVENTS;
  return events.map(([name, event, code]) => [dialect, name, `${event}\n\n`, code]);
});

/** Half of an answer, to the end of an event. */
function begun(dialect: ChatUpstreamName): Buffer {
  const bytes = bytesOf(streamed(dialect, TEXT));
  const half = Math.floor(bytes.length / 2);
  if (dialect !== "converse") return bytes.subarray(0, bytes.indexOf("\n\n", half) + 2);
  let end = 0;
  while (end < half) end += bytes.readUInt32BE(end);
  return bytes.subarray(0, end);
}

function stream(dialect: ChatUpstreamName, before: Buffer, event: string): Scripted {
  const type = dialect === "converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
  return { headers: { "content-type": type }, parts: [before, Buffer.from(event, "latin1")] };
}

describe.each([
  ["as the first event", () => Buffer.alloc(0)],
  [
    "behind a comment",
    (dialect: ChatUpstreamName) => Buffer.from(dialect === "converse" ? "" : ": ping\n\n"),
  ],
  ["behind content", begun],
])("an error %s", (_, before) => {
  test.each(WAYS)("%s: %s", async (dialect, _name, event, code) => {
    for (const client of FORMATS) {
      field.up.script(stream(dialect, before(dialect), event));
      const got = await field.send(client, dialect, requestOf(client, dialect, true), { stream: true });
      expect(got.text).toContain(REASON);
      if (code !== undefined) expect(got.text).toContain(`"upstream_code":"${code}"`);
    }
  });
});

test.each(DIALECTS)("%s: an error is bounded, and tells no secret", async (dialect) => {
  const said = `${REASON} at http://10.0.0.5:8000 by Bearer abcdefghijklmnop1234 ${"x".repeat(100_000)}`;
  const event =
    dialect === "converse"
      ? exception(json({ message: said }))
      : `data: ${json({ error: { ...error, message: said } })}\n\n`;
  for (const client of FORMATS) {
    field.up.script(stream(dialect, begun(dialect), event));
    const got = await field.send(client, dialect, requestOf(client, dialect, true), { stream: true });
    expect(got.text).toContain(REASON);
    expect(got.text).not.toMatch(/10\.0\.0\.5|abcdefgh|x{2000}/);
  }
});

test.each(["chat", "responses", "messages", "gemini"] as const)(
  "%s: an error on a line behind the beginning of an answer, and in a stream where none was asked for",
  async (dialect) => {
    const [first = ""] = dataOf(dialect, TEXT);
    const lines = {
      headers: { "content-type": "application/x-ndjson" },
      body: `${first}\n${json({ error })}\n`,
    };
    const event = stream(dialect, begun(dialect), `event: error\ndata: ${REASON}\n\n`);
    for (const client of FORMATS) {
      for (const [scripted, isStream] of [
        [lines, true],
        [lines, false],
        [event, false],
      ] as const) {
        field.up.script(scripted);
        const got = await field.send(client, dialect, requestOf(client, dialect, isStream), {
          stream: isStream,
        });
        expect(got.text).toContain(REASON);
        if (!isStream) expect(got.status).toBe(400);
      }
    }
  },
);

test.each(DIALECTS)("%s: a list with an error, for a stream", async (dialect) => {
  const body = `[${json({ error: { ...error, code: 400, status: "INVALID_ARGUMENT" } })}\n]`;
  for (const type of ["application/json", "text/event-stream"]) {
    for (const client of FORMATS) {
      field.up.script({ headers: { "content-type": type }, body });
      const got = await field.send(client, dialect, requestOf(client, dialect, true), { stream: true });
      expect(got.status).toBe(400);
      expect(got.text).toContain(REASON);
    }
  }
});
