/** The harness of this room: what is asked and answered is the same in every format and dialect, whole and streamed. */
import { expect } from "vitest";
import { ALL_TARGETS } from "../../support/field/field.ts";
import { kinds } from "../../support/field/kinds.ts";

const TOOL = {
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } } },
};
const CALL = { id: "call_1", name: "look", arguments: { at: "Zürich 🎉" } };
const TEXT = "Grüß Gott, 世界 🎉";

kinds("the harness", [
  {
    name: "a text",
    ask: { turns: [{ user: [{ text: TEXT }] }], maxTokens: 100 },
    answer: { text: TEXT },
    clients: ["chat", "completions", "messages", "responses", "generate"],
    targets: ALL_TARGETS,
    check({ seen, heard }) {
      expect(seen.texts).toEqual([TEXT]);
      expect(heard.choices.map(({ text }) => text)).toEqual([TEXT]);
    },
  },
  {
    name: "calls, and their results at the next turn",
    ask: { turns: [{ user: [{ text: "look" }] }], tools: [TOOL] },
    answer: { text: TEXT, calls: [{ ...CALL, arguments: JSON.stringify(CALL.arguments) }] },
    targets: ALL_TARGETS,
    async check({ seen, heard, ask }) {
      expect(seen.tools).toMatchObject([TOOL]);
      expect(heard.choices).toMatchObject([{ text: TEXT, calls: [CALL] }]);
      const turns = [
        { user: [{ text: "look" }] },
        { echo: heard.echo },
        { results: [{ id: CALL.id, text: "seen" }] },
      ];
      const next = await ask({ turns, tools: [TOOL] });
      expect(next.seen.calls).toEqual([CALL]);
      expect(next.seen.results).toMatchObject([{ id: CALL.id, text: "seen" }]);
    },
  },
  {
    name: "a format's own words, to the byte where the dialect is the same",
    ask: {
      chat: '{"messages":[{"role":"user","content":"x"}], "seed": 1e0}',
      messages: { max_tokens: 9, messages: [{ role: "user", content: "x" }] },
    },
    check({ client, dialect, up }) {
      if (client === "chat" && dialect === "chat")
        expect(up.raw).toContain('"messages":[{"role":"user","content":"x"}], "seed": 1e0}');
      expect(up.raw).toContain('"x"');
    },
  },
]);
