/**
 * Ids of calls that some upstreams refuse, such as Kimi's `functions.f:0`, which begin anew each turn (musistudio/claude-code-router#1808):
 * call and result are told alike, ids that upstreams take stay, and an answer's ids come back to the upstream as its own.
 */
import { expect } from "vitest";
import type { Heard, Json } from "../../support/conformance/ask.ts";
import type { Said } from "../../support/field/answers.ts";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

/** Ids as dialects take them: src/wire/accepts/bounds.ts has the sources. */
const TAKEN: Readonly<Record<string, RegExp>> = {
  chat: /^.{1,40}$/s,
  responses: /^[\w-]{1,64}$/,
  messages: /^[\w-]{1,64}$/,
  gemini: /^.{1,256}$/s,
  converse: /^[\w-]{1,64}$/,
};

const LONG = "call_0123456789".repeat(20);

/** Ids of the calls of each turn, by what is odd about them. */
const IDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "as Kimi makes them, the same each turn": [["functions.f:0", "functions.f:1"], ["functions.f:0"]],
  "beyond the longest that is taken, of one beginning": [[`${LONG}a`, `${LONG}b`], [LONG.slice(0, 41)]],
  "with other characters": [["call/1|x", "ü-1", "call 1"], ["呼び出し"]],
  "that every dialect takes": [["call_1", "toolu_01-A"], ["x"]],
};

const TOOL = {
  name: "f",
  description: "Does.",
  parameters: { type: "object", properties: { a: { type: "string" } } },
};
const USER = { user: [{ text: "x" }] };

/** Between equal ends bytes pass, but for a conversation with an id that the upstream refuses: another model may have given it. */
const isLeft = ({ client, dialect }: Exchange, ids: readonly string[]): boolean =>
  client === dialect && ids.every((id) => (TAKEN[dialect] as RegExp).test(id));

const given = (how: string, turns: readonly (readonly string[])[]): Kind => {
  const ids = turns.flat();
  const texts = turns.flatMap((of, turn) => of.map((id) => `${turn} ${id}`));
  return {
    name: `ids ${how}`,
    ask: {
      turns: [
        USER,
        ...turns.flatMap((of, turn) => [
          { assistant: "", calls: of.map((id) => ({ id, name: "f", arguments: { a: `${turn} ${id}` } })) },
          { results: of.map((id) => ({ id, text: `${turn} ${id}` })) },
        ]),
      ],
      tools: [TOOL],
    },
    check(exchange) {
      const { seen, dialect } = exchange;
      const told = seen.calls.map(({ id }) => id);
      expect(seen.results.map(({ id }) => id)).toEqual(told);
      expect(seen.calls.map(({ arguments: args }) => args)).toEqual(texts.map((a) => ({ a })));
      expect(seen.results.map(({ text }) => text)).toEqual(texts);
      if (isLeft(exchange, ids)) {
        expect(told).toEqual(ids);
        return;
      }
      expect(new Set(told).size).toBe(ids.length);
      const taken = TAKEN[dialect] as RegExp;
      for (const [index, id] of ids.entries()) {
        const isFirst = ids.indexOf(id) === index;
        if (isFirst && taken.test(id)) expect(told[index]).toBe(id);
        else expect(told[index]).toMatch(taken);
      }
    },
  };
};

/** Every dialect's servers make ids of their own; the client sends back what it got. */
const answered: Kind = {
  name: "ids of an answer",
  ask: { turns: [USER], tools: [TOOL] },
  answer: {
    calls: [
      { id: "toolu_01-A", name: "f", arguments: '{"a":"1"}' },
      { id: "toolu_01-B", name: "f", arguments: '{"a":"2"}' },
    ],
  },
  async check({ heard, ask }) {
    const calls = heard.choices[0]?.calls ?? [];
    expect(calls.map(({ id }) => id)).toEqual(["toolu_01-A", "toolu_01-B"]);
    const results = calls.map(({ id }) => ({ id, text: `of ${id}` }));
    const next = await ask({ turns: [USER, { echo: heard.echo }, { results }], tools: [TOOL] });
    expect(next.seen.calls.map(({ id }) => id)).toEqual(["toolu_01-A", "toolu_01-B"]);
    expect(next.seen.results).toMatchObject(results);
  },
};

const twoOf = (id: string): Said => ({
  calls: [
    { id, name: "f", arguments: '{"a":"1"}' },
    { id, name: "f", arguments: '{"a":"2"}' },
  ],
});

/** Clients match results by the id, and Anthropic takes no two calls with one. */
const mended = (how: string, id: string): Kind => ({
  name: `calls of an answer that have ${how}`,
  ask: { turns: [USER], tools: [TOOL] },
  answer: twoOf(id),
  async check({ heard, ask, dialect }) {
    const idsOf = ({ choices }: Heard) => (choices[0]?.calls ?? []).map((call) => call.id);
    const ids = idsOf(heard);
    for (const each of ids) expect(each).toMatch(TAKEN[dialect] as RegExp);
    expect(heard.choices[0]?.calls).toMatchObject([{ arguments: { a: "1" } }, { arguments: { a: "2" } }]);
    if (id !== "") expect(ids[0]).toBe(id);
    const results = ids.map((each) => ({ id: each, text: `of ${each}` }));
    const next = await ask({ turns: [USER, { echo: heard.echo }, { results }], tools: [TOOL] }, twoOf(""));
    expect(next.seen.calls.map((call) => call.id)).toEqual(ids);
    expect(new Set([...ids, ...idsOf(next.heard)]).size).toBe(4);
  },
});

/** Calls of two tools under one id, in one turn and again in the next; one call is left without a result. */
const SHARED: readonly (readonly [calls: readonly string[], results: readonly string[]])[] = [
  [
    ["f", "g"],
    ["f", "g"],
  ],
  [["g"], ["g"]],
  [["f"], []],
  [["g"], ["g"]],
];

/** Gemini matches a result by its name too. */
const named = (how: string, id: string): Kind => ({
  name: `results of calls of several tools under ${how}`,
  ask: {
    turns: [
      USER,
      ...SHARED.flatMap(([calls, results]) => [
        { assistant: "", calls: calls.map((name) => ({ id, name, arguments: {} })) },
        ...(results.length === 0 ? [USER] : [{ results: results.map((name) => ({ id, text: name })) }]),
      ]),
    ],
    tools: ["f", "g"].map((name) => ({ ...TOOL, name })),
  },
  targets: ["gemini"],
  check({ up }) {
    const parts = (up.json.contents as Json[]).flatMap((content): Json[] => content.parts);
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    expect(results.map(({ name }) => name)).toEqual(SHARED.flatMap(([, names]) => names));
    for (const { name, response } of results) expect(JSON.stringify(response)).toContain(`"${name}"`);
  },
});

kinds("calls", [
  named("one id", "a"),
  // The native format refuses it.
  { ...named("an empty id", ""), clients: ["chat", "messages", "responses"] },
  ...Object.entries(IDS).map(([how, turns]) => given(how, turns)),
  answered,
  // Gemini's compatible endpoint gives an empty id, older servers none (anomalyco/opencode#25925).
  mended("no ids", ""),
  // HKUDS/nanobot#3943.
  mended("one id", "call_1"),
]);
