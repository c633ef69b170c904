/** Names of tools that an upstream would refuse: it gets stand-ins, and the client its own names. */
import { describe, expect, test } from "vitest";
import { acceptedBy } from "../../../../src/wire/accepts/bounds.ts";
import {
  bodyOf,
  given,
  namesIn,
  ORG_KEY,
  PAIRS,
  told,
  type UpDialect,
  upstreamOf,
  valuesOf,
} from "./fixtures.ts";

const LONG = "mcp__plugin_atlassian_atlassian__createCompassComponentRelationship";
const NAMES: readonly (readonly [what: string, name: string])[] = [
  ["67 characters", LONG],
  ["129 characters", "x".repeat(129)],
  ["a mark of a source", "x".repeat(5000)],
  ["signs", "server.tool/do it"],
  ["an umlaut", "größe"],
  ["other letters", "工具"],
  ["a digit first", "9lives"],
  ["a dash first", "-dash"],
  ["nothing", ""],
  ["white space", " "],
  ["a name that objects inherit", "__proto__.x"],
];

const boundOf = (dialect: UpDialect) => {
  const bound = acceptedBy(dialect, upstreamOf(dialect)).toolName;
  if (bound === undefined) throw new Error(`no bound of ${dialect}`);
  return bound;
};

describe.each(PAIRS)("from %s to %s", (format, dialect) => {
  const { taken } = boundOf(dialect);

  // The native format refuses a tool without a name, and cannot tell one from a name of thousands of characters.
  const names = NAMES.filter(([, { length }]) => format !== "generate" || (length > 0 && length < 4096));

  test.each(names)("%s is told as the upstream takes it, everywhere alike, and comes back", (_, name) => {
    const way = told(format, bodyOf(format, { name, ids: ["call_1"] }), upstreamOf(dialect));
    const names = new Set(namesIn(way.sent));
    expect([...names]).toHaveLength(1);
    const [sent = ""] = names;
    expect(sent).toMatch(taken);
    if (taken.test(name)) {
      expect(sent).toBe(name);
      expect(way.outgoing).not.toHaveProperty("ownTools");
    }
    const answer = given(way, dialect, sent, "call_2");
    for (const text of [answer.whole, answer.stream]) {
      expect(text).toContain(`"name":${JSON.stringify(name)}`);
      if (sent !== name) expect(text).not.toContain(sent);
    }
  });

  test("the stand-in is the same in another turn, and another at another org", () => {
    const at = (ids: readonly string[], key = ORG_KEY) =>
      namesIn(told(format, bodyOf(format, { name: "a b", ids }), upstreamOf(dialect), key).sent)[0];
    expect(at(["c1", "c2", "c3"])).toBe(at([]));
    expect(at([], Buffer.alloc(32, 8))).not.toBe(at([]));
  });

  test("names that differ only in what is refused stay apart, also from one that is taken as it is", () => {
    const [standIn = ""] = namesIn(
      told(format, bodyOf(format, { name: "a b", ids: [] }), upstreamOf(dialect)).sent,
    );
    const others = ["a_b", "a/b", "a  b", standIn, `${LONG}1`, `${LONG}2`];
    const { sent } = told(
      format,
      bodyOf(format, { name: "a b", ids: [], others, isChosen: false }),
      upstreamOf(dialect),
    );
    expect(new Set(namesIn(sent)).size).toBe(others.length + 1);
    expect(namesIn(sent)).toEqual(expect.arrayContaining(["a_b", standIn]));
  });

  test("a name is readable in its stand-in", () => {
    const { sent } = told(format, bodyOf(format, { name: `${LONG}${LONG}`, ids: [] }), upstreamOf(dialect));
    expect(namesIn(sent)[0]).toMatch(/^mcp__plugin_atlassian_atlassian__create/);
  });
});

test.each(["9f1c", "call 1/ü", `c${"x".repeat(100)}`, "functions.f:0"])(
  "Gemini is told a name that it takes of a result without its call: %s",
  (id) => {
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "tool", tool_call_id: id, content: "r" },
    ];
    const { sent } = told("chat", { messages }, upstreamOf("gemini"));
    const [name] = valuesOf(sent.contents, "name");
    expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/);
    expect(valuesOf(sent.contents, "id")).toEqual([id]);
  },
);
