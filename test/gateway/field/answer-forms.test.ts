/**
 * Answers that came in another form than was asked for, or under another label: the client hears what it hears of the right one, once,
 * and is charged the same (cita-777/metapi#177, Wei-Shaw/sub2api#2826, ding113/claude-code-hub#1458, hackclub/ai#17, decolua/9router#3492).
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import {
  bytesOf,
  DIALECTS,
  type Dialect,
  dataOf,
  FORMATS,
  heardOf,
  labelled,
  SAID,
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

interface Form {
  readonly name: string;
  readonly isStream: boolean;
  readonly dialects?: readonly Dialect[];
  readonly scripted: (dialect: Dialect) => Scripted;
  readonly warning?: string;
}

const SSE_LABEL = "text/event-stream";
const OTHER_LABELS = [
  "text/plain; charset=utf-8",
  "application/json",
  "application/octet-stream",
  "application/x-ndjson",
  "text/html",
  undefined,
];

/** Blank lines and keep-alives before a stream, and a byte order mark before all of it. */
const behind = (before: string, dialect: Dialect, type?: string): Scripted =>
  labelled({ parts: [before, bytesOf(streamed(dialect, SAID))] }, type);

const FORMS: readonly Form[] = [
  ...OTHER_LABELS.map(
    (label): Form => ({
      name: `a stream labelled ${label}`,
      isStream: true,
      scripted: (dialect) => streamed(dialect, SAID, label),
    }),
  ),
  ...["\ufeff", "\n\n", "\r\n: hello\r\n\r\n", ": PROCESSING\n\n", "retry: 100\n\n", "id: 1\n\n"].map(
    (before): Form => ({
      name: `a stream behind ${JSON.stringify(before)}`,
      isStream: true,
      dialects: SSE,
      scripted: (dialect) => behind(before, dialect),
    }),
  ),
  ...[
    "application/json",
    "text/event-stream",
    "application/vnd.amazon.eventstream",
    "text/plain",
    undefined,
  ].map(
    (label): Form => ({
      name: `a whole answer labelled ${label} for a stream`,
      isStream: true,
      warning: "answer_form: whole",
      scripted: (dialect) => whole(dialect, SAID, label),
    }),
  ),
  {
    name: "a whole answer behind white space, ended as a stream is",
    isStream: true,
    warning: "answer_form: whole",
    scripted: (dialect) =>
      labelled(
        { parts: ["\n \n", bytesOf(whole(dialect, SAID)), "\n\ndata: [DONE]\n\n"] },
        "text/event-stream",
      ),
  },
  ...[false, true].map(
    (isStream): Form => ({
      name: `a whole answer in one event, streamed ${isStream}`,
      isStream,
      dialects: ["chat", "responses", "messages"],
      warning: isStream ? "answer_form: whole" : "answer_form: stream",
      scripted: (dialect) => labelled({ body: framed(bytesOf(whole(dialect, SAID)).toString()) }, SSE_LABEL),
    }),
  ),
  ...[false, true].map(
    (isStream): Form => ({
      name: `a whole answer behind comments of a stream, streamed ${isStream}`,
      isStream,
      dialects: ["chat", "responses", "messages"],
      warning: isStream ? "answer_form: whole" : "answer_form: stream",
      scripted: (dialect) =>
        labelled({ parts: [": PROCESSING\n\n", bytesOf(whole(dialect, SAID)), "\n"] }, SSE_LABEL),
    }),
  ),
  ...[false, true].map(
    (isStream): Form => ({
      name: `events that no blank line ends, streamed ${isStream}`,
      isStream,
      dialects: SSE,
      ...(!isStream && { warning: "answer_form: stream" }),
      scripted: (dialect) => retold(dialect, (text) => text.replaceAll("\n\n", "\n")),
    }),
  ),
  ...[false, true].map(
    (isStream): Form => ({
      name: `data whose field is named twice, streamed ${isStream}`,
      isStream,
      dialects: SSE,
      ...(!isStream && { warning: "answer_form: stream" }),
      scripted: (dialect) => retold(dialect, (text) => text.replaceAll("data: ", "data: data: ")),
    }),
  ),
  ...[false, true].map(
    (isStream): Form => ({
      name: `names of events on their own, streamed ${isStream}`,
      isStream,
      dialects: SSE,
      ...(!isStream && { warning: "answer_form: stream" }),
      scripted: (dialect) => retold(dialect, (text) => text.replaceAll(/^(event: .*)$/gm, "$1\n")),
    }),
  ),
  ...[false, true].map(
    (isStream): Form => ({
      name: `a stream that goes on behind its end, streamed ${isStream}`,
      isStream,
      dialects: ["chat", "responses", "messages"],
      ...(!isStream && { warning: "answer_form: stream" }),
      scripted: (dialect) =>
        labelled({ parts: [bytesOf(streamed(dialect, SAID)), bytesOf(streamed(dialect, TEXT))] }, SSE_LABEL),
    }),
  ),
  ...[false, true].map(
    (isStream): Form => ({
      name: `a stream behind fields that no reader knows, streamed ${isStream}`,
      isStream,
      dialects: SSE,
      ...(!isStream && { warning: "answer_form: stream" }),
      scripted: (dialect) => behind("server: a\n\n", dialect, SSE_LABEL),
    }),
  ),
  ...[false, true].map(
    (isStream): Form => ({
      name: `chunks on several lines each, streamed ${isStream}`,
      isStream,
      dialects: SSE,
      warning: "answer_form: json_values",
      scripted: (dialect) => spread(dialect),
    }),
  ),
  {
    name: "chunks on lines",
    isStream: true,
    dialects: SSE,
    warning: "answer_form: json_values",
    scripted: (dialect) => lines(dialect, "application/x-ndjson"),
  },
  {
    name: "chunks on lines, labelled as a stream",
    isStream: true,
    dialects: SSE,
    warning: "answer_form: json_values",
    scripted: (dialect) => lines(dialect, "text/event-stream"),
  },
  {
    name: "a list of chunks",
    isStream: true,
    dialects: SSE,
    warning: "answer_form: json_values",
    scripted: (dialect) => listed(dialect),
  },
  ...["text/event-stream", "application/vnd.amazon.eventstream", "application/json", undefined].map(
    (label): Form => ({
      name: `a stream labelled ${label} for a whole answer`,
      isStream: false,
      warning: "answer_form: stream",
      scripted: (dialect) => streamed(dialect, SAID, label),
    }),
  ),
  {
    name: "a stream behind a keep-alive for a whole answer",
    isStream: false,
    dialects: SSE,
    warning: "answer_form: stream",
    scripted: (dialect) => behind("\ufeff\n: PROCESSING\n\n", dialect),
  },
  {
    name: "chunks on lines for a whole answer",
    isStream: false,
    dialects: SSE,
    warning: "answer_form: json_values",
    scripted: (dialect) => lines(dialect, "application/json"),
  },
  {
    name: "a list of chunks for a whole answer",
    isStream: false,
    dialects: SSE,
    warning: "answer_form: json_values",
    scripted: (dialect) => listed(dialect),
  },
  {
    name: "a whole answer that ends as a stream does",
    isStream: false,
    scripted: (dialect) =>
      labelled(
        { parts: ["\ufeff", bytesOf(whole(dialect, SAID)), "\n\ndata: [DONE]\n\n"] },
        "text/event-stream",
      ),
  },
  {
    name: "a whole answer labelled as a stream",
    isStream: false,
    scripted: (dialect) => whole(dialect, SAID, "text/event-stream"),
  },
];

const framed = (json: string): string => `data: ${json}\n\n`;

/** The stream in other words. */
const retold = (dialect: Dialect, change: (text: string) => string): Scripted =>
  labelled({ body: change(bytesOf(streamed(dialect, SAID)).toString()) }, SSE_LABEL);

const lines = (dialect: Dialect, type: string): Scripted =>
  labelled({ body: `${dataOf(dialect, SAID).join("\n")}\n` }, type);

/** Line breaks where JSON may have them. */
const spread = (dialect: Dialect): Scripted =>
  labelled({ body: dataOf(dialect, SAID).map(broken).join("\n") }, "application/json");

/** Behind each bracket that is within no string. */
const broken = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|\{/g, (found) => (found === "{" ? "{\r\n  " : found));

const listed = (dialect: Dialect): Scripted =>
  labelled(
    {
      body: `[${dataOf(dialect, SAID)
        .filter((json) => json !== "[DONE]")
        .join("\r\n,\r\n")}\n]`,
    },
    "application/json; charset=UTF-8",
  );

describe.each(FORMS)("$name", ({ isStream, dialects = DIALECTS, scripted, warning }) => {
  for (const client of FORMATS) {
    for (const dialect of dialects) {
      test(`${client} to ${dialect}`, async () => {
        const right = await heardOf(field, client, dialect, answerOf(dialect, SAID, isStream), isStream);
        const heard = await heardOf(field, client, dialect, scripted(dialect), isStream);
        expect(heard.said).toEqual(right.said);
        expect(heard.warnings).toEqual([...(warning === undefined ? [] : [warning]), ...right.warnings]);
      });
    }
  }
});
