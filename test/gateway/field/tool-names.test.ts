/**
 * Names of tools that some upstreams refuse, such as those of MCP tools beyond 64 characters (maximhq/bifrost#3788): declared, chosen,
 * called in the history and called by the model, each alike, and the client sees its own. stand-ins.test.ts has restarts and attempts.
 */
import { expect } from "vitest";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

/** Names as dialects take them: src/wire/accepts/bounds.ts has the sources. */
const TAKEN: Readonly<Record<string, RegExp>> = {
  chat: /^[\w-]{1,64}$/,
  responses: /^[\w-]{1,64}$/,
  messages: /^[\w-]{1,128}$/,
  gemini: /^[A-Za-z_][\w.:-]{0,63}$/,
  converse: /^[\w-]{1,64}$/,
};

const LONG = "mcp__plugin_atlassian_atlassian__createCompassComponentRelationship";

/** Names of a request, by what is odd about them. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "of 67 characters": [LONG],
  "of 64 and 65 characters": [LONG.slice(0, 64), LONG.slice(0, 65)],
  "that differ behind the longest that is taken": [`${LONG.repeat(2)}a`, `${LONG.repeat(2)}b`, LONG],
  "with dots, spaces and other letters": ["fs.read", "fs read", "fs_read", "datei:öffnen", "検索", "🔧"],
  "that begin with a digit or a dash": ["2fa", "-x", "x"],
};

const USER = { user: [{ text: "x" }] };

const toolOf = (name: string) => ({
  name,
  description: "Does.",
  parameters: { type: "object", properties: { a: { type: "string" } } },
});

/** Bytes pass. */
const isSplice = ({ client, dialect }: Exchange): boolean => client === dialect;

const named = (how: string, names: readonly string[]): Kind => ({
  name: `names ${how}`,
  ask: {
    turns: [
      USER,
      { assistant: "", calls: names.map((name, index) => ({ id: `c${index}`, name, arguments: {} })) },
      { results: names.map((_, index) => ({ id: `c${index}`, text: "r" })) },
    ],
    tools: names.map(toolOf),
    choosing: { name: names[0] as string },
  },
  async check(exchange) {
    const { seen, dialect, ask } = exchange;
    const told = seen.tools.map(({ name }) => name);
    expect(new Set(told).size).toBe(names.length);
    for (const [index, name] of names.entries()) {
      const taken = TAKEN[dialect] as RegExp;
      // What the upstream takes is not touched.
      if (isSplice(exchange) || taken.test(name)) expect(told[index]).toBe(name);
      else expect(told[index]).toMatch(taken);
    }
    expect(seen.calls.map(({ name }) => name)).toEqual(told);
    expect(seen.choosing).toEqual({ name: told[0] });
    const calls = told.map((name, index) => ({ id: `d${index}`, name, arguments: '{"a":"b"}' }));
    const next = await ask({ turns: [USER], tools: names.map(toolOf) }, { calls, piece: 3 });
    expect(next.seen.tools.map(({ name }) => name)).toEqual(told);
    expect(next.heard.choices[0]?.calls.map(({ name }) => name)).toEqual(names);
  },
});

kinds(
  "tools",
  Object.entries(NAMES).map(([how, names]) => named(how, names)),
);
