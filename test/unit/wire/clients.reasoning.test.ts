/**
 * What clients make of reasoning and its signatures, seen with Claude Code, OpenAI's Agents SDK, LangChain and Vercel's AI SDK
 * in front of every dialect: their requests as recorded, shortened.
 */
import { describe, expect, test } from "vitest";
import { messageOf } from "../../../src/wire/messages/write-reply.ts";
import { MessagesStreamWriter } from "../../../src/wire/messages/writer.ts";
import { fragmentOf } from "../../../src/wire/neutral/fragment.ts";
import type { ReplyPart, Seal, StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { usage } from "../../support/wire/fixtures.ts";
import { neutral } from "./chat.fixtures.ts";
import { clientEvents, IDENTITY, SVC } from "./messages.fixtures.ts";
import { eventsIn, neutralOf, requestOf, written } from "./responses.fixtures.ts";

const SEAL: Seal = { by: "google", data: "Cg==" };
const CARRIER = { type: "thinking", thinking: "", signature: "weir.google.Cg==" };

/** The types of an answer's blocks, in their order. */
function streamedTypes(events: readonly StreamEvent[]): string[] {
  const writer = new MessagesStreamWriter(IDENTITY);
  const text = events.map((event) => writer.write(event)).join("") + writer.close(usage(1, 1), SVC);
  return clientEvents(text).flatMap((event) =>
    event.type === "content_block_start" ? [event.content_block.type] : [],
  );
}

const textEvents = (part: number): StreamEvent[] => [
  { type: "begin", choice: 0, part, kind: "text" },
  { type: "delta", choice: 0, part, text: "Hi" },
  { type: "seal", choice: 0, part, seal: SEAL },
  { type: "end", choice: 0, part },
];

describe("Claude Code takes the last block of a message for its answer", () => {
  const sealed: ReplyPart = { type: "text", text: "Hi", seal: SEAL };
  const stop = { reason: "stop" } as const;
  const contentOf = (parts: readonly ReplyPart[]) =>
    messageOf({ parts, stop }, IDENTITY, usage(1, 1)).content;

  test("T45: the signature of a text makes no block at the end", () => {
    expect(contentOf([sealed])).toEqual([{ type: "text", text: "Hi", citations: null }]);
    expect(contentOf([sealed, { type: "text", text: "" }])).toHaveLength(1);
    expect(streamedTypes([...textEvents(0), { type: "stop", choice: 0, stop }])).toEqual(["text"]);
  });

  test("T48: before another block it stands behind its text", () => {
    expect(contentOf([sealed, sealed])).toMatchObject([{ type: "text" }, CARRIER, { type: "text" }]);
    expect(streamedTypes([...textEvents(0), ...textEvents(1)])).toEqual(["text", "thinking", "text"]);
    const redacted: StreamEvent[] = [
      { type: "begin", choice: 0, part: 1, kind: "reasoning", isRedacted: true },
      { type: "seal", choice: 0, part: 1, seal: { by: "anthropic", data: "Eg==" } },
      { type: "end", choice: 0, part: 1 },
    ];
    expect(streamedTypes([...textEvents(0), ...redacted])).toEqual(["text", "thinking", "redacted_thinking"]);
  });
});

describe("OpenAI's Agents SDK copies a call's extra members onto its message", () => {
  const extra = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" }, ...extra("Cg==") };
  const assistantSays = (signature: string) =>
    neutral({
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I'll look.", role: "assistant", refusal: null, tool_calls: [call] },
          ],
          tool_calls: [call],
          ...extra(signature),
        },
      ],
    }).messages[1]?.parts;

  test("T48: that signature signs the call, not the text", () => {
    expect(assistantSays("Cg==")).toEqual([
      { type: "text", text: "I'll look." },
      { type: "tool_call", id: "c1", name: "f", arguments: "{}", seal: SEAL },
    ]);
  });

  test("T48: one of the message's own signs its text", () => {
    expect(assistantSays("Dg==")?.[0]).toEqual({
      type: "text",
      text: "I'll look.",
      seal: { by: "google", data: "Dg==" },
    });
  });
});

describe("AI SDK and LangChain show and send back summaries only", () => {
  const events: StreamEvent[] = [
    { type: "begin", choice: 0, part: 0, kind: "reasoning" },
    { type: "delta", choice: 0, part: 0, text: fragmentOf("Zürich") },
    { type: "seal", choice: 0, part: 0, seal: { by: "anthropic", data: "Eg==" } },
    { type: "end", choice: 0, part: 0 },
  ];
  const answer = (reasoning: object) => written(events, requestOf({ reasoning }));
  const ownItem = (response: Readonly<Record<string, unknown>>) =>
    (response.output as Record<string, unknown>[])[0];

  test.each([{ summary: "auto" }, { effort: "low", summary: "detailed" }, { generate_summary: "concise" }])(
    "reasoning of any upstream is a summary where one was asked for: %j",
    (reasoning) => {
      const { text, response } = answer(reasoning);
      expect(ownItem(response)).toMatchObject({
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Zürich" }],
        encrypted_content: "weir.anthropic.Eg==",
      });
      const types = eventsIn(text).map(({ type }) => type);
      expect(types).toContain("response.reasoning_summary_text.delta");
      expect(types).not.toContain("response.reasoning_text.delta");
    },
  );

  test("T48: sent back so, its text and signature are what they were", () => {
    const input = [{ role: "user", content: "Hi" }, ownItem(answer({ summary: "auto" }).response)];
    expect(neutralOf({ input }).messages[1]?.parts).toMatchObject([
      { type: "reasoning", text: "Zürich", seal: { by: "anthropic", data: "Eg==" } },
    ]);
  });

  test.each([{}, { effort: "low" }, { summary: null }])("elsewhere it is text: %j", (reasoning) => {
    expect(ownItem(answer(reasoning).response)).toMatchObject({
      summary: [],
      content: [{ type: "reasoning_text", text: "Zürich" }],
    });
  });
});
