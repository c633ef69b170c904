/** Tokens that a stream reports in odd places: where a whole answer was asked for, the same is charged as for the stream. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { type Field, startField } from "../../support/field/field.ts";
import { labelled, requestOf } from "./answer-forms.fixtures.ts";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

const TEXT = "A text that is longer than what was reported before it began. ".repeat(10);
const USAGE = { prompt_tokens: 30, completion_tokens: 50, total_tokens: 80 };
const BEGUN = { prompt_tokens: 30, completion_tokens: 0, total_tokens: 30 };

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const DONE = "data: [DONE]\n\n";
const said = (choice: object, more: object = {}) =>
  event({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, ...choice }],
    ...more,
  });
const told = (more: object = {}) => said({ delta: { role: "assistant", content: TEXT } }, more);
const stop = (more: object = {}, inChoice: object = {}) =>
  said({ delta: {}, finish_reason: "stop", ...inChoice }, more);

const begun = (usage: object) =>
  event({
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage },
  });
const block =
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } }) +
  event({ type: "content_block_stop", index: 0 });
const ended = (more: object = {}) =>
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, ...more }) +
  event({ type: "message_stop" });

test.each<[string, ChatUpstreamName, string]>([
  ["behind the last choice", "chat", told() + stop() + event({ choices: [], usage: USAGE }) + DONE],
  ["in Groq's member", "chat", told() + stop({ x_groq: { id: "g", usage: USAGE } }) + DONE],
  ["in a choice, as Moonshot has it", "chat", told() + stop({}, { usage: USAGE }) + DONE],
  ["as the text so far, and no more", "chat", told({ usage: USAGE }) + stop({ usage: null }) + DONE],
  ["before the text alone", "chat", said({ delta: {} }, { usage: BEGUN }) + told() + stop() + DONE],
  ["nowhere", "chat", told() + stop() + DONE],
  [
    "at both ends",
    "messages",
    begun({ input_tokens: 30, output_tokens: 1 }) + block + ended({ usage: { output_tokens: 50 } }),
  ],
  ["at the start alone", "messages", begun({ input_tokens: 30, output_tokens: 1 }) + block + ended()],
  ["nowhere", "messages", begun({}) + block + ended()],
])("%s (%s)", async (_, dialect, events) => {
  for (const client of ["chat", "messages", "responses"] as const) {
    const charged = async (stream: boolean) => {
      field.up.script(labelled({ body: events }, "text/event-stream"));
      const { text } = await field.send(client, dialect, requestOf(client, dialect, stream), { stream });
      return Number(/"total_micro_usd":(\d+)/.exec(text)?.[1]);
    };
    const streamed = await charged(true);
    expect(streamed).toBeGreaterThan(0);
    expect([client, await charged(false)]).toEqual([client, streamed]);
  }
});
