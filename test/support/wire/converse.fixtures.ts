/**
 * Recorded-shape streams of Bedrock's with what they amount to. The frames are made by AWS's own encoder, so that what reads
 * them is held against another's work.
 */
import { readdirSync, readFileSync } from "node:fs";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import type { NeutralReply } from "../../../src/wire/neutral/neutral.ts";
import { usage } from "./fixtures.ts";

const DIRECTORY = new URL("../../fixtures/converse/", import.meta.url);
const codec = new EventStreamCodec(toUtf8, fromUtf8);

export interface Sent {
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export const NAMES: readonly string[] = readdirSync(DIRECTORY).map((file) => file.replace(".json", ""));

export const sentOf = (name: string): Sent[] =>
  JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8")) as Sent[];

/** The bytes of one message, as latin1. Header values are strings. */
export const frame = (headers: Readonly<Record<string, string>>, payload: Uint8Array | string): string => {
  const named = Object.entries(headers).map(([name, value]) => [name, { type: "string", value }] as const);
  const body = typeof payload === "string" ? Buffer.from(payload) : payload;
  return Buffer.from(codec.encode({ headers: Object.fromEntries(named), body })).toString("latin1");
};

export const eventFrame = ({ event, payload }: Sent): string =>
  frame(
    { ":event-type": event, ":content-type": "application/json", ":message-type": "event" },
    JSON.stringify(payload),
  );

export const exceptionFrame = (type: string, message: string): string =>
  frame(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    JSON.stringify({ message }),
  );

/** As the relay hands it over: one character a byte. */
export const latin1Of = (name: string): string => sentOf(name).map(eventFrame).join("");

export const ANSWERS: Readonly<Record<string, NeutralReply>> = {
  text: {
    choices: [{ parts: [{ type: "text", text: 'Grüß Gott, 世界 🎉\n"ok" \\' }], stop: { reason: "stop" } }],
    usage: usage(12, 9),
  },
  "thinking-tools": {
    choices: [
      {
        parts: [
          {
            type: "reasoning",
            text: "Two cities.",
            seal: { by: "anthropic", data: "EqoBCkgIBxABGAIqQL8/a==" },
          },
          {
            type: "reasoning",
            text: "",
            isRedacted: true,
            seal: { by: "anthropic", data: "UkVEQUNURUQ=" },
          },
          { type: "text", text: "Checking…" },
          {
            type: "tool_call",
            id: "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
            name: "get_weather",
            arguments: '{"city":"Zürich\\n"}',
          },
          { type: "tool_call", id: "tooluse_b", name: "now", arguments: "{}" },
        ],
        stop: { reason: "tool_calls" },
      },
    ],
    usage: usage(1270, 88, { cacheReadTokens: 1000, cacheWriteTokens: 200, cacheWrite1hTokens: 150 }),
  },
  cited: {
    choices: [
      {
        parts: [
          {
            type: "text",
            text: "The sky is blue.",
            citations: [
              { type: "document", index: 0, title: "sky", citedText: "blue", unit: "page", start: 3, end: 4 },
              { type: "url", url: "https://sky.example/", title: "web" },
            ],
          },
        ],
        stop: { reason: "stop_sequence" },
      },
    ],
    usage: usage(31, 6),
  },
  nova: {
    choices: [{ parts: [{ type: "text", text: "Hi" }], stop: { reason: "length" } }],
    usage: usage(4, 1),
  },
  guardrail: {
    choices: [{ parts: [{ type: "text", text: "Sorry, no." }], stop: { reason: "content_filter" } }],
    usage: usage(7, 0),
  },
};
