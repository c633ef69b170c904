/** Damaged messages bodies and streams: only typed errors, no hang, and what leaves is whole events or a JSON body. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { NO_USAGE } from "../../../src/base/usage.ts";
import { messagesNeutral } from "../../../src/wire/messages/neutral-request.ts";
import { readMessagesReply } from "../../../src/wire/messages/read-reply.ts";
import { MessagesStreamReader } from "../../../src/wire/messages/reader.ts";
import { readMessagesRequest } from "../../../src/wire/messages/request.ts";
import { messagesSplice, spliceMessagesRequest } from "../../../src/wire/messages/splice.ts";
import { MessagesSpliceStream } from "../../../src/wire/messages/splice-stream.ts";
import { writeMessagesReply } from "../../../src/wire/messages/write-reply.ts";
import { writeMessagesRequest } from "../../../src/wire/messages/write-request.ts";
import { MessagesStreamWriter } from "../../../src/wire/messages/writer.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { rounds } from "../../support/effort.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { parsedBody } from "../../support/wire/carried.ts";
import { clientEvents, IDENTITY, RECORDED_MESSAGES, SVC, streamText } from "./messages.fixtures.ts";

const ROUNDS = rounds(3000);
const PIECES = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\n",
  "\r",
  "\n\n",
  "null",
  "0",
  "-1",
  "1e999",
  "true",
  '""',
  "\u0000",

  "\u00ff",
  '"index":',
  '"content":',
  '"type":"text"',
  '"type":"tool_use"',
  '"type":"tool_result"',
  '"usage":',

  '"thread":',
  '"delta":',
  "data: ",
  "event: message_stop\n",
  '{"type":"message_start","message":{}}',
  "\\u12",
];

/** A text with one to five places cut out, doubled, or written over. */
function damage(text: string, random: () => number): string {
  let out = text;
  for (let i = 1 + Math.floor(random() * 5); i > 0; i--) {
    const at = Math.floor(random() * (out.length + 1));
    const end = Math.min(out.length, at + Math.floor(random() ** 3 * 40));
    const kind = random();
    const put =
      kind < 0.5
        ? (PIECES[Math.floor(random() * PIECES.length)] as string)
        : kind < 0.7
          ? out.slice(at, end).repeat(2)
          : "";
    out = out.slice(0, at) + put + out.slice(end);
  }
  return out;
}

/** A JSON value with one of its members put in another's place. */
function shuffled(value: unknown, random: () => number): string {
  const text = JSON.stringify(value);
  const values = [...text.matchAll(/:("[^"]*"|\d+|true|null|\[\]|\{\})/g)];
  const from = values[Math.floor(random() * values.length)];
  const to = values[Math.floor(random() * values.length)];
  if (from === undefined || to === undefined) return text;
  const put = random() < 0.3 ? ':[{"a":1}]' : from[0];
  return text.slice(0, to.index) + put + text.slice(to.index + to[0].length);
}

/** What was made; undefined where it was refused as it should be. */
function typed<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    expect(error.kind).not.toBe("internal");
    return undefined;
  }
}

const REQUEST = {
  model: "v/m",
  max_tokens: 2000,
  system: [{ type: "text", text: "Sei nett. 世", cache_control: { type: "ephemeral", ttl: "1h" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: 'a"b' },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "d" }, title: "t" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "h", signature: "s" },
        { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "r" }], is_error: true },
      ],
    },
  ],
  tools: [{ name: "f", input_schema: { type: "object" } }],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  thinking: { type: "enabled", budget_tokens: 1024 },
  metadata: { user_id: "u" },
  stop_sequences: ["x"],
  svc: { metadata: { app: "é" } },
};

const REPLY = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [
    { type: "thinking", thinking: "h", signature: "s" },
    {
      type: "text",
      text: "Größe 🎉",
      citations: [{ type: "char_location", cited_text: "c", document_index: 0 }],
    },
    { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 2, cache_creation: { ephemeral_5m_input_tokens: 1 } },
};

describe("T12: damaged input", () => {
  test("requests are refused with a WeirError, or written as JSON, spliced and translated", () => {
    const random = seededRandom(1);
    const to = endpoint("e", { upstreamModel: "up" });
    let accepted = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const text = random() < 0.5 ? damage(JSON.stringify(REQUEST), random) : shuffled(REQUEST, random);
      const request = typed(() => readMessagesRequest(Buffer.from(text)));
      if (request === undefined) continue;
      accepted++;
      const sent = JSON.parse(Buffer.concat(spliceMessagesRequest(request, to).parts).toString());
      expect(sent.model).toBe("up");
      expect("svc" in sent).toBe(false);
      const source = new Source(request.bytes, request.elided);
      const translated = typed(() => writeMessagesRequest(messagesNeutral(request, source), to));
      if (translated !== undefined) expect(parsedBody(translated.body).model).toBe("up");
    }
    expect(accepted).toBeGreaterThan(ROUNDS / 20);
  });

  test("replies are refused with a WeirError, or patched and written as JSON", () => {
    const random = seededRandom(2);
    const request = readMessagesRequest(Buffer.from(JSON.stringify(REQUEST)));
    let accepted = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const text = random() < 0.5 ? damage(JSON.stringify(REPLY), random) : shuffled(REPLY, random);
      const answer = typed(() => messagesSplice.whole(Buffer.from(text), request, IDENTITY));
      if (answer === undefined || answer.error !== undefined) continue;
      accepted++;
      const out = answer.write(NO_USAGE, SVC).toString();
      expect(JSON.parse(out)).toMatchObject({ id: IDENTITY.id, model: IDENTITY.model, svc: SVC });
      const reply = typed(() => readMessagesReply(JSON.parse(text)));
      if (reply !== undefined) JSON.parse(writeMessagesReply(reply, IDENTITY, NO_USAGE, SVC));
    }
    expect(accepted).toBeGreaterThan(ROUNDS / 20);
  });

  test("streams end in a typed error or go on; what leaves is whole events", () => {
    const random = seededRandom(3);
    for (let i = 0; i < ROUNDS; i++) {
      const { name } = RECORDED_MESSAGES[i % RECORDED_MESSAGES.length] as (typeof RECORDED_MESSAGES)[number];
      const text = damage(streamText(name), random);
      const cut = Math.floor(random() * text.length);
      const splice = new MessagesSpliceStream({ ...IDENTITY, maxEventBytes: 2000 });
      const spliced =
        typed(() => splice.push(text.slice(0, cut)) + splice.push(text.slice(cut)) + splice.end()) ?? "";
      const all = spliced + splice.close(splice.facts.usage ?? NO_USAGE, SVC);
      expect(clientEvents(all, true).at(-1)).toMatchObject({ svc: SVC });
      const reader = new MessagesStreamReader(2000);
      const writer = new MessagesStreamWriter(IDENTITY);
      let out = "";
      typed(() => {
        reader.push(text.slice(0, cut), (event) => (out += writer.write(event)));
        reader.push(text.slice(cut), (event) => (out += writer.write(event)));
        reader.end((event) => (out += writer.write(event)));
      });
      const events = clientEvents(out + writer.close(NO_USAGE, SVC), true);
      expect(events[0]?.type).toBe("message_start");
      expect(events.at(-1)).toMatchObject({ type: "message_stop", svc: SVC });
    }
  });
});
