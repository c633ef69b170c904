/**
 * Texts of white space alone, wherever a conversation has them (anomalyco/opencode#31259, home-assistant/core#175637): Anthropic and
 * Bedrock refuse them, so they are left out there, and what is left is still the conversation.
 */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Asking, type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

const STRICT = ["messages", "converse", "converse-nova"] as const;
const OTHERS = ["chat", "responses", "gemini"] as const;
const TOOL = { name: "f", description: "Does.", parameters: { type: "object", properties: {} } };
const CALL = { id: "c1", name: "f", arguments: {} };

/** Bytes pass. */
const isSplice = ({ client, dialect }: Exchange): boolean => client === dialect;

const roles = ({ up }: Exchange): string[] => up.json.messages.map(({ role }: Json) => role);

/** Texts of white space alone, in whatever place. */
const blanks = ({ up }: Exchange): string[] => {
  const found: string[] = [];
  JSON.stringify(up.json, (name, value) => {
    if (["text", "content", "system"].includes(name) && typeof value === "string" && value.trim() === "")
      found.push(value);
    return value;
  });
  return found;
};

interface Blank {
  readonly name: string;
  readonly ask: Asking;
  /** Roles of the turns that are told. */
  readonly turns: readonly string[];
  /** What users and the model said. */
  readonly texts: readonly string[];
  readonly check?: (exchange: Exchange) => void;
}

const TABLE: readonly Blank[] = [
  {
    name: "beside a call, in its result and as instructions",
    ask: {
      system: " \n",
      turns: [
        { user: [{ text: "x" }] },
        { assistant: "\n\n", calls: [CALL] },
        { results: [{ id: "c1", text: " \t" }] },
      ],
      tools: [TOOL],
    },
    turns: ["user", "assistant", "user"],
    texts: ["x"],
    check({ up, seen }) {
      expect(up.json).not.toHaveProperty("system");
      expect(seen.calls).toEqual([CALL]);
      expect(seen.results).toMatchObject([{ id: "c1", text: "" }]);
    },
  },
  {
    name: "among texts of a turn",
    ask: { turns: [{ user: [{ text: "\u00a0" }, { text: " a " }, { text: "" }, { text: "\r\n" }] }] },
    turns: ["user"],
    texts: [" a "],
  },
  {
    name: "behind the results of a call",
    ask: {
      turns: [
        { user: [{ text: "x" }] },
        { assistant: "", calls: [CALL] },
        { results: [{ id: "c1", text: "r" }], said: "\n" },
      ],
      tools: [TOOL],
    },
    turns: ["user", "assistant", "user"],
    texts: ["x"],
    check({ seen }) {
      expect(seen.results).toMatchObject([{ id: "c1", text: "r" }]);
    },
  },
  {
    name: "a whole turn of the model's",
    ask: { turns: [{ user: [{ text: "a" }] }, { assistant: " \n" }, { user: [{ text: "b" }] }] },
    turns: ["user"],
    texts: ["a", "b"],
  },
  {
    name: "whole turns of the user's beside one that says something",
    ask: {
      turns: [
        { user: [{ text: " " }] },
        { user: [{ text: "a" }] },
        { assistant: "b" },
        { user: [{ text: "\t" }] },
        { user: [{ text: "c" }] },
        { user: [{ text: "\n" }] },
      ],
    },
    turns: ["user", "assistant", "user"],
    texts: ["a", "b", "c"],
    check({ heard }) {
      expect(heard.svc.warnings).toEqual([]);
    },
  },
  {
    name: "a whole turn of the user's",
    ask: {
      turns: [
        { user: [{ text: "a" }] },
        { assistant: "b" },
        { user: [{ text: " " }] },
        { user: [{ text: "\n" }] },
      ],
    },
    turns: ["user", "assistant", "user"],
    texts: ["a", "b", "(empty)"],
    check({ heard }) {
      expect(heard.svc.warnings).toEqual([expect.stringMatching(/\/(?:messages|input)\/2$/)]);
    },
  },
];

const leftOut = ({ name, ask, turns, texts, check }: Blank): Kind => ({
  name,
  ask,
  targets: STRICT,
  check(exchange) {
    if (isSplice(exchange)) return;
    expect(blanks(exchange)).toEqual([]);
    expect(roles(exchange)).toEqual(turns);
    expect(exchange.seen.texts).toEqual(texts);
    check?.(exchange);
  },
});

/** Dialects that take them are told what was said. */
const kept: Kind = {
  name: "where the dialect takes it, it stays",
  ask: { turns: [{ user: [{ text: "a" }] }, { assistant: " \n" }, { user: [{ text: "b" }] }] },
  targets: OTHERS,
  check({ seen }) {
    expect(seen.texts).toEqual(["a", " \n", "b"]);
  },
};

kinds("blank text", [...TABLE.map(leftOut), kept]);
