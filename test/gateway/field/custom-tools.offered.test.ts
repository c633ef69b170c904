/**
 * Further tools of Codex and of OpenAI's formats: groups (`namespace`), tools added by an item of the input (`additional_tools`), the
 * client's shell (`local_shell`) and its search (`tool_search`), and a choice of some tools (`allowed_tools`).
 */
import { expect } from "vitest";
import { type Kind, kinds } from "../../support/field/kinds.ts";
import {
  ANY,
  asFunctions,
  asItIs,
  asking,
  called,
  callsIn,
  FUNCTIONS,
  fn,
  names,
  type OfferedTool,
  USER,
} from "./custom-tools.fixtures.ts";

const MAIL = {
  type: "namespace",
  name: "mail",
  description: "Mail.",
  tools: [fn("send"), { type: "custom", name: "draft", description: "Drafts." }],
};

const SHELL_ACTION = { type: "exec", command: ["ls", "-l"], env: { LANG: "C" }, timeout_ms: 1000 };
const DRAFT = { type: "custom_tool_call", namespace: "mail", name: "draft", input: 'To: a\n"b"' };
const SEND = { type: "function_call", namespace: "mail", name: "send", arguments: '{"n":1.0}' };
const SENT = { type: "function_call_output", call_id: "call_0", output: "sent" };
const OF_MAIL: Pick<OfferedTool, "answers" | "told" | "history"> = {
  history: [{ ...SEND, call_id: "call_0" }, SENT],
  told: { name: "mail__send", arguments: { n: 1 }, result: "sent" },
  answers: [
    ["mail__send", '{"n":1.0}', SEND],
    ["mail__draft", JSON.stringify({ input: DRAFT.input }), DRAFT],
  ],
};
const SEARCH = {
  type: "tool_search",
  execution: "client",
  description: "Finds tools.",
  parameters: { type: "object", properties: { query: { type: "string" } } },
};
const SEARCHED = [
  {
    type: "tool_search_call",
    call_id: "call_0",
    execution: "client",
    status: "completed",
    arguments: { query: "mail" },
  },
  {
    type: "tool_search_output",
    call_id: "call_0",
    execution: "client",
    status: "completed",
    tools: [MAIL, fn("look")],
  },
] as const;

const TABLE: readonly OfferedTool[] = [
  {
    title: "a group of tools",
    tools: [MAIL, fn("send")],
    offered: ["mail__send", "mail__draft", "send"],
    ...OF_MAIL,
  },
  {
    title: "tools that an item adds",
    items: [{ type: "additional_tools", role: "developer", tools: [MAIL, fn("run")] }],
    offered: ["mail__send", "mail__draft", "run"],
    ...OF_MAIL,
  },
  {
    title: "a group's tool whose name is a function's",
    tools: [fn("mail__send"), MAIL],
    offered: ["mail__send", "mail__send_2", "mail__draft"],
    ...OF_MAIL,
    told: { ...OF_MAIL.told, name: "mail__send_2" },
    answers: [
      ["mail__send_2", '{"n":1.0}', SEND],
      ["mail__send", "{}", { type: "function_call", name: "mail__send", arguments: "{}" }],
    ],
  },
  {
    title: "the client's shell",
    tools: [{ type: "local_shell" }, fn("run")],
    offered: ["local_shell", "run"],
    history: [
      {
        type: "local_shell_call",
        id: "lsh_0",
        call_id: "call_0",
        status: "completed",
        action: SHELL_ACTION,
      },
      { type: "local_shell_call_output", id: "call_0", output: "a.txt" },
    ],
    told: { name: "local_shell", arguments: SHELL_ACTION, result: "a.txt" },
    answers: [
      [
        "local_shell",
        '{"command":["rm","a \\"b\\""],"timeout_ms":1000}',
        {
          type: "local_shell_call",
          status: "completed",
          action: { type: "exec", command: ["rm", 'a "b"'], env: {}, timeout_ms: 1000 },
        },
      ],
    ],
  },
  {
    title: "the client's search for tools",
    tools: [SEARCH],
    offered: ["tool_search", "mail__send", "mail__draft", "look"],
    history: SEARCHED,
    told: {
      name: "tool_search",
      arguments: { query: "mail" },
      result: "Tools that can be called from now on: mail__send, mail__draft, look.",
    },
    answers: [
      [
        "tool_search",
        '{"query":"x"}',
        { type: "tool_search_call", execution: "client", arguments: { query: "x" } },
      ],
      ...OF_MAIL.answers,
    ],
  },
  {
    title: "a search that finds a name which is taken",
    tools: [SEARCH, fn("mail__draft"), fn("local_shell"), { type: "local_shell" }],
    offered: [
      "tool_search",
      "mail__draft",
      "local_shell",
      "local_shell_2",
      "mail__send",
      "mail__draft_2",
      "look",
    ],
    history: SEARCHED,
    told: {
      name: "tool_search",
      arguments: { query: "mail" },
      result: "Tools that can be called from now on: mail__send, mail__draft_2, look.",
    },
    answers: [["mail__draft_2", JSON.stringify({ input: DRAFT.input }), DRAFT]],
  },
  {
    title: "a search that finds a function whose name a group's tool has",
    tools: [SEARCH, MAIL],
    offered: ["tool_search", "mail__send", "mail__draft", "mail__send_2"],
    history: [SEARCHED[0], { ...SEARCHED[1], tools: [fn("mail__send")] }],
    told: {
      name: "tool_search",
      arguments: { query: "mail" },
      result: "Tools that can be called from now on: mail__send_2.",
    },
    answers: [
      ["mail__send_2", "{}", { type: "function_call", name: "mail__send", arguments: "{}" }],
      ["mail__send", '{"n":1.0}', SEND],
    ],
  },
  {
    title: "a search that finds nothing",
    tools: [SEARCH],
    offered: ["tool_search"],
    history: [SEARCHED[0], { ...SEARCHED[1], tools: [] }],
    told: { name: "tool_search", arguments: { query: "mail" }, result: "No tools were found." },
    answers: [],
  },
];

/** Groups and their tools keep their names, which are in no function's name here. */
const fromResponses: readonly Kind[] = [SEND, DRAFT].map(({ type: _, ...call }) => ({
  name: `a call of ${call.name} in a group, from an upstream that has groups`,
  ask: asking([], [MAIL]),
  targets: ["responses"],
  answer: { calls: [{ id: "call_1", ...call }] },
  check(exchange) {
    expect(callsIn(exchange)).toMatchObject([{ call_id: "call_1", ...call }]);
  },
}));

const provided: Kind = {
  name: "what the provider runs leaves with its results, and the client is told",
  ask: asking(
    [
      { type: "web_search_call", id: "ws_0", status: "completed" },
      { type: "tool_search_call", call_id: null, execution: "server", arguments: {} },
      { type: "tool_search_output", call_id: null, execution: "server", tools: [fn("look")] },
    ],
    [{ type: "tool_search" }, fn("run")],
  ),
  targets: FUNCTIONS,
  check(exchange) {
    expect(names(exchange)).toEqual(["run", "look"]);
    expect([exchange.seen.calls, exchange.seen.results]).toEqual([[], []]);
    const { warnings } = exchange.heard.svc;
    for (const at of ["/tools/0", "/input/1", "/input/2", "/input/3"])
      expect(warnings).toContainEqual(expect.stringContaining(at));
  },
};

type Mode = "auto" | "required";

/** Tools a, b and c, of which c and a may be called. */
const allowing = (mode: Mode, allowed = ["c", "a"]) => ({
  chat: {
    messages: [USER],
    tools: [
      { type: "custom", custom: { name: "a" } },
      ...["b", "c"].map((name) => ({ type: "function", function: { name, parameters: ANY } })),
    ],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode, tools: allowed.map((name) => chosen.chat(name)) },
    },
  },
  responses: {
    input: [USER],
    tools: [{ type: "custom", name: "a" }, fn("b"), fn("c")],
    tool_choice: { type: "allowed_tools", mode, tools: allowed.map((name) => chosen.responses(name)) },
  },
});

const chosen = {
  chat: (name: string) =>
    name === "a" ? { type: "custom", custom: { name } } : { type: "function", function: { name } },
  responses: (name: string) => ({ type: name === "a" ? "custom" : "function", name }),
};

const allowed: readonly Kind[] = (["auto", "required"] as const).flatMap((mode): Kind[] => [
  {
    name: `some of the tools may be called, ${mode}`,
    ask: allowing(mode),
    check(exchange) {
      const { client, dialect, up } = exchange;
      if (dialect === "responses" || client === dialect) {
        expect(up.json.tool_choice).toEqual(allowing(mode)[dialect as "chat" | "responses"].tool_choice);
        expect(up.json.tools).toHaveLength(3);
        return;
      }
      expect(names(exchange)).toEqual(["a", "c"]);
      expect(exchange.seen.choosing ?? "auto").toBe(mode);
      expect(exchange.heard.svc.warnings).toEqual([]);
    },
  },
]);

const refused: Kind = {
  name: "one must be called of which none is offered",
  ask: allowing("required", ["d"]),
  status: 400,
  check({ got }) {
    expect(got.json.error).toMatchObject({ code: "invalid_value", param: "/tool_choice" });
  },
};

kinds("tools of agents", [
  ...TABLE.flatMap((tool) => [asItIs(tool), asFunctions(tool), ...called(tool)]),
  ...fromResponses,
  provided,
  ...allowed,
  { ...refused, clients: ["chat"], targets: ["responses", "messages", "gemini", "converse"] },
  { ...refused, clients: ["responses"], targets: FUNCTIONS },
]);
