/** Ids of calls: told as the upstream takes them, call and result alike, and made where an upstream gives none. */
import { describe, expect, test } from "vitest";
import { acceptedBy } from "../../../../src/wire/accepts/bounds.ts";
import {
  bodyOf,
  FORMAT_NAMES,
  given,
  idsIn,
  ORG_KEY,
  PAIRS,
  told,
  type UpDialect,
  upstreamOf,
  valuesOf,
} from "./fixtures.ts";

const IDS: readonly (readonly [what: string, id: string])[] = [
  ["of Kimi", "functions.f:0"],
  ["83 characters", "c".repeat(83)],
  ["a mark of a source", "c".repeat(5000)],
  ["signs", "call/1 +ü"],
  ["nothing", ""],
];

const takenBy = (dialect: UpDialect, provider?: string, model?: string): RegExp =>
  acceptedBy(dialect, upstreamOf(dialect, provider, model)).callId?.taken ?? /^/;

describe.each(PAIRS)("from %s to %s", (format, dialect) => {
  const to = upstreamOf(dialect);
  const ids = IDS.filter(([, { length }]) => format !== "generate" || (length > 0 && length < 4096));

  test.each(ids)("an id is told as the upstream takes it, call and result alike: %s", (_, id) => {
    const [call = "", result, ...more] = idsIn(
      told(format, bodyOf(format, { name: "f", ids: [id] }), to).sent,
    );
    expect([result, more]).toEqual([call, []]);
    expect(call).toMatch(takenBy(dialect));
    if (takenBy(dialect).test(id)) expect(call).toBe(id);
  });

  test("an id that calls of two turns share names each with its own result", () => {
    const asked = { name: "f", ids: ["functions.f:0", "functions.f:0", "functions.f:0"] };
    const sent = idsIn(told(format, bodyOf(format, asked), to).sent);
    expect(sent).toHaveLength(6);
    for (let at = 0; at < 6; at += 2) expect(sent[at]).toBe(sent[at + 1]);
    expect(new Set(sent).size).toBe(3);
    // What was told at one turn is told at the next: the provider's cache holds it.
    const before = idsIn(told(format, bodyOf(format, { ...asked, ids: asked.ids.slice(0, 2) }), to).sent);
    expect(sent.slice(0, 4)).toEqual(before);
  });

  test("a call without an id gets one that no other answer has, and the model's own stays", () => {
    const way = told(format, bodyOf(format, { name: "f", ids: [] }), to);
    const idsOf = (requestId: string) => {
      const { whole, stream } = given(way, dialect, "f", undefined, requestId);
      return [whole, stream].map((text) => /call_01[A-Z0-9]+_\d+_\d+/.exec(text)?.[0]);
    };
    const first = idsOf("01KAAAAAAAAAAAAAAAAAAAAAAA");
    const second = idsOf("01KBBBBBBBBBBBBBBBBBBBBBBB");
    expect([...first, ...second]).not.toContain(undefined);
    expect(first[0]).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
    expect(new Set([...first, ...second]).size).toBe(2);
    const own = given(way, dialect, "f", "functions.f:0");
    for (const text of [own.whole, own.stream]) expect(text).toContain('"functions.f:0"');
  });
});

test.each(PAIRS.filter(([, dialect]) => dialect !== "gemini"))(
  "from %s to %s two ids stay two, also where one is told as the other's stand-in would be",
  (format, dialect) => {
    const to = upstreamOf(dialect);
    const long = "a:b".repeat(20);
    const [standIn = ""] = idsIn(told(format, bodyOf(format, { name: "f", ids: [long] }), to).sent);
    const ids = [long, `${long}c`, standIn];
    const sent = idsIn(told(format, bodyOf(format, { name: "f", ids }), to).sent);
    expect(new Set(sent).size).toBe(3);
    expect(sent).toContain(standIn);
  },
);

test("calls of one turn that share an id are matched to their results in order", () => {
  const call = { id: "x", type: "function", function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", content: null, tool_calls: [call, call] },
    { role: "tool", tool_call_id: "x", content: "first" },
    { role: "tool", tool_call_id: "x", content: "second" },
  ];
  const [a, b, ...results] = idsIn(told("chat", { messages }, upstreamOf("messages")).sent);
  expect(a).not.toBe(b);
  expect(results).toEqual([a, b]);
});

test("a call without a result leaves a later one of its id to its own", () => {
  const call = { id: "x", type: "function", function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "user", content: "go on" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "x", content: "r" },
  ];
  const [first, second, result] = idsIn(told("chat", { messages }, upstreamOf("converse")).sent);
  expect(first).not.toBe(second);
  expect(result).toBe(second);
});

describe("providers and models that depart from their dialect", () => {
  test.each([
    ["Mistral's own", "mistral", "m"],
    ["a model of Mistral's elsewhere", "p", "mistralai/devstral-small"],
  ])("%s take nine letters and digits", (_, provider, model) => {
    const to = upstreamOf("chat", provider, model);
    for (const format of FORMAT_NAMES) {
      if (format === "chat") continue;
      const sent = idsIn(told(format, bodyOf(format, { name: "f", ids: ["toolu_1", "abcdefghi"] }), to).sent);
      expect(new Set(sent).size).toBe(2);
      expect(sent).toContain("abcdefghi");
      for (const id of sent) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    }
  });

  test.each(["mistral.mistral-large-2402-v1:0", "us.mistral.pixtral-large-2502-v1:0"])(
    "so does a model of Mistral's at Bedrock: %s",
    (model) => {
      const to = upstreamOf("converse", "p", model);
      for (const format of FORMAT_NAMES) {
        const ids = ["tooluse_Ac1", "tooluse_Ac2", "a", "abcdefghi"];
        const sent = idsIn(told(format, bodyOf(format, { name: "f", ids }), to).sent);
        expect(new Set(sent).size).toBe(4);
        expect(sent).toContain("abcdefghi");
        for (const id of sent) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
      }
    },
  );

  test("Kimi gets back its ids as it made them, each turn anew", () => {
    const ids = [`functions.${"f".repeat(60)}:0`, "functions.f:0", "functions.f:0"];
    const to = upstreamOf("chat", "p", "moonshotai/Kimi-K2-Instruct");
    const { sent } = told("messages", bodyOf("messages", { name: "f", ids }), to);
    expect(idsIn(sent)).toEqual(ids.flatMap((id) => [id, id]));
  });

  test("an id that is too long for Kimi leaves its other ids as they are", () => {
    const shared = ["functions.f:0", "functions.f:0"];
    const to = upstreamOf("chat", "p", "moonshotai/Kimi-K2-Instruct");
    const { sent } = told(
      "messages",
      bodyOf("messages", { name: "f", ids: ["f".repeat(257), ...shared] }),
      to,
    );
    const [call, result, ...others] = idsIn(sent);
    expect(call).toMatch(/^f{1,250}_\w+$/);
    expect(result).toBe(call);
    expect(others).toEqual(shared.flatMap((id) => [id, id]));
  });
});

test("the org's key decides what an id becomes", () => {
  const at = (key: Uint8Array) =>
    valuesOf(
      told("chat", bodyOf("chat", { name: "f", ids: ["a:b"] }), upstreamOf("messages"), key).sent,
      "id",
    )[0];
  expect(at(ORG_KEY)).toBe(at(Buffer.from(ORG_KEY)));
  expect(at(ORG_KEY)).not.toBe(at(Buffer.alloc(32, 9)));
});
