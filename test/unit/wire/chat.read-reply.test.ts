/** An upstream's whole chat completion in neutral terms. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { readChatReply } from "../../../src/wire/chat/read-reply.ts";
import { rounds } from "../../support/effort.ts";
import { type Json, usage } from "../../support/wire/fixtures.ts";
import { mutated } from "./chat.fixtures.ts";

describe("a whole answer", () => {
  const read = (message: Json, more: Json = {}) =>
    readChatReply({ id: "r", choices: [{ index: 0, message, finish_reason: "stop", ...more }] }).choices[0];

  test("has reasoning, text, refusal and calls in order", () => {
    const message = {
      content: "t",
      refusal: "no",
      reasoning_content: "r",
      tool_calls: [
        { function: { name: "f", arguments: { a: 1 } } },
        { id: "i", function: { name: "g", arguments: "" } },
      ],
    };
    expect(read(message)).toEqual({
      parts: [
        { type: "reasoning", text: "r" },
        { type: "text", text: "t" },
        { type: "refusal", text: "no" },
        { type: "tool_call", id: "", name: "f", arguments: '{"a":1}' },
        { type: "tool_call", id: "i", name: "g", arguments: "{}" },
      ],
      stop: { reason: "tool_calls" },
    });
  });

  test("T47: bare text and signatures apart from it are one block", () => {
    const details = [{ type: "reasoning.text", signature: "S", format: "anthropic-claude-v1", index: 0 }];
    expect(read({ content: "t", reasoning: "r", reasoning_details: details })?.parts[0]).toEqual({
      type: "reasoning",
      text: "r",
      seal: { by: "anthropic", data: "S" },
    });
  });

  test("Mistral's content parts", () => {
    const content = [
      {
        type: "thinking",
        thinking: [
          { type: "text", text: "h" },
          { type: "text", text: "m" },
        ],
      },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    expect(read({ content })?.parts).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "ab" },
    ]);
  });

  test("logprobs, usage, an error with status 200, and what is no answer", () => {
    const token = { token: "t", logprob: -1, bytes: null, top_logprobs: [{ token: "u", logprob: -2 }] };
    expect(read({ content: "t" }, { logprobs: { content: [token] } })?.logprobs).toEqual([
      { ...token, top_logprobs: [{ token: "u", logprob: -2, bytes: null }] },
    ]);
    const used = { prompt_tokens: 3, completion_tokens: 4 };
    const said = { message: { content: "t" }, finish_reason: "stop" };
    expect(readChatReply({ choices: [said], usage: used }).usage).toEqual(usage(3, 4));
    expect(readChatReply([{ error: { message: "m", status: "INTERNAL" } }]).error).toEqual({
      code: "",
      type: "INTERNAL",
      message: "m",
    });
    const chunk = { choices: [{ delta: { content: "t" }, finish_reason: "stop" }] };
    for (const body of [
      null,
      1,
      "x",
      [],
      {},
      { choices: {} },
      { choices: [], usage: used },
      chunk,
      [chunk, chunk],
    ])
      expect(() => readChatReply(body)).toThrow(WeirError);
  });

  test("T12: answers of any shape are read or refused by name", () => {
    const random = seededRandom(8);
    const reply = {
      id: "r",
      choices: [
        {
          index: 0,
          message: {
            content: [{ type: "thinking", thinking: [{ text: "h" }] }],
            refusal: "n",
            reasoning_details: [{ type: "reasoning.text", text: "a", signature: "s", index: 0 }],
            tool_calls: [
              { id: "i", function: { name: "f", arguments: "{}" }, extra_content: { google: {} } },
            ],
            annotations: [{ url_citation: { url: "u", title: "t" } }],
          },
          logprobs: { content: [{ token: "t", logprob: 0, bytes: [1], top_logprobs: [] }] },
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: {} },
    };
    const all = rounds(3000);
    let read = 0;
    for (let i = 0; i < all; i++) {
      try {
        readChatReply(mutated(mutated(reply, random), random));
        read++;
      } catch (error) {
        expect(error).toMatchObject({ kind: "upstream_invalid_response" });
      }
    }
    expect(read).toBeGreaterThan(all / 6);
  });
});
