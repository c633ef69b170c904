/** Damaged bodies and streams: only typed errors, no hang, and what is passed on is still JSON in events. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { chatSplice, spliceChatRequest } from "../../../src/wire/chat/splice.ts";
import { readErrorBody } from "../../../src/wire/neutral/upstream-error.ts";
import { rounds } from "../../support/effort.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import {
  bytesOf,
  chatStream,
  ID,
  MODEL,
  plainEvents,
  RECORDED,
  SVC,
  usage,
} from "../../support/wire/fixtures.ts";
import { IDENTITY } from "./chat.fixtures.ts";

const ROUNDS = rounds(4000);
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
  "data: ",
  "data: [DONE]\n\n",
  "null",
  "0",
  "-1",
  "1e999",
  "1.5",
  "true",
  '""',
  "\u0000",
  "\u00ff",
  '{"error":1}',
  '"index":',
  '"choices":',
  '"delta":',
  '"content":',
  '"tool_calls":',
  '"usage":',
  '"model":',
  "\\u12",
].map((text) => Buffer.from(text, "latin1"));

/** A text with one to five places cut out, doubled, or written over. */
function damage(bytes: Buffer, random: () => number): Buffer {
  let out = bytes;
  for (let i = 1 + Math.floor(random() * 5); i > 0; i--) {
    const at = Math.floor(random() * (out.length + 1));
    const end = Math.min(out.length, at + Math.floor(random() ** 3 * 40));
    const kind = random();
    const piece = PIECES[Math.floor(random() * PIECES.length)] as Buffer;
    const put =
      kind < 0.4
        ? piece
        : kind < 0.6
          ? out.subarray(at, end)
          : kind < 0.7
            ? Buffer.alloc(1, Math.floor(random() * 256))
            : Buffer.alloc(0);
    out = Buffer.concat([out.subarray(0, at), put, out.subarray(kind < 0.6 && kind >= 0.4 ? at : end)]);
  }
  return out;
}

/** What was read; undefined where it was refused as it should be. */
function typed<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    expect(error).toBeInstanceOf(WeirError);
    expect((error as WeirError).kind).not.toBe("internal");
    return undefined;
  }
}

const REQUEST = Buffer.from(
  '{"model":"v/m","messages":[{"role":"system","content":"Sei nett. 世"},{"role":"user","content":[{"type":"text","text":"a\\"b"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}],' +
    '"stream":true,"stream_options":{"include_usage":false,"x":1},"max_tokens":9,"n":1,"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"svc":{"route":{"sort":"price"},"metadata":{"app":"é"}}}',
);
const REPLY = Buffer.from(
  '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Größe 🎉","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}',
);
const ASKED = readChatRequest(REQUEST);
const UPSTREAM = endpoint("e", { upstreamModel: "up" });

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("T12: damaged input", () => {
  test("requests are refused with a WeirError, or written as JSON for the upstream", () => {
    const random = seededRandom(1);
    let accepted = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const body = damage(REQUEST, random);
      const request = typed(() => readChatRequest(body));
      if (request === undefined) continue;
      accepted++;
      const sent = JSON.parse(Buffer.concat(spliceChatRequest(request, UPSTREAM).parts).toString()) as Record<
        string,
        unknown
      >;
      expect(sent.model).toBe("up");
      expect("svc" in sent).toBe(false);
    }
    expect(accepted).toBeGreaterThan(ROUNDS / 50);
  });

  test("replies are refused with a WeirError, or patched into JSON for the client", () => {
    const random = seededRandom(2);
    let accepted = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const body = damage(REPLY, random);
      readErrorBody(body);
      const reply = typed(() => chatSplice.whole(body, ASKED, IDENTITY));
      if (reply === undefined || reply.error !== undefined) continue;
      accepted++;
      const out = reply.write(usage(1, 1), SVC).toString();
      expect(JSON.parse(out)).toMatchObject({ id: ID, model: MODEL, svc: SVC });
    }
    expect(accepted).toBeGreaterThan(ROUNDS / 50);
  });

  test("streams end in a typed error or go on; every event that leaves is a chunk with our id", () => {
    const random = seededRandom(3);
    for (let i = 0; i < ROUNDS / 2; i++) {
      const { name, choices } = RECORDED[i % RECORDED.length] as (typeof RECORDED)[number];
      const bytes = damage(bytesOf(name), random).toString("latin1");
      const stream = chatStream({ choices, maxEventBytes: 2000, includeUsage: random() < 0.8 });
      const cut = Math.floor(random() * bytes.length);
      const out =
        typed(() => stream.push(bytes.slice(0, cut)) + stream.push(bytes.slice(cut)) + stream.end()) ?? "";
      const all = out + stream.close(stream.facts.usage ?? usage(1, 1), SVC);
      if (!/^(data: [^\n]+\n\n)*$/.test(all)) expect.fail(`no events: ${all}`);
      const events = plainEvents(all);
      expect(events.pop()).toBe("[DONE]");
      for (const event of events) {
        const chunk = JSON.parse(event) as Record<string, unknown>;
        expect([chunk.id, chunk.model, Array.isArray(chunk.choices)]).toEqual([ID, MODEL, true]);
      }
      expect(parses(String(stream.kept()))).toBe(true);
    }
  });
});
