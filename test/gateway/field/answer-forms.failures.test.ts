/**
 * What is no answer in any form, or an error in another form than was asked for: the call fails as it does for the right form, another
 * endpoint is asked, nothing is charged, and half an answer is never given as a whole one.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { exceptionFrame } from "../../support/wire/converse.fixtures.ts";
import {
  bytesOf,
  DIALECTS,
  type Dialect,
  dataOf,
  FORMATS,
  labelled,
  requestOf,
  SSE,
  streamed,
  TEXT,
  whole,
} from "./answer-forms.fixtures.ts";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

interface Case {
  readonly name: string;
  readonly modes: readonly boolean[];
  readonly dialects?: readonly Dialect[];
  readonly scripted: (dialect: Dialect, isStream: boolean) => Scripted;
  readonly status: number;
  readonly code: string;
}

const WHOLE_ERRORS: Readonly<Record<Dialect, string>> = {
  chat: '{"error":{"message":"no room","type":"server_error","code":"broken"}}',
  responses:
    '{"id":"r","object":"response","status":"failed","error":{"code":"server_error","message":"no room"},"output":[]}',
  messages: '{"type":"error","error":{"type":"api_error","message":"no room"}}',
  gemini: '{"error":{"code":500,"message":"no room","status":"INTERNAL"}}',
  converse: '{"error":{"code":"internal","message":"no room"}}',
};

const STREAM_ERRORS: Readonly<Record<Dialect, string>> = {
  chat: `data: ${WHOLE_ERRORS.chat}\n\n`,
  responses: `event: error\ndata: {"type":"error","code":"server_error","message":"no room"}\n\n`,
  messages: `event: error\ndata: ${WHOLE_ERRORS.messages}\n\n`,
  gemini: `data: ${WHOLE_ERRORS.gemini}\n\n`,
  converse: exceptionFrame("internalServerException", "no room"),
};

const OVERFLOW = JSON.stringify({
  error: {
    message: "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.",
    type: "invalid_request_error",
  },
});
const UNREADABLE = { status: 502, code: "upstream_invalid_response" };
const html = "<!doctype html><html><body>Sign in to the network</body></html>";
const cutBy = (scripted: Scripted, share: number): Scripted => {
  const bytes = bytesOf(scripted);
  return { ...scripted, parts: [bytes.subarray(0, Math.floor(bytes.length * share))] };
};

const CASES: readonly Case[] = [
  ...["text/html", "text/event-stream", "application/json", undefined].map(
    (type): Case => ({
      name: `a page labelled ${type}`,
      modes: type === "text/event-stream" ? [false] : [false, true],
      scripted: () => labelled({ body: html }, type),
      ...UNREADABLE,
    }),
  ),
  ...["application/json", undefined].map(
    (type): Case => ({
      name: `nothing, labelled ${type}`,
      modes: [false, true],
      scripted: () => labelled({ body: "" }, type),
      ...UNREADABLE,
    }),
  ),
  ...["{}", "[]", "null", '"text"', "\n\n", "[{}]", '{"choices":', "{]"].map(
    (body): Case => ({
      name: `no answer: ${JSON.stringify(body)}`,
      modes: [false, true],
      scripted: () => labelled({ body }, "application/json"),
      ...UNREADABLE,
    }),
  ),
  {
    name: "an error as a whole body, for a stream",
    modes: [true],
    scripted: (dialect) => labelled({ body: WHOLE_ERRORS[dialect] }, "application/json"),
    status: 502,
    code: "upstream_error",
  },
  {
    name: "an error as a whole body, labelled as a stream",
    modes: [true],
    dialects: ["chat", "responses", "messages", "gemini"],
    scripted: (dialect) => labelled({ body: WHOLE_ERRORS[dialect] }, "text/event-stream"),
    status: 502,
    code: "upstream_error",
  },
  {
    name: "an error as a list, for a stream",
    modes: [true],
    dialects: ["gemini", "chat"],
    scripted: (dialect) => labelled({ body: `[${WHOLE_ERRORS[dialect]}\n]` }, "application/json"),
    status: 502,
    code: "upstream_error",
  },
  {
    name: "an error event, for a whole answer",
    modes: [false],
    scripted: (dialect) => labelled({ parts: [Buffer.from(STREAM_ERRORS[dialect], "latin1")] }, undefined),
    status: 502,
    code: "upstream_error",
  },
  {
    name: "an error event behind half an answer, for a whole one",
    modes: [false],
    dialects: ["chat", "responses", "messages", "gemini"],
    scripted: (dialect) => {
      const bytes = bytesOf(streamed(dialect, TEXT));
      const end = bytes.lastIndexOf("\n\n", Math.floor(bytes.length / 2)) + 2;
      return labelled({ parts: [bytes.subarray(0, end), STREAM_ERRORS[dialect]] }, "text/event-stream");
    },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "an error event in plain text",
    modes: [false, true],
    dialects: SSE,
    scripted: () => labelled({ body: "event: error\ndata: no room\n\n" }, "text/event-stream"),
    status: 502,
    code: "upstream_error",
  },
  {
    name: "an error as bare JSON behind comments",
    modes: [false, true],
    dialects: SSE,
    scripted: (dialect) =>
      labelled({ body: `: PROCESSING\n\n: PROCESSING\n\n${WHOLE_ERRORS[dialect]}` }, "text/event-stream"),
    status: 502,
    code: "upstream_error",
  },
  {
    name: "an overflow as bare JSON behind comments",
    modes: [false],
    dialects: SSE,
    scripted: () => labelled({ body: `: PROCESSING\n\n${OVERFLOW}` }, "text/event-stream"),
    status: 400,
    code: "context_length_exceeded",
  },
  {
    name: "an error in the line behind half an event",
    modes: [false, true],
    dialects: SSE,
    scripted: (dialect) =>
      labelled({ body: `data: {"choices":[{"del\ndata: ${WHOLE_ERRORS[dialect]}\n\n` }, "text/event-stream"),
    status: 502,
    code: "upstream_error",
  },
  {
    name: "the end of a stream without a beginning",
    modes: [false, true],
    dialects: SSE,
    scripted: () => labelled({ body: "data: [DONE]\n\n" }, "text/event-stream"),
    ...UNREADABLE,
  },
  {
    name: "a chunk with a stream behind it",
    modes: [false, true],
    dialects: ["chat", "responses", "messages"],
    scripted: (dialect) => {
      const [first = "", ...rest] = dataOf(dialect, TEXT);
      return labelled({ body: `${first}\n${rest.map((json) => `data: ${json}\n\n`).join("")}` }, undefined);
    },
    ...UNREADABLE,
  },
  {
    name: "a list of chunks that is cut off",
    modes: [false],
    dialects: ["chat"],
    scripted: (dialect) => labelled({ body: `[${dataOf(dialect, TEXT).slice(0, 2).join(",")}]` }, undefined),
    ...UNREADABLE,
  },
  {
    name: "half a stream, for a whole answer",
    modes: [false],
    scripted: (dialect) => cutBy(streamed(dialect, TEXT), 0.5),
    ...UNREADABLE,
  },
  {
    name: "half a whole answer, for a stream",
    modes: [true],
    scripted: (dialect) => cutBy(whole(dialect, TEXT), 0.6),
    ...UNREADABLE,
  },
];

describe.each(CASES)("$name", ({ modes, dialects = DIALECTS, scripted, status, code }) => {
  for (const isStream of modes) {
    test.each(dialects)(`from %s, streamed ${isStream}`, async (dialect) => {
      for (const client of FORMATS) {
        const before = (await field.gateway.balance()).available;
        field.up.script(scripted(dialect, isStream));
        const got = await field.send(client, dialect, requestOf(client, dialect, isStream), {
          stream: isStream,
        });
        expect(got.status, got.text).toBe(status);
        if (client !== "messages") expect(got.json.error.code).toBe(code);
        expect((await field.gateway.balance()).available).toBe(before);
      }
    });
  }
});

test.each(["text/event-stream", "application/json"])(
  "an error's reason as an event labelled %s",
  async (type) => {
    const body =
      'event: error\ndata: {"error":{"message":"the prompt has a hole","type":"invalid_request_error"}}\n\n';
    for (const stream of [false, true]) {
      field.up.script({ ...labelled({ body }, type), status: 400 });
      const got = await field.send("chat", "chat", requestOf("chat", "chat", stream), { stream });
      expect(got.status).toBe(400);
      expect(got.json.error.message).toContain("the prompt has a hole");
    }
  },
);
