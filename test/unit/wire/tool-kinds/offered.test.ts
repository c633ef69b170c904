/** Tools in groups, of the client's own, found by a search or added by the way; choices of some tools. */
import { describe, expect, test } from "vitest";
import { jsonTextOf } from "../../../../src/wire/json/json-text.ts";
import { argumentsOfInput } from "../../../../src/wire/tool-kinds/input.ts";
import type { Json } from "../../../support/wire/fixtures.ts";
import { answered, DIALECTS, namesIn, told, type UpDialect, upstreamOf } from "../accepts/fixtures.ts";
import { ANY, calling, eventsIn, pairs } from "./fixtures.ts";

describe("tools of a responses client", () => {
  const functions = (sent: Json) =>
    (sent.tools as Json[]).map((tool) => (tool.name ?? (tool.function as Json).name) as string);
  const to = (body: Json, dialect: UpDialect = "messages") =>
    told("responses", { input: "x", ...body }, upstreamOf(dialect));
  const namespace = {
    type: "namespace",
    name: "mail",
    description: "Mail.",
    tools: [
      { type: "function", name: "send", parameters: ANY },
      { type: "custom", name: "draft" },
    ],
  };

  test("those of a group are named by both, and called by both", () => {
    const input = [
      { role: "user", content: "x" },
      { type: "function_call", call_id: "c1", name: "send", namespace: "mail", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ];
    const way = to({ tools: [namespace, { type: "function", name: "mail__send_", parameters: ANY }], input });
    expect(functions(way.sent)).toEqual(["mail__send", "mail__draft", "mail__send_"]);
    // Two groups may join to one name, and to that of a function.
    const joined = [
      { type: "namespace", name: "a", tools: [{ type: "function", name: "_b" }] },
      { type: "namespace", name: "a_", tools: [{ type: "function", name: "b" }] },
      { type: "function", name: "a___b" },
      { type: "local_shell" },
      { type: "function", name: "local_shell" },
    ];
    const apart = to({ tools: joined });
    expect(functions(apart.sent)).toEqual(["a___b", "a___b_2", "a___b_3", "local_shell", "local_shell_2"]);
    const calls = (name: string) =>
      JSON.parse(answered(apart, calling("messages", name, "{}")).whole).output[0] as Json;
    expect(calls("a___b")).toMatchObject({ namespace: "a", name: "_b" });
    expect(calls("a___b_2")).toMatchObject({ namespace: "a_", name: "b" });
    expect(calls("a___b_3")).toMatchObject({ type: "function_call", name: "a___b" });
    expect(calls("a___b_3")).not.toHaveProperty("namespace");
    expect(calls("local_shell")).toMatchObject({ type: "local_shell_call" });
    expect(calls("local_shell_2")).toMatchObject({ type: "function_call", name: "local_shell" });
    expect(JSON.stringify(way.sent.messages)).toContain('"name":"mail__send"');
    const { whole } = answered(way, calling("messages", "mail__send", "{}"));
    expect(JSON.parse(whole).output[0]).toMatchObject({
      type: "function_call",
      name: "send",
      namespace: "mail",
    });
    const text = answered(way, calling("messages", "mail__draft", argumentsOfInput("Hi")));
    expect(JSON.parse(text.whole).output[0]).toMatchObject({
      type: "custom_tool_call",
      name: "draft",
      namespace: "mail",
      input: "Hi",
    });
  });

  test("a long name of a group comes back whole, and there is a most of tools", () => {
    const name = "g".repeat(5000);
    const way = to({ tools: [{ ...namespace, name }] });
    const [told] = functions(way.sent);
    const { whole } = answered(way, calling("messages", told as string, "{}"));
    expect(JSON.parse(whole).output[0]).toMatchObject({ namespace: name, name: "send" });
    const many = Array.from({ length: 1001 }, (_, index) => ({ type: "function", name: `f${index}` }));
    expect(() => to({ tools: [{ ...namespace, tools: many }] })).toThrow(
      expect.objectContaining({ kind: "invalid_value", param: "/tools/0/tools/1000" }),
    );
  });

  test("those that an item of the input adds are offered", () => {
    const input = [
      { type: "additional_tools", role: "developer", tools: [namespace, { type: "custom", name: "exec" }] },
      { role: "user", content: "x" },
    ];
    const { sent, outgoing } = to({ input });
    expect(functions(sent)).toEqual(["mail__send", "mail__draft", "exec"]);
    expect(outgoing.dropped).toEqual([]);
  });

  test("the shell is a function, and its calls are actions", () => {
    const action = { type: "exec", command: ["ls"], env: {} };
    const input = [
      { role: "user", content: "x" },
      { type: "local_shell_call", id: "l", call_id: "c1", status: "completed", action },
      { type: "local_shell_call_output", id: "c1", output: "a.txt" },
    ];
    const way = to({ tools: [{ type: "local_shell" }], input });
    expect(functions(way.sent)).toEqual(["local_shell"]);
    expect(way.sent.messages).toMatchObject([
      {},
      { content: [{ type: "tool_use", id: "c1", name: "local_shell", input: action }] },
      { content: [{ type: "tool_result", tool_use_id: "c1" }] },
    ]);
    const lines = '{\n "command": ["rm"],\r\n "env": {},\n "env": {}}';
    const raw = answered(way, calling("messages", "local_shell", lines));
    expect(JSON.parse(raw.whole).output[0].action).toEqual({ command: ["rm"], env: {} });
    expect(eventsIn(raw.stream).length).toBeGreaterThan(2);
    const { whole, stream } = answered(way, calling("messages", "local_shell", '{"command":["rm","1.0"]}'));
    const item = {
      type: "local_shell_call",
      call_id: "c2",
      status: "completed",
      action: { type: "exec", env: {}, command: ["rm", "1.0"] },
    };
    expect(JSON.parse(whole).output).toEqual([expect.objectContaining(item)]);
    const done = eventsIn(stream).map(({ data }) => data as Json);
    expect(done).toContainEqual(expect.objectContaining({ item: expect.objectContaining(item) }));
  });

  test.each([
    ['"ls -la é | wc"', ["bash", "-lc", "ls -la é | wc"]],
    ['"[\\"ls\\",\\"\\u00e9\\"]"', ["ls", "é"]],
    ['"[1]"', ["bash", "-lc", "[1]"]],
    ['"[ -f a ]"', ["bash", "-lc", "[ -f a ]"]],
    ['"ls","env":{"A":"1"}', ["bash", "-lc", "ls"]],
  ])("a command of the shell that a model writes as one text is a list: %s", (command, list) => {
    const way = to({ tools: [{ type: "local_shell" }] });
    const { whole } = answered(way, calling("messages", "local_shell", `{"command":${command}}`));
    expect(JSON.parse(whole).output[0].action).toMatchObject({ type: "exec", command: list });
  });

  test("a search of the client's finds tools that are offered from then on, and says which", () => {
    const input = [
      { role: "user", content: "x" },
      {
        type: "tool_search_call",
        call_id: "c1",
        execution: "client",
        status: "completed",
        arguments: { query: "m", n: 1 },
      },
      {
        type: "tool_search_output",
        call_id: "c1",
        execution: "client",
        status: "completed",
        tools: [namespace],
      },
    ];
    const way = to({ tools: [{ type: "tool_search", execution: "client", parameters: ANY }], input });
    expect(functions(way.sent)).toEqual(["tool_search", "mail__send", "mail__draft"]);
    expect(JSON.stringify(way.sent.messages)).toContain("mail__send, mail__draft");
    const { whole } = answered(way, calling("messages", "tool_search", '{"n":1E2}'));
    expect(whole).toContain('"arguments":{"n":1E2}');
    expect(JSON.parse(whole).output[0]).toMatchObject({
      type: "tool_search_call",
      call_id: "c2",
      execution: "client",
    });
  });

  test("what the provider runs leaves with its results", () => {
    const input = [
      { role: "user", content: "x" },
      { type: "web_search_call", id: "ws", status: "completed" },
      { type: "tool_search_call", call_id: null, execution: "server", arguments: {} },
      { type: "tool_search_output", call_id: null, execution: "server", tools: [namespace] },
    ];
    const { sent, outgoing } = to({ tools: [{ type: "tool_search" }, { type: "web_search" }], input });
    expect(functions(sent)).toEqual(["mail__send", "mail__draft"]);
    expect([...outgoing.dropped].sort()).toEqual([
      "/input/1",
      "/input/2",
      "/input/3",
      "/tools/0",
      "/tools/1",
    ]);
  });
});

describe("a choice of some tools", () => {
  const bodies = {
    chat: (mode: string): Json => ({
      messages: [{ role: "user", content: "x" }],
      tools: ["a", "b", "c"].map((name) => ({ type: "function", function: { name, parameters: ANY } })),
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode, tools: ["c", "a"].map((name) => ({ type: "function", function: { name } })) },
      },
    }),
    responses: (mode: string): Json => ({
      input: "x",
      tools: ["a", "b", "c"].map((name) => ({ type: "function", name, parameters: ANY })),
      tool_choice: {
        type: "allowed_tools",
        mode,
        tools: ["c", "a"].map((name) => ({ type: "function", name })),
      },
    }),
  };

  test.each(
    pairs.flatMap(([format, dialect]) => [
      [format, dialect, "auto"] as const,
      [format, dialect, "required"] as const,
    ]),
  )("of a %s client is kept by a %s upstream: %s", (format, dialect, mode) => {
    const { sent, outgoing } = told(format, bodies[format](mode), upstreamOf(dialect));
    expect(outgoing.dropped).toEqual([]);
    const named = new Set(namesIn({ tools: sent.tools, toolConfig: sent.toolConfig }));
    if (dialect === "responses") {
      const tools = ["c", "a"].map((name) => ({ type: "function", name }));
      expect(sent.tool_choice).toEqual({ type: "allowed_tools", mode, tools });
      expect(named).toEqual(new Set(["a", "b", "c"]));
    } else expect(named).toEqual(new Set(["a", "c"]));
  });
});

test("a choice of tools that are not offered is none, and an error where one must be called", () => {
  const body = (mode: string) => ({
    input: "x",
    tools: [{ type: "function", name: "a", parameters: ANY }],
    tool_choice: { type: "allowed_tools", mode, tools: [{ type: "function", name: "b" }] },
  });
  for (const dialect of DIALECTS) {
    if (dialect === "responses") continue;
    expect(() => told("responses", body("required"), upstreamOf(dialect))).toThrow(
      expect.objectContaining({ kind: "invalid_value", param: "/tool_choice" }),
    );
    const { sent } = told("responses", body("auto"), upstreamOf(dialect));
    expect(namesIn({ tools: sent.tools, toolConfig: sent.toolConfig })).toEqual([]);
  }
  const one = { ...body("auto"), tool_choice: { type: "function", name: "b" } };
  expect(told("responses", one, upstreamOf("messages")).outgoing.dropped).toEqual(["/tool_choice"]);
});

test("tools that a messages client's search found are told in words, by the names that the upstream knows", () => {
  const long = `mcp__${"x".repeat(70)}`;
  const body = {
    max_tokens: 9,
    tools: [
      { name: "ToolSearch", input_schema: ANY },
      { name: long, input_schema: ANY, defer_loading: true },
    ],
    messages: [
      { role: "user", content: "find" },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "ToolSearch", input: {} }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t", content: [{ type: "tool_reference", tool_name: long }] },
        ],
      },
    ],
  };
  for (const dialect of DIALECTS) {
    if (dialect === "messages") continue;
    const { sent } = told("messages", body, upstreamOf(dialect));
    const [, name] = namesIn({ tools: sent.tools, toolConfig: sent.toolConfig });
    expect(name).not.toBe(long);
    expect(jsonTextOf(sent)).toContain(`Tools that can be called from now on: ${name}.`);
  }
});

test("a long grammar is told whole", () => {
  const definition = `start: "${"é".repeat(5000)}"`;
  const tools = [{ type: "custom", name: "t", format: { type: "grammar", syntax: "lark", definition } }];
  for (const dialect of DIALECTS) {
    if (dialect === "responses") continue;
    const { sent } = told("responses", { input: "x", tools }, upstreamOf(dialect));
    expect(JSON.stringify(sent)).toContain(JSON.stringify(definition).slice(1, -1));
  }
});
