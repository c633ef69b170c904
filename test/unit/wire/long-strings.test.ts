/** A string that is no JSON is found where a body or an answer is read, however long it is: long ones are not parsed. */
import { expect, test } from "vitest";
import type { Dialect } from "../../../src/base/endpoint.ts";
import type { FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { type Passable, passageTo } from "../../../src/wire/passages.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { SVC, usage } from "../../support/wire/fixtures.ts";
import { IDENTITY } from "./chat.fixtures.ts";

const RIGHT: readonly string[] = ["\\u00E9x\\n\\/", "x"];
/** An escape that is none, half of one, one without its digits, a line break and another control character. */
const WRONG: readonly string[] = ["\\q", "\\u12", "\\u12g4", "\n", "\u0001"];
/** Strings that are parsed, that are left out, whose text is searched and not scanned, that are looked into in parts. */
const LENGTHS: readonly number[] = [10, 5_000, 20_000, 70_000];

/** Texts in which one of the strings ends so, each of the strings in turn. @param text has `$` in the place of strings */
function* filled(text: string, ends: readonly string[]): Generator<string> {
  const pieces = text.split("$");
  for (let at = 1; at < pieces.length; at++)
    for (const length of LENGTHS)
      for (const end of ends)
        yield `${pieces.slice(0, at).join("a")}${"x".repeat(length)}${end}${pieces.slice(at).join("a")}`;
}

const USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}';
const CHAT =
  '{"id":"$","object":"chat.completion","created":1,"model":"$","choices":[{"index":0,"message":{"role":"assistant","content":"$",' +
  '"refusal":"$","tool_calls":[{"id":"$","type":"function","function":{"name":"$","arguments":"$"},"more":{"$":"$"}}]},' +
  `"finish_reason":"tool_calls"}],"url":"data:image/png;base64,$",${USAGE}}`;
const MESSAGES =
  '{"id":"$","type":"message","role":"assistant","model":"$","content":[{"type":"text","text":"$"},' +
  '{"type":"tool_use","id":"$","name":"$","input":{"$":"$"}}],"stop_reason":"tool_use","more":["$"],' +
  '"usage":{"input_tokens":1,"output_tokens":2}}';
const RESPONSE =
  '{"id":"$","object":"response","status":"completed","model":"$","output":[{"type":"message","id":"$","role":"assistant",' +
  '"status":"completed","content":[{"type":"output_text","text":"$","annotations":[]},{"type":"refusal","refusal":"$"}]},' +
  '{"type":"function_call","id":"$","call_id":"$","name":"$","arguments":"$","status":"completed"}],' +
  '"more":"$","usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}';
const COMPLETION =
  '{"id":"$","object":"text_completion","created":1,"model":"$","choices":[{"index":0,"text":"$","logprobs":null,' +
  `"finish_reason":"stop"}],"more":{"$":"$"},${USAGE}}`;
const EMBEDDINGS =
  '{"object":"list","model":"$","data":[{"object":"embedding","index":0,"embedding":"$"}],"more":"$",' +
  '"usage":{"prompt_tokens":1,"total_tokens":1}}';
const GEMINI =
  '{"candidates":[{"content":{"role":"model","parts":[{"text":"$"},{"functionCall":{"name":"$","args":{"$":"$"}}}]},' +
  '"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2},"more":"$"}';
const CONVERSE =
  '{"output":{"message":{"role":"assistant","content":[{"text":"$"},{"toolUse":{"toolUseId":"$","name":"$","input":{"$":"$"}}}]}},' +
  '"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3},"more":"$"}';

const REQUESTS = {
  chat:
    '{"model":"m","messages":[{"role":"user","content":"$"},{"role":"user","content":[{"type":"text","text":"$"},' +
    '{"type":"image_url","image_url":{"url":"data:image/png;base64,$"}}]},{"role":"assistant","tool_calls":[{"id":"c",' +
    '"type":"function","function":{"name":"f","arguments":"$"}}]}],"more":{"a":"$"}}',
  messages: '{"model":"m","max_tokens":5,"system":"$","messages":[{"role":"user","content":"$"}],"more":"$"}',
  responses:
    '{"model":"m","instructions":"$","input":[{"role":"user","content":"$"},{"type":"function_call","call_id":"c","name":"f",' +
    '"arguments":"$"}],"more":"$"}',
  completions: '{"model":"m","prompt":"$","more":"$"}',
  embeddings: '{"model":"m","input":["a","$"],"encoding_format":"base64","more":"$"}',
} satisfies Partial<Record<FormatName, string>>;
type Asked = keyof typeof REQUESTS;

test.each<[Asked, Dialect, string]>([
  ["chat", "chat", CHAT],
  ["messages", "messages", MESSAGES],
  ["responses", "responses", RESPONSE],
  ["completions", "completions", COMPLETION],
  ["embeddings", "openai_embeddings", EMBEDDINGS],
  ["chat", "messages", MESSAGES],
  ["chat", "responses", RESPONSE],
  ["messages", "chat", CHAT],
  ["responses", "gemini", GEMINI],
  ["chat", "converse", CONVERSE],
])("a %s answer that a provider of %s gives is its fault", (name, dialect, answer) => {
  const format = FORMATS[name];
  const { passage } = passageTo(format, endpoint("e", { dialects: [dialect] })) as Passable;
  const request = format.read(Buffer.from(REQUESTS[name].replaceAll("$", "a")));
  const read = (text: string) => passage.whole(Buffer.from(text), request, IDENTITY);
  for (const text of filled(answer, RIGHT))
    expect(() => JSON.parse(read(text).write(usage(1, 2), SVC).toString())).not.toThrow();
  for (const text of filled(answer, WRONG))
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        kind: "upstream_invalid_response",
        message: "The provider's answer is not valid JSON.",
      }),
    );
});

test.each(Object.entries(REQUESTS))("a %s body is its client's fault", (name, body) => {
  const format = FORMATS[name as Asked];
  for (const text of filled(body, RIGHT)) expect(() => format.read(Buffer.from(text))).not.toThrow();
  for (const text of filled(body, WRONG))
    expect(() => format.read(Buffer.from(text))).toThrow(
      expect.objectContaining({ kind: "invalid_json", status: 400 }),
    );
});
