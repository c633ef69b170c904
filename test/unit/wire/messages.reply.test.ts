/** Whole messages: read, spliced, written; their usage, stop reasons and errors. */

import type { Message } from "@anthropic-ai/sdk/resources/messages/messages";
import type { ErrorType } from "@anthropic-ai/sdk/resources/shared";
import { describe, expect, expectTypeOf, test } from "vitest";
import { ERRORS, type ErrorName, fail, WeirError } from "../../../src/base/errors.ts";
import { costOf } from "../../../src/base/usage.ts";
import { messagesDialect } from "../../../src/wire/messages/dialect.ts";
import { messagesErrorBody, messagesErrorEvent } from "../../../src/wire/messages/errors.ts";
import { messagesFormat } from "../../../src/wire/messages/format.ts";
import { readMessagesReply } from "../../../src/wire/messages/read-reply.ts";
import { readMessagesRequest } from "../../../src/wire/messages/request.ts";
import { messagesSplice } from "../../../src/wire/messages/splice.ts";
import { MessagesUsage, readMessagesUsage, writeMessagesUsage } from "../../../src/wire/messages/usage.ts";
import { type messageOf, writeMessagesReply } from "../../../src/wire/messages/write-reply.ts";
import { MessagesStreamWriter } from "../../../src/wire/messages/writer.ts";
import { fragmentOf } from "../../../src/wire/neutral/fragment.ts";
import type { NeutralReply, ReplyPart, StopReason, StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { usage } from "../../support/wire/fixtures.ts";
import { clientEvents, eventsOf, gathered, IDENTITY, RECORDED_MESSAGES, SVC } from "./messages.fixtures.ts";

const REQUEST = readMessagesRequest(
  Buffer.from('{"model":"v/m","max_tokens":5,"messages":[{"role":"user","content":"a"}]}'),
);

const written = (reply: NeutralReply, used = reply.usage ?? usage(1, 1)): Message & { svc: unknown } =>
  JSON.parse(writeMessagesReply(reply, IDENTITY, used, SVC)) as Message & { svc: unknown };

const replyOf = (reason: StopReason, ...parts: ReplyPart[]): NeutralReply => ({
  choices: [{ parts, stop: { reason } }],
  usage: undefined,
});

describe("written and read", () => {
  test.each(RECORDED_MESSAGES.map((recorded) => [recorded.name, recorded] as const))(
    "T47: %s is the same again",
    (_, { parts, stop, usage: used }) => {
      // Arguments are an object here: their white space does not matter.
      const compact = parts.map((part) =>
        part.type === "tool_call" ? { ...part, arguments: JSON.stringify(JSON.parse(part.arguments)) } : part,
      );
      const reply = { choices: [{ parts: compact, stop }], usage: used };
      expect(readMessagesReply(written(reply))).toEqual(reply);
    },
  );

  test("a message has all its members, and svc", () => {
    const message = written(replyOf("stop", { type: "text", text: "Größe" }), usage(3, 2));
    expect(message).toMatchObject({
      id: IDENTITY.id,
      type: "message",
      role: "assistant",
      model: IDENTITY.model,
      content: [{ type: "text", text: "Größe" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 0 },
      svc: SVC,
    });
    expectTypeOf<ReturnType<typeof messageOf>>().toExtend<Message>();
  });

  test("T46: tool_use is the stop reason exactly where there are calls", () => {
    const call: ReplyPart = { type: "tool_call", id: "a", name: "f", arguments: "{}" };
    expect(written(replyOf("stop", call)).stop_reason).toBe("tool_use");
    expect(written(replyOf("other", call)).stop_reason).toBe("tool_use");
    expect(written(replyOf("length", call)).stop_reason).toBe("max_tokens");
    expect(written(replyOf("tool_calls")).stop_reason).toBe("end_turn");
    expect(written(replyOf("content_filter")).stop_reason).toBe("refusal");
    expect(written(replyOf("stop", { type: "refusal", text: "No" })).stop_reason).toBe("refusal");
  });

  test.each([
    ['{"x":"a","y":"b', { x: "a" }],
    ["{x", { INVALID_JSON: "{x" }],
    ["[1]", { INVALID_JSON: "[1]" }],
  ])("broken arguments %s are in an object; empty parts make no block", (given, input) => {
    const call: ReplyPart = { type: "tool_call", id: "a", name: "f", arguments: given };
    const { content } = written(
      replyOf("stop", { type: "text", text: "" }, call, { type: "reasoning", text: "" }),
    );
    expect(content.map((block) => (block.type === "tool_use" ? block.input : block))).toEqual([input]);
  });

  test.each([
    ['"{\\"a\\":1.0}"', '{"a":1.0}'],
    ['"null"', "{}"],
    [" [1.0]", '{"INVALID_JSON":" [1.0]"}'],
    ["ls é", '{"INVALID_JSON":"ls é"}'],
    [' \n{"a":1}', ' \n{"a":1}'],
    ['{"a":', '{"a":'],
  ])("arguments that begin no object are one in a stream too: %j", (given, told) => {
    const part = { choice: 0, part: 0 };
    for (const pieces of [[given], [...given], ["", given, ""]]) {
      const writer = new MessagesStreamWriter(IDENTITY);
      const events: StreamEvent[] = [
        { type: "begin", ...part, kind: "tool_call", id: "a", name: "f" },
        ...pieces.map((piece): StreamEvent => ({ type: "delta", ...part, text: fragmentOf(piece) })),
        { type: "end", ...part },
      ];
      const out = events.map((event) => writer.write(event)).join("") + writer.close(usage(1, 1), SVC);
      expect(gathered(eventsOf(out)).parts).toEqual([
        { type: "tool_call", id: "a", name: "f", arguments: told },
      ]);
    }
  });

  test("T48: a seal that is no thinking's own stands in an empty thinking block", () => {
    const seal = { by: "google" as const, data: "Cg==" };
    const { content } = written(
      replyOf(
        "stop",
        { type: "text", text: "a", seal },
        { type: "tool_call", id: "a", name: "f", arguments: "{}", seal },
      ),
    );
    const carrier = { type: "thinking", thinking: "", signature: "weir.google.Cg==" };
    expect(content).toMatchObject([{ type: "text" }, carrier, carrier, { type: "tool_use" }]);
  });

  test("an answer without any choice is still a message", () => {
    expect(written({ choices: [], usage: undefined }).content).toEqual([]);
  });
});

describe("reading", () => {
  test.each([[null], [[]], [{}], [{ content: "a" }], ["a"]])("what is no message is refused: %j", (body) => {
    expect(() => readMessagesReply(body)).toThrow(WeirError);
  });

  test("an error with status 200 is an error", () => {
    const body = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(readMessagesReply(body).error).toMatchObject({ type: "overloaded_error", message: "Overloaded" });
    const spliced = messagesSplice.whole(Buffer.from(JSON.stringify(body)), REQUEST, IDENTITY);
    expect(spliced.error).toMatchObject({ type: "overloaded_error" });
  });
});

const BODY =
  '{ "id":"msg_1", "type":"message","model":"claude","x":[1.0],"content":[{"type":"text","text":"Grö\\u00dfe 世"},' +
  '{"type":"tool_use","id":"t","name":"f","input":{"big":12345678901234567890}}],"stop_reason":"tool_use",' +
  '"usage":{"input_tokens":3,"output_tokens":5,"service_tier":"standard"}}';

describe("the splice", () => {
  const whole = (body: string) => messagesSplice.whole(Buffer.from(body), REQUEST, IDENTITY);

  test("only id, model and svc differ", () => {
    const answer = whole(BODY);
    expect(answer.facts).toEqual({
      report: { tiers: { tier: "" }, uses: {} },
      usage: usage(3, 5),
      stopReason: "tool_calls",
      toolCalls: 1,
      outputBytes: 0,
      unreportedBytes: 0,
    });
    const text = answer.write(usage(3, 5), SVC).toString();
    expect(JSON.parse(text).svc).toEqual(SVC);
    expect(text.replace(/,"svc":.*$/, "}")).toBe(
      BODY.replace("msg_1", IDENTITY.id).replace('"claude"', `"${IDENTITY.model}"`),
    );
  });

  test("T2: without a report the text is counted, and what was metered is told", () => {
    const answer = whole(BODY.replace(/,"usage".*$/, "}"));
    expect(answer.facts.usage).toBeUndefined();
    const bytes = Buffer.byteLength("Größe 世") + Buffer.byteLength('{\\"big\\":12345678901234567000}');
    expect(answer.facts.outputBytes).toBe(bytes);
    expect(JSON.parse(answer.write(usage(7, 8), SVC).toString()).usage).toMatchObject({
      input_tokens: 7,
      output_tokens: 8,
    });
  });

  test.each(["", "x", "[]", "{}", '{"content":1}', '{"content":[],"content":[]}', "<html>"])(
    "%j is refused",
    (body) => {
      let kind = "";
      try {
        whole(body);
      } catch (error) {
        kind = (error as WeirError).kind;
      }
      expect(kind).toBe("upstream_invalid_response");
    },
  );
});

describe("usage", () => {
  const prices = {
    version: "p",
    input: 3000,
    output: 15_000,
    cacheRead: 300,
    cacheWrite: 3750,
    cacheWrite1h: 6000,
  };

  test("T31: the console's own example costs what the console says", () => {
    const used = readMessagesUsage({
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      output_tokens: 550,
    });
    expect(used && costOf(used, prices).total_micro_usd).toBe(54_399);
  });

  test("T31: reports of a stream are set, not added; what one leaves out stays", () => {
    const told = new MessagesUsage();
    expect(told.usage).toBeUndefined();
    told.take({ input_tokens: 3, cache_creation_input_tokens: 12_304, output_tokens: 1 });
    told.take({ input_tokens: 3, cache_creation_input_tokens: 12_304, output_tokens: 550 });
    told.take({ input_tokens: null, output_tokens: 550 });
    told.take("x");
    expect(told.usage).toEqual(usage(12_307, 550, { cacheWriteTokens: 12_304 }));
  });

  test("T32: writes of five minutes and of an hour are apart; a total alone is of five minutes", () => {
    const split = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 };
    const both = readMessagesUsage({
      input_tokens: 1,
      cache_creation_input_tokens: 300,
      cache_creation: split,
    });
    expect(both).toEqual(usage(301, 0, { cacheWriteTokens: 300, cacheWrite1hTokens: 200 }));
    expect(readMessagesUsage({ input_tokens: 1, cache_creation: split })).toEqual(both);
    const alone = readMessagesUsage({ input_tokens: 1, cache_creation_input_tokens: 300 });
    expect(alone).toEqual(usage(301, 0, { cacheWriteTokens: 300 }));
    if (both === undefined || alone === undefined) throw new Error("no usage");
    expect(costOf(both, prices).total_micro_usd).toBe(Math.round(0.1 * 3.75 * 1000) + 1200 + 3);
    expect(costOf(alone, prices).total_micro_usd).toBe(Math.round(0.3 * 3.75 * 1000) + 3);
  });

  test("T33: cached tokens are beside input here, within it there, and the way back is the same", () => {
    const used = usage(100, 9, {
      cacheReadTokens: 60,
      cacheWriteTokens: 10,
      cacheWrite1hTokens: 4,
      reasoningTokens: 3,
    });
    const wire = writeMessagesUsage(used);
    expect(wire).toMatchObject({
      input_tokens: 30,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 10,
      cache_creation: { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 4 },
    });
    expect(readMessagesUsage(wire)).toEqual(used);
  });

  test.each([
    [null],
    [{}],
    [{ input_tokens: 0, output_tokens: 0 }],
    [{ input_tokens: -1 }],
    [{ output_tokens: 2e9 }],
  ])("%j is no report", (value) => {
    expect(readMessagesUsage(value)).toBeUndefined();
  });
});

describe("errors", () => {
  test("every error has a type that clients of the format know", () => {
    const known: (ErrorType | "request_too_large")[] = [
      "invalid_request_error",
      "authentication_error",
      "billing_error",
      "permission_error",
      "not_found_error",
      "rate_limit_error",
      "timeout_error",
      "api_error",
      "overloaded_error",
      "conflict_error",
      "request_too_large",
    ];
    for (const kind of Object.keys(ERRORS) as ErrorName[]) {
      const body = JSON.parse(messagesErrorBody(new WeirError(kind, "m"), "r"));
      expect(known).toContain(body.error.type);
      expect(body).toEqual({
        type: "error",
        error: { type: body.error.type, message: "m", code: ERRORS[kind].code },
        request_id: "r",
      });
    }
    const typeOf = (kind: ErrorName) => JSON.parse(messagesErrorBody(fail(kind, "m"), "r")).error.type;
    expect(typeOf("insufficient_credits")).toBe("billing_error");
    expect(typeOf("rpm")).toBe("rate_limit_error");
    expect(typeOf("upstream_all_out")).toBe("overloaded_error");
    expect(typeOf("upstream_error")).toBe("api_error");
  });

  test("T13: in a stream it is an event; extras are kept", () => {
    const extras = { param: "/x", retryAfterMs: 5, details: { error_code: "c" } };
    const [event] = clientEvents(messagesErrorEvent(fail("rpm", "Zu viele — später", extras), "r"));
    expect(event).toEqual({
      type: "error",
      error: {
        type: "rate_limit_error",
        message: "Zu viele — später",
        code: "rpm",
        param: "/x",
        retry_after_ms: 5,
        details: { error_code: "c" },
      },
      request_id: "r",
    });
  });

  test("T7, T8: silence is kept alive by a ping", () => {
    expect(clientEvents(messagesFormat.keepAlive)).toEqual([{ type: "ping" }]);
    expect([messagesFormat.idPrefix, messagesDialect.name]).toEqual(["msg_", "messages"]);
  });
});
