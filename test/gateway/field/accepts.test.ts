/** What traffic has and some upstreams refuse: long names of tools, ids that begin anew each turn, blank texts. */
import { expect } from "vitest";
import { kinds } from "../../support/field/kinds.ts";

const LONG = "mcp__plugin_atlassian_atlassian__createCompassComponentRelationship";
const KIMI = "functions.f:0";
const OK = { user: [{ text: "x" }] };

const toolOf = (name: string) => ({
  name,
  description: "Does.",
  parameters: { type: "object", properties: { a: { type: "string" } } },
});

/** Names as dialects take them; those of an equal format are the client's own choice. */
const NAMES = {
  chat: /^[\w-]{1,64}$/,
  responses: /^[\w-]{1,64}$/,
  messages: /^[\w-]{1,128}$/,
  gemini: /^[A-Za-z_][\w.:-]{0,63}$/,
  converse: /^[\w-]{1,64}$/,
} as const;

const IDS = { ...NAMES, chat: /^.{1,40}$/s, messages: /^[\w-]{1,64}$/, gemini: /^.{1,256}$/s } as const;

/** Whether bytes pass. */
const isSplice = ({ client, dialect }: { readonly client: string; readonly dialect: string }): boolean =>
  client === dialect;

kinds("what the other side accepts", [
  {
    name: "a tool's name of 67 characters, called and answered",
    ask: {
      turns: [
        OK,
        { assistant: "", calls: [{ id: "c1", name: LONG, arguments: {} }] },
        { results: [{ id: "c1", text: "r" }] },
      ],
      tools: [toolOf(LONG)],
      choosing: { name: LONG },
    },
    async check(exchange) {
      const { seen, dialect, ask } = exchange;
      const [{ name: told } = { name: "" }] = seen.tools ?? [];
      if (isSplice(exchange)) expect(told).toBe(LONG);
      else expect(told).toMatch(NAMES[dialect as keyof typeof NAMES]);
      expect(seen.calls.map(({ name }) => name)).toEqual([told]);
      const answer = { calls: [{ id: "c2", name: told, arguments: '{"a":"b"}' }] };
      const next = await ask({ turns: [OK], tools: [toolOf(LONG)] }, answer);
      expect(next.seen.tools?.map(({ name }) => name)).toEqual([told]);
      expect(next.heard.choices[0]?.calls.map(({ name }) => name)).toEqual([LONG]);
    },
  },
  {
    name: "ids of Kimi's, the same each turn",
    ask: {
      turns: [
        OK,
        { assistant: "", calls: [{ id: KIMI, name: "f", arguments: {} }] },
        { results: [{ id: KIMI, text: "first" }] },
        { assistant: "", calls: [{ id: KIMI, name: "f", arguments: {} }] },
        { results: [{ id: KIMI, text: "second" }] },
      ],
      tools: [toolOf("f")],
    },
    check(exchange) {
      const { seen, dialect } = exchange;
      const calls = seen.calls.map(({ id }) => id);
      expect(seen.results.map(({ id }) => id)).toEqual(calls);
      expect(seen.results.map(({ text }) => text)).toEqual(["first", "second"]);
      if (isSplice(exchange) && dialect !== "messages") return;
      expect(new Set(calls).size).toBe(2);
      for (const id of calls) expect(id).toMatch(IDS[dialect as keyof typeof IDS]);
    },
  },
  {
    name: "blank text beside a call, in its result and as instructions",
    ask: {
      system: " \n",
      turns: [
        OK,
        { assistant: "\n\n", calls: [{ id: "c1", name: "f", arguments: {} }] },
        { results: [{ id: "c1", text: " " }] },
      ],
      tools: [toolOf("f")],
    },
    clients: ["chat", "responses", "generate"],
    targets: ["messages", "converse", "converse-nova"],
    check({ up }) {
      const blanks = JSON.stringify(up.json).match(/"text":"(?:\s|\\[nrt])*"/g);
      expect(blanks).toBeNull();
      expect(up.json.messages.map(({ role }: { role: string }) => role)).toEqual([
        "user",
        "assistant",
        "user",
      ]);
    },
  },
]);
