/** How streams end that do not end as their dialect says: each choice has stopped by its reader's last word, and once. */
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../src/base/endpoint.ts";
import { GENERATION_DIALECTS } from "../../../src/wire/dialects.ts";
import { type SseEvent, sseEvents } from "../../support/conformance/ask.ts";
import { eventsOf } from "./assembled.ts";
import { IDENTITY, written } from "./chat.fixtures.ts";
import { latin1Of as geminiStream } from "./gemini.fixtures.ts";
import { streamText as messagesStream } from "./messages.fixtures.ts";
import { recorded as responsesStream } from "./responses.fixtures.ts";

const readerOf = (dialect: Dialect) => {
  const found = GENERATION_DIALECTS.get(dialect)?.streamReader(1 << 20);
  if (found === undefined) throw new Error(`no ${dialect}`);
  return found;
};

const without = (text: string, type: string): string =>
  text
    .split("\n\n")
    .filter((event) => !event.includes(`"type":"${type}"`))
    .join("\n\n");

describe("messages", () => {
  test("one that ends without a word on why has stopped, and a chat client gets its finish reason", () => {
    const reader = readerOf("messages");
    const events = eventsOf(reader, [without(messagesStream("text"), "message_delta")]);
    expect(reader.done).toBe(true);
    expect(events.filter(({ type }) => type === "stop")).toEqual([
      { type: "stop", choice: 0, stop: { reason: "other" } },
    ]);
    const reasons = sseEvents(written(events)).flatMap(
      ({ data }: SseEvent) => data.match(/"finish_reason":"\w+"/) ?? [],
    );
    expect(reasons).toEqual(['"finish_reason":"stop"']);
    expect(written(events)).toContain(IDENTITY.id);
  });

  test("nothing begins behind the reason to stop", () => {
    const late = { type: "content_block_start", index: 7, content_block: { type: "text", text: "late" } };
    const [head, tail] = messagesStream("text").split("event: message_stop");
    const text = `${head}data: ${JSON.stringify(late)}\n\nevent: message_stop${tail}`;
    const events = eventsOf(readerOf("messages"), [text]);
    expect(events.at(-1)?.type).toBe("stop");
    expect(JSON.stringify(events)).not.toContain("late");
  });
});

test.each([
  ["responses", responsesStream("openai").replace(/event: response\.completed[\s\S]*$/, "")],
  ["gemini", geminiStream("text").replace(/"finishReason"/g, '"x"')],
  ["messages", without(without(messagesStream("text"), "message_delta"), "message_stop")],
] as const)("%s: the last word of chat is none, what was cut off before it was cut off", (dialect, text) => {
  const reader = readerOf(dialect);
  const events = eventsOf(reader, [`${text}data: [DONE]\n\n`]);
  expect(events.some(({ type }) => type === "delta")).toBe(true);
  expect([reader.done, reader.complete]).toEqual([false, false]);
});
