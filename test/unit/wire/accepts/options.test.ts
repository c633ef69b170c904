/** Ids of users and caches, stop sequences, and choices of tools where there are none. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../../support/wire/fixtures.ts";
import { ORG_KEY, told, type UpDialect, upstreamOf } from "./fixtures.ts";

const hello = [{ role: "user", content: "a" }];
const LONG = JSON.stringify({ device_id: "d".repeat(64), account_uuid: "", session_id: "s".repeat(36) });

const asMessages = (members: Json): Json => ({ max_tokens: 9, messages: hello, ...members });
const sentUser = (sent: Json): unknown => sent.user ?? (sent.metadata as Json | undefined)?.user_id;

describe("ids of end users", () => {
  test.each(["chat", "responses"] as const)(
    "a long one is a hash at %s, and a short one stays",
    (dialect) => {
      const at = (id: string, key = ORG_KEY) =>
        sentUser(told("messages", asMessages({ metadata: { user_id: id } }), upstreamOf(dialect), key).sent);
      expect(at("u".repeat(64))).toBe("u".repeat(64));
      const hashed = at(LONG);
      expect(hashed).toMatch(/^[a-zA-Z0-9]{32}$/);
      expect(at(LONG)).toBe(hashed);
      expect(at(`${LONG} `)).not.toBe(hashed);
      expect(at("x".repeat(5000))).toMatch(/^[a-zA-Z0-9]{32}$/);
      expect(at(LONG, Buffer.alloc(32, 9))).not.toBe(hashed);
    },
  );

  test.each([
    ["257 characters", "u".repeat(257), false],
    ["256 characters", "u".repeat(256), true],
    ["an address", "jane.doe@example.com", false],
    ["a telephone's number", "+1 (555) 123-4567", false],
    ["an id", "user-42@shop", true],
    ["a UUID", "5f0c2c1e-7d1b-4b5e-9f5b-000000000000", true],
  ])("Anthropic, which takes 256 characters and nothing personal: %s", (_, user, isTaken) => {
    const { sent } = told("chat", { messages: hello, user }, upstreamOf("messages"));
    if (isTaken) expect(sentUser(sent)).toBe(user);
    else expect(sentUser(sent)).toMatch(/^[a-zA-Z0-9]{32}$/);
  });

  test("safety_identifier counts as one", () => {
    const body = { messages: hello, safety_identifier: LONG };
    expect(sentUser(told("chat", body, upstreamOf("responses")).sent)).toMatch(/^[a-zA-Z0-9]{32}$/);
  });
});

test.each([
  ["chat", "responses"],
  ["responses", "chat"],
] as const)("a long prompt_cache_key from %s is a hash at %s", (format, dialect) => {
  const prompt = format === "chat" ? { messages: hello } : { input: "a" };
  const at = (key: string) => told(format, { ...prompt, prompt_cache_key: key }, upstreamOf(dialect)).sent;
  expect(at("k".repeat(64)).prompt_cache_key).toBe("k".repeat(64));
  expect(at("k".repeat(65)).prompt_cache_key).toMatch(/^[a-zA-Z0-9]{32}$/);
  // It is no user's, though the text is the same.
  expect(at(LONG).prompt_cache_key).not.toBe(at(LONG).user);
});

describe("stop sequences", () => {
  const stops = (sent: Json): unknown =>
    sent.stop ??
    sent.stop_sequences ??
    (sent.generationConfig as Json | undefined)?.stopSequences ??
    (sent.inferenceConfig as Json | undefined)?.stopSequences;
  const six = ["1", "2", "3", "4", "5", "6"];

  test.each<readonly [UpDialect, string, string, readonly string[], readonly string[]]>([
    ["chat", "p", "m", six, six.slice(0, 4)],
    ["chat", "deepseek", "m", six, six],
    ["chat", "mistral", "m", six, six],
    ["chat", "p", "m", ["\n"], ["\n"]],
    ["gemini", "p", "m", six, six.slice(0, 5)],
    ["messages", "p", "m", ["\n", "", "END"], ["END"]],
    ["messages", "p", "m", six, six],
    ["converse", "p", "m", ["\n", "END"], ["\n", "END"]],
    ["converse", "p", "m", ["", "END"], ["END"]],
    ["converse", "p", "anthropic.claude-3", ["\n", "END"], ["END"]],
    ["converse", "p", "anthropic.claude-3", ["\n"], []],
  ])("%s of %s (%s): of %j are told %j", (dialect, provider, model, asked, expected) => {
    const to = upstreamOf(dialect, provider, model);
    const [format, body] =
      dialect === "messages"
        ? (["chat", { messages: hello, stop: asked }] as const)
        : (["messages", asMessages({ stop_sequences: asked })] as const);
    const { sent, outgoing } = told(format, body, to);
    expect(stops(sent) ?? []).toEqual(expected);
    const at = format === "chat" ? "/stop" : "/stop_sequences";
    expect(outgoing.dropped).toEqual(expected.length === asked.length ? [] : [at]);
  });
});

describe.each(["chat", "responses", "messages", "gemini", "converse"] as const)(
  "choices at %s",
  (dialect) => {
    const format = dialect === "chat" ? "generate" : "chat";
    const at = (members: Json) => told(format, { messages: hello, ...members }, upstreamOf(dialect));
    const named = format === "chat" ? { type: "function", function: { name: "f" } } : { name: "f" };
    const single = format === "chat" ? "parallel_tool_calls" : "parallel_tools";

    test("with tools, that only one at a time may be called is told, or named", () => {
      const tool = { name: "f", parameters: { type: "object" } };
      const tools = [format === "chat" ? { type: "function", function: tool } : tool];
      const { sent, outgoing } = at({ tools, tool_choice: "auto", [single]: false });
      const isTold = JSON.stringify(sent).includes("parallel_tool");
      expect(outgoing.dropped).toEqual(isTold ? [] : [`/${single}`]);
      expect(isTold).toBe(dialect !== "gemini" && dialect !== "converse");
    });

    test.each(["auto", "none", "required", named])("without tools, %j is not told", (choice) => {
      for (const tools of [{}, { tools: [] }]) {
        const { sent, outgoing } = at({ ...tools, tool_choice: choice, [single]: false });
        const has = ["tools", "tool_choice", "toolConfig", "parallel_tool_calls"].filter(
          (name) => name in sent,
        );
        expect(has).toEqual([]);
        expect(outgoing.dropped).toEqual(choice === "auto" || choice === "none" ? [] : ["/tool_choice"]);
      }
    });
  },
);
