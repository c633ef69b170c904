/**
 * Tools whose name is offered twice ("tools: Tool names must be unique", eclipse-theia/theia#16122, microsoft/vscode#278073), and choices
 * of a tool that is not sent ("Tool choice 'function' not found in 'tools' parameter", raine/claude-code-proxy#10).
 */
import { expect } from "vitest";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

const USER = { user: [{ text: "x" }] };
const ANY = { type: "object", properties: {} };
const MESSAGE = { role: "user", content: "x" };

const toolOf = (name: string, description = "Does.") => ({ name, description, parameters: ANY });

/** Bytes pass. */
const isSplice = ({ client, dialect }: Exchange): boolean => client === dialect;

const warns = ({ heard }: Exchange, at: string) =>
  expect(heard.svc.warnings).toEqual([expect.stringMatching(new RegExp(`${at}$`))]);

const twice: readonly Kind[] = [
  {
    name: "the same tool twice",
    ask: { turns: [USER], tools: [toolOf("f"), toolOf("g"), toolOf("f")] },
    check(exchange) {
      if (isSplice(exchange)) return;
      expect(exchange.seen.tools).toEqual(
        [toolOf("f"), toolOf("g")].map((tool) => expect.objectContaining(tool)),
      );
      warns(exchange, "/tools/2");
    },
  },
  {
    name: "another tool of the same name",
    ask: { turns: [USER], tools: [toolOf("f"), toolOf("g"), toolOf("f", "Does more.")] },
    check(exchange) {
      if (isSplice(exchange)) return;
      const told = [toolOf("f", "Does more."), toolOf("g")];
      expect(exchange.seen.tools).toEqual(told.map((tool) => expect.objectContaining(tool)));
      warns(exchange, "/tools/0");
    },
  },
  {
    name: "the same tool in the newer and the older member",
    ask: {
      chat: {
        messages: [MESSAGE],
        tools: [{ type: "function", function: toolOf("f") }],
        functions: [toolOf("f")],
      },
    },
    targets: ["responses", "messages", "gemini", "converse"],
    check(exchange) {
      expect(exchange.seen.tools.map(({ name }) => name)).toEqual(["f"]);
      warns(exchange, "/functions/0");
    },
  },
  {
    name: "a tool that the provider runs, and a function of its name",
    ask: {
      messages: {
        max_tokens: 9,
        messages: [MESSAGE],
        tools: [
          { type: "web_search_20250305", name: "web_search" },
          { name: "web_search", input_schema: ANY },
        ],
      },
    },
    targets: ["chat", "responses", "gemini", "converse"],
    check(exchange) {
      expect(exchange.seen.tools.map(({ name }) => name)).toEqual(["web_search"]);
      warns(exchange, "/tools/0");
    },
  },
];

const LONG = "n".repeat(5000);

const unsent: readonly Kind[] = [
  {
    name: "the choice of a tool that is not in the list",
    ask: { turns: [USER], tools: [toolOf("f")], choosing: { name: "g" } },
    check(exchange) {
      if (isSplice(exchange)) return;
      expect(exchange.seen.choosing ?? "auto").toBe("auto");
      expect(exchange.up.raw).not.toContain('"g"');
      warns(exchange, "/tool_choice");
    },
  },
  {
    name: "the choice of a tool with a name of thousands of characters",
    ask: { turns: [USER], tools: [toolOf("f"), toolOf(LONG)], choosing: { name: LONG } },
    // The native format refuses such a name.
    clients: ["chat", "messages", "responses"],
    check(exchange) {
      if (isSplice(exchange)) return;
      expect(exchange.seen.choosing).toEqual({ name: exchange.seen.tools[1]?.name });
    },
  },
  {
    name: "the choice of a tool that the provider runs, which is left out",
    ask: {
      messages: {
        max_tokens: 9,
        messages: [MESSAGE],
        tools: [
          { type: "web_search_20250305", name: "web_search" },
          { name: "f", input_schema: ANY },
        ],
        tool_choice: { type: "tool", name: "web_search" },
      },
      responses: {
        input: [MESSAGE],
        tools: [{ type: "web_search" }, { type: "function", name: "f", parameters: ANY }],
        tool_choice: { type: "web_search" },
      },
    },
    check(exchange) {
      if (isSplice(exchange)) return;
      expect(exchange.seen.choosing ?? "auto").toBe("auto");
      expect(exchange.up.raw).not.toContain("web_search");
      expect(exchange.heard.svc.warnings).toEqual([
        expect.stringContaining("/tools/0"),
        expect.stringContaining("/tool_choice"),
      ]);
    },
  },
];

kinds("tools", [...twice, ...unsent]);
