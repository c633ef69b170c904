/**
 * Results of a search for tools by reference, as Claude Code's search gives them (LeenHawk/gproxy#239: they arrived empty): the result
 * says which tools were found, by the names under which the upstream is offered them.
 */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

const ANY = { type: "object", properties: {} };
/** Longer than any dialect takes. */
const LONG = `mcp__plugin_${"confluence_".repeat(12)}search`;
const OTHERS = ["chat", "responses", "gemini", "converse"] as const;

const reference = (tool_name: string) => ({ type: "tool_reference", tool_name });

const asking = (content: readonly object[] | string, more: object = {}) => ({
  messages: {
    max_tokens: 9,
    tools: [
      { name: "ToolSearch", description: "Finds.", input_schema: ANY },
      { name: "Stop", description: "Stops.", input_schema: ANY, defer_loading: true },
      { name: LONG, description: "Searches.", input_schema: ANY, defer_loading: true },
    ],
    messages: [
      { role: "user", content: "find" },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "t1", name: "ToolSearch", input: { query: "stop" } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content, ...more }] },
    ],
  },
});

const names = ({ seen }: Exchange): string[] => seen.tools.map(({ name }) => name);

/** @param text of the result, of the names under which the tools are offered */
const found = (
  name: string,
  content: readonly object[],
  text: (offered: readonly string[]) => string,
): Kind => ({
  name,
  ask: asking(content),
  targets: OTHERS,
  check(exchange) {
    const { seen, heard } = exchange;
    const offered = names(exchange);
    expect(offered.slice(0, 2)).toEqual(["ToolSearch", "Stop"]);
    expect(offered[2]).toMatch(/^mcp__plugin_confluence_[\w-]{1,41}$/);
    expect(seen.calls).toEqual([{ id: "t1", name: "ToolSearch", arguments: { query: "stop" } }]);
    // Dialects whose result is one text have a line for each part.
    const [result] = seen.results;
    expect([result?.id, result?.text.replace("\n", "")]).toEqual(["t1", text(offered)]);
    expect(seen.results).toHaveLength(1);
    expect(heard.svc.warnings.filter((warning) => warning.includes("/content"))).toEqual([]);
  },
});

const SAID = "Tools that can be called from now on: ";

kinds("tool references", [
  found("one tool", [reference("Stop")], () => `${SAID}Stop.`),
  found(
    "several tools, one of a name that no dialect takes",
    [reference("Stop"), reference(LONG)],
    ([, , long]) => `${SAID}Stop, ${long}.`,
  ),
  found("a tool that is not offered any more", [reference("Gone")], () => `${SAID}Gone.`),
  found(
    "a tool beside a text",
    [{ type: "text", text: "1 match. " }, reference("Stop")],
    () => `1 match. ${SAID}Stop.`,
  ),
  {
    name: "an upstream that has references is told them",
    ask: asking([reference("Stop"), reference(LONG)]),
    targets: ["messages"],
    check({ up }) {
      const { tools, messages } = asking([reference("Stop"), reference(LONG)]).messages;
      expect(up.json.messages).toEqual(messages);
      expect(up.json.tools).toEqual(tools);
    },
  },
  {
    name: "a tool that was found is called by the client's own name",
    ask: asking([reference(LONG)]),
    targets: OTHERS,
    async check(exchange) {
      const [, , name = ""] = names(exchange);
      const next = await exchange.ask(asking([reference(LONG)]), {
        calls: [{ id: "t2", name, arguments: '{"a":1}' }],
        piece: 1,
      });
      expect(names(next)).toEqual(names(exchange));
      expect(next.heard.choices[0]?.calls).toEqual([{ id: "t2", name: LONG, arguments: { a: 1 } }]);
    },
  },
  {
    name: "a search that failed says why",
    ask: asking("no such index", { is_error: true }),
    targets: OTHERS,
    check({ seen }) {
      expect(seen.results).toMatchObject([{ id: "t1", text: "no such index" }]);
    },
  },
  {
    name: "a search that the provider ran leaves with its result, and the tools stay",
    ask: {
      messages: {
        max_tokens: 9,
        tools: asking([]).messages.tools,
        messages: [
          { role: "user", content: "find" },
          {
            role: "assistant",
            content: [
              { type: "text", text: "I look." },
              { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_regex", input: {} },
              {
                type: "tool_search_tool_result",
                tool_use_id: "srvtoolu_1",
                content: { type: "tool_search_tool_search_result", tool_references: [reference("Stop")] },
              },
              { type: "tool_use", id: "t1", name: "Stop", input: {} },
            ],
          },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "stopped" }] },
        ],
      } satisfies Json,
    },
    targets: OTHERS,
    check(exchange) {
      const { seen, heard } = exchange;
      expect(names(exchange)).toContain("Stop");
      expect(seen.calls).toEqual([{ id: "t1", name: "Stop", arguments: {} }]);
      expect(seen.results).toMatchObject([{ id: "t1", text: "stopped" }]);
      for (const index of [1, 2])
        expect(heard.svc.warnings).toContainEqual(expect.stringContaining(`/messages/1/content/${index}`));
    },
  },
]);
