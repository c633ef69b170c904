/** Recorded-shape messages streams with what they amount to, and small readers of what comes out. */
import { readFileSync } from "node:fs";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages/messages";
import { WeirError } from "../../../src/base/errors.ts";
import type { Usage } from "../../../src/base/usage.ts";
import type { AnswerIdentity } from "../../../src/wire/format.ts";
import { messagesNeutral } from "../../../src/wire/messages/neutral-request.ts";
import { MessagesStreamReader } from "../../../src/wire/messages/reader.ts";
import { readMessagesRequest } from "../../../src/wire/messages/request.ts";
import type { SvcReply } from "../../../src/wire/neutral/contract.ts";
import { textOf } from "../../../src/wire/neutral/fragment.ts";
import type { NeutralRequest, ReplyPart, Stop, StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { usage } from "../../support/wire/fixtures.ts";

export const IDENTITY: AnswerIdentity = {
  id: "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  requestId: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  model: "vendor/model-1",
  createdS: 1,
  clock: { now: () => 1000 },
  maxEventBytes: 1 << 20,
  maxCaptureBytes: 1 << 20,
};

export const SVC: SvcReply = {
  request_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  provider: "Größe",
  endpoint_id: "ep_a_b_eu",
  cost: { total_micro_usd: 7, lines: [], price_version: "pv_1" },
  warnings: ["/é"],
};

export interface RecordedMessage {
  readonly name: string;
  readonly usage: Usage;
  readonly parts: readonly ReplyPart[];
  readonly stop: Stop;
}

const anthropic = (data: string) => ({ seal: { by: "anthropic" as const, data } });

export const RECORDED_MESSAGES: readonly RecordedMessage[] = [
  {
    name: "text",
    usage: usage(12_327, 550, { cacheReadTokens: 20, cacheWriteTokens: 12_304, cacheWrite1hTokens: 12_000 }),
    parts: [{ type: "text", text: 'Héllo 世界 🎉\n"ok" \\ /' }],
    stop: { reason: "stop" },
  },
  {
    name: "thinking-tools",
    usage: usage(472, 89, { reasoningTokens: 12 }),
    parts: [
      { type: "reasoning", text: "Zürich, then time.", ...anthropic("EqQBCgIYAhIM1gbcDa9GJwZA2b3h+/==") },
      {
        type: "reasoning",
        text: "",
        isRedacted: true,
        ...anthropic("EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP"),
      },
      { type: "text", text: "I'll look." },
      {
        type: "tool_call",
        id: "toolu_01T1x1fJ34qAmk2tNTrN7Up6",
        name: "get_weather",
        arguments: '{"city": "Zürich\\n"}',
      },
      { type: "reasoning", text: "", ...anthropic("c2lnbmVkIGVtcHR5") },
      { type: "tool_call", id: "toolu_02", name: "get_time", arguments: "{}" },
    ],
    stop: { reason: "tool_calls" },
  },
  {
    name: "citations",
    usage: usage(10_682, 510),
    parts: [
      {
        type: "text",
        text: "Grass is green.",
        citations: [
          {
            type: "document",
            index: 0,
            title: "My Document",
            citedText: "The grass is green.",
            unit: "char",
            start: 0,
            end: 20,
          },
          { type: "url", url: "https://example.com/ä", title: "Ä", citedText: "Blau" },
        ],
      },
    ],
    stop: { reason: "pause" },
  },
  {
    name: "other-maker",
    usage: usage(50, 7, { cacheReadTokens: 9 }),
    parts: [
      { type: "tool_call", id: "call_1", name: "look", arguments: '{"q":"é"}' },
      { type: "text", text: "Ja!" },
    ],
    stop: { reason: "stop_sequence", sequence: "END" },
  },
  {
    name: "spaced-crlf",
    usage: usage(5, 4),
    parts: [{ type: "text", text: "Größe" }],
    stop: { reason: "length" },
  },
];

export const streamText = (name: string): string =>
  readFileSync(new URL(`../../fixtures/messages/${name}.sse`, import.meta.url)).toString("latin1");

/** All neutral events of a stream that comes in these reads. */
export function eventsOf(...reads: string[]): StreamEvent[] {
  const reader = new MessagesStreamReader(1 << 20);
  const events: StreamEvent[] = [];
  for (const read of reads) reader.push(read, (event) => events.push(event));
  reader.end((event) => events.push(event));
  return events;
}

/** What neutral events amount to; fails on an order that the contract forbids. */
export function gathered(events: readonly StreamEvent[]): RecordedMessage {
  const parts: Record<string, unknown>[] = [];
  const ended = new Set<number>();
  let told: Usage | undefined;
  let stop: Stop | undefined;
  for (const event of events) {
    if (event.type === "usage") told = event.usage;
    else if (event.type === "stop") stop = event.stop;
    else if (event.type === "begin") {
      const { type: _, choice: __, part, kind, ...more } = event;
      if (part !== parts.length) throw new Error(`part ${part} begins as number ${parts.length}`);
      const text = kind === "tool_call" ? { arguments: "" } : { text: "" };
      parts.push({ type: kind, ...more, ...text });
    } else {
      const part = parts[event.part];
      if (part === undefined || ended.has(event.part)) throw new Error(`part ${event.part} is not open`);
      const key = part.type === "tool_call" ? "arguments" : "text";
      if (event.type === "delta") part[key] = part[key] + textOf(event.text);
      else if (event.type === "seal") part.seal = event.seal;
      else if (event.type === "citation")
        part.citations = [...((part.citations as []) ?? []), event.citation];
      else ended.add(event.part);
    }
  }
  if (ended.size !== parts.length) throw new Error("a part did not end");
  if (told === undefined || stop === undefined) throw new Error("no usage or no stop");
  return { name: "", usage: told, parts: parts as unknown as ReplyPart[], stop };
}

/** Events of text as a client reads them: lines are whole; names and data agree, unless what came in was damaged. */
export function clientEvents(latin1: string, isDamaged = false): RawMessageStreamEvent[] {
  const text = Buffer.from(latin1, "latin1").toString();
  if (!isDamaged && text.includes("\ufffd")) throw new Error("a character is broken");
  if (!text.endsWith("\n\n")) throw new Error(`an event is not whole: ${text.slice(-80)}`);
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((event) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      if (data === undefined) throw new Error(`no event: ${event}`);
      const read = JSON.parse(data) as RawMessageStreamEvent;
      if (!isDamaged && name !== "" && read.type !== undefined && name !== read.type)
        throw new Error(`${name}: ${read.type}`);
      return read;
    });
}

/** A client's body in neutral terms. */
export function neutralOf(body: unknown): NeutralRequest {
  const request = readMessagesRequest(Buffer.from(JSON.stringify(body)));
  return messagesNeutral(request, new Source(request.bytes, request.elided));
}

/** What an act was refused with. */
export function refusal(act: () => unknown): WeirError {
  try {
    act();
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
  throw new Error("was not refused");
}
