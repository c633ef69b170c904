/** Responses as they are written, held to the schema of Open Responses, and the members that repeat the request. */
import { describe, expect, test } from "vitest";
import type { NeutralReply, ReplyPart } from "../../../../src/wire/neutral/neutral.ts";
import { readResponsesRequest } from "../../../../src/wire/responses/request.ts";
import { writeResponsesReply } from "../../../../src/wire/responses/write-reply.ts";
import { SVC, usage } from "../../../support/wire/fixtures.ts";
import { expectEvent, expectResponse } from "../../../support/wire/open-responses.ts";
import { eventsIn, IDENTITY, requestOf, streamed, written } from "../responses.fixtures.ts";

const SEAL = { by: "anthropic", data: "c2VhbA==" } as const;
const TEXT: ReplyPart = { type: "text", text: "Größe" };
const LOGPROBS = [
  {
    token: "é",
    logprob: -0.5,
    bytes: null,
    top_logprobs: [{ token: "e", logprob: -1, bytes: [101] }],
  },
];

const ANSWERS: Readonly<Record<string, readonly ReplyPart[]>> = {
  nothing: [],
  "an empty text": [{ type: "text", text: "" }],
  "a cited text": [
    {
      type: "text",
      text: "Größe",
      citations: [
        { type: "url", url: "https://example.org/", title: "Ö", start: 0, end: 5 },
        { type: "url", url: "https://example.org/2", title: "" },
      ],
    },
  ],
  "a refusal behind a text": [TEXT, { type: "refusal", text: "No." }],
  "reasoning in full": [{ type: "reasoning", text: "So", seal: SEAL }, TEXT],
  "a summary of reasoning": [{ type: "reasoning", text: "So", isSummary: true }, TEXT],
  "reasoning that is sealed": [{ type: "reasoning", text: "", isRedacted: true, seal: SEAL }],
  "signed calls": [
    TEXT,
    { type: "tool_call", id: "c1", name: "f", arguments: '{"a":1.0}', seal: SEAL },
    { type: "tool_call", id: "c2", name: "g", arguments: "" },
  ],
};

const STOPS = ["stop", "length", "content_filter", "refusal", "tool_calls", "other"] as const;

describe.each(Object.entries(ANSWERS))("%s", (_, parts) => {
  test.each(STOPS)("ended by %s: whole and streamed", (reason) => {
    const reply: NeutralReply = { choices: [{ parts, stop: { reason } }], usage: undefined };
    const { text, response } = written(streamed(reply));
    for (const event of eventsIn(text)) expectEvent(event);
    expectResponse(response);
    const whole = JSON.parse(writeResponsesReply(reply, requestOf({}), IDENTITY, usage(1, 1), SVC));
    expectResponse(whole);
    const isComplete = response.status === "completed";
    expect(response.completed_at).toBe(isComplete ? 1_761_000_003 : null);
    expect(whole.completed_at).toBe(response.completed_at);
  });
});

test("log probabilities", () => {
  const parts = [TEXT];
  const reply: NeutralReply = {
    choices: [{ parts, stop: { reason: "stop" }, logprobs: LOGPROBS }],
    usage: undefined,
  };
  const whole = JSON.parse(writeResponsesReply(reply, requestOf({}), IDENTITY, usage(1, 1), SVC));
  expectResponse(whole);
  const { text } = written([
    { type: "begin", choice: 0, part: 0, kind: "text" },
    { type: "delta", choice: 0, part: 0, text: "e", logprobs: LOGPROBS },
  ]);
  for (const event of eventsIn(text)) expectEvent(event);
});

test("a clock that steps back completes no response before it was created", () => {
  const clock = { now: () => 5 };
  const reply: NeutralReply = { choices: [], usage: undefined };
  const text = writeResponsesReply(reply, requestOf({}), { ...IDENTITY, clock }, usage(1, 1), SVC);
  expect(JSON.parse(text).completed_at).toBe(IDENTITY.createdS);
});

/** A member as the client wrote it, and as it is repeated. */
const REPEATED: readonly [name: string, given: string, repeated: string][] = [
  ["tools", "null", "[]"],
  ["tools", "[]", "[]"],
  [
    "tools",
    '[{"type":"function","name":"f"}]',
    '[{"type":"function","name":"f","description":null,"parameters":null,"strict":null}]',
  ],
  [
    "tools",
    '[{"name":"f"}]',
    '[{"name":"f","type":"function","description":null,"parameters":null,"strict":null}]',
  ],
  [
    "tools",
    '[ {"type":"function", "name":"f","description":"d","parameters":{"b":1.0,"a":1E400,"2":{},"1":[],"b":9007199254740993},"strict":false} ]',
    '[ {"type":"function", "name":"f","description":"d","parameters":{"b":1.0,"a":1E400,"2":{},"1":[],"b":9007199254740993},"strict":false} ]',
  ],
  [
    "tools",
    '[{"type":"custom","name":"c"},{"type":"function","name":"\\u00f6","strict":true},{"type":"web_search"}]',
    '[{"type":"custom","name":"c"},{"type":"function","name":"\\u00f6","strict":true,"description":null,"parameters":null},{"type":"web_search"}]',
  ],
  ["tool_choice", '"required"', '"required"'],
  ["tool_choice", '{"type":"function","name":"f"}', '{"type":"function","name":"f"}'],
  ["tool_choice", '{"type":"allowed_tools","tools":[]}', '{"type":"allowed_tools","tools":[],"mode":"auto"}'],
  [
    "tool_choice",
    '{"type":"allowed_tools","mode":null,"tools":[]}',
    '{"type":"allowed_tools","mode":"auto","tools":[]}',
  ],
  ["text", "{}", '{"format":{"type":"text"}}'],
  ["text", '{"format":null,"verbosity":"low"}', '{"format":{"type":"text"},"verbosity":"low"}'],
  [
    "text",
    '{"format":{"type":"json_schema","name":"n","schema":{"minimum":1.0,"2":0,"1":0}}}',
    '{"format":{"type":"json_schema","name":"n","schema":{"minimum":1.0,"2":0,"1":0},"description":null,"strict":false}}',
  ],
  [
    "text",
    '{"format":{"type":"json_schema","name":"n","schema":{},"description":"d","strict":true}}',
    '{"format":{"type":"json_schema","name":"n","schema":{},"description":"d","strict":true}}',
  ],
  ["reasoning", "{}", '{"effort":null,"summary":null}'],
  ["reasoning", '{"effort":"low"}', '{"effort":"low","summary":null}'],
  ["reasoning", '{"summary":"auto"}', '{"summary":"auto","effort":null}'],
  ["frequency_penalty", "0.50", "0.50"],
  ["presence_penalty", "null", "0"],
  ["metadata", '{"a":"1","a":"2"}', '{"a":"1","a":"2"}'],
];

test.each(REPEATED)("%s %s is repeated as %s", (name, given, repeated) => {
  const body = Buffer.from(`{"model":"v/m","input":"x","${name}":${given}}`);
  const text = writeResponsesReply(
    { choices: [], usage: undefined },
    readResponsesRequest(body),
    IDENTITY,
    usage(1, 1),
    SVC,
  );
  expect(text).toContain(`"${name}":${repeated},"`);
  expectResponse(JSON.parse(text));
});

test.each([
  ["a name that stands twice", '[{"type":"function","name":"f","name":"g"}]'],
  [
    "a tool that has all",
    '[{"type":"custom","name":"f"},{"strict":null,"type":"function","parameters":null,"description":null }]',
  ],
  ["tools that are no objects", '[1,"a",null,[]]'],
  ["tools of many brackets", `[${"[".repeat(200)}${"]".repeat(200)}]`],
])("%s is repeated as it is", (_, tools) => {
  const body = Buffer.from(`{"model":"v/m","input":"x","tools":${tools}}`);
  const { text } = written([], readResponsesRequest(body));
  expect(text).toContain(`"tools":${tools},"`);
});

test.each([
  ["{}", '{"type":"function","description":null,"parameters":null,"strict":null}'],
  ['{ "type" : null }', '{ "type" : "function","description":null,"parameters":null,"strict":null }'],
  [
    '{"type":"function","strict":1.0,"parameters":{"a":"]"}}',
    '{"type":"function","strict":1.0,"parameters":{"a":"]"},"description":null}',
  ],
])("a tool %s is repeated with what it lacks", (tool, whole) => {
  const body = Buffer.from(`{"model":"v/m","input":"x","tools":[${tool}, 1]}`);
  const { text } = written([], readResponsesRequest(body));
  expect(text).toContain(`"tools":[${whole}, 1],"`);
});
