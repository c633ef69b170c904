/** Tools that are no functions, from every format that has them to every dialect, and their calls back to the client. */
import { describe, expect, test } from "vitest";
import { jsonTextOf } from "../../../../src/wire/json/json-text.ts";
import { argumentsOfInput } from "../../../../src/wire/tool-kinds/input.ts";
import { sseEvents } from "../../../support/conformance/ask.ts";
import { eventFrame } from "../../../support/wire/converse.fixtures.ts";
import type { Json } from "../../../support/wire/fixtures.ts";
import {
  ANSWERS,
  type Answer,
  answered,
  DIALECTS,
  namesIn,
  told,
  type UpDialect,
  upstreamOf,
} from "../accepts/fixtures.ts";

const PATCH = '*** Begin Patch\n+ "é"\n*** End Patch';
const GRAMMAR = { syntax: "lark", definition: "start: /.+/s" };
const ANY = { type: "object", properties: {} };

/** The same conversation with a tool in free form, in both formats that have such tools. */
const CUSTOM = {
  chat: {
    tools: [
      {
        type: "custom",
        custom: { name: "patch", description: "Edits.", format: { type: "grammar", grammar: GRAMMAR } },
      },
      { type: "function", function: { name: "run", parameters: ANY } },
    ],
    tool_choice: { type: "custom", custom: { name: "patch" } },
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "custom", custom: { name: "patch", input: PATCH } }],
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ],
  },
  responses: {
    tools: [
      { type: "custom", name: "patch", description: "Edits.", format: { type: "grammar", ...GRAMMAR } },
      { type: "function", name: "run", parameters: ANY },
    ],
    tool_choice: { type: "custom", name: "patch" },
    input: [
      { role: "user", content: "x" },
      { type: "custom_tool_call", call_id: "c1", name: "patch", input: PATCH },
      { type: "custom_tool_call_output", call_id: "c1", output: "done" },
    ],
  },
} as const;

type Client = keyof typeof CUSTOM;

const pairs = (Object.keys(CUSTOM) as Client[]).flatMap((format) =>
  DIALECTS.filter((dialect) => dialect !== format).map((dialect) => [format, dialect] as const),
);

/** An upstream's answer that calls with these arguments, whole and streamed. */
function calling(dialect: UpDialect, name: string, args: string): Answer {
  const { whole, stream } = ANSWERS[dialect];
  const isText = dialect === "chat" || dialect === "responses";
  const said = (json: string) =>
    json
      .replaceAll(isText ? '"arguments":"{}"' : /"(?:input|args)":\{\}/g, (place) =>
        isText ? `"arguments":${JSON.stringify(args)}` : place.replace("{}", args),
      )
      .replaceAll('"partial_json":"{}"', `"partial_json":${JSON.stringify(args)}`);
  const text = Buffer.from(said(stream(name, "c2"))).toString("latin1");
  return {
    whole: Buffer.from(said(JSON.stringify(whole(name, "c2")))),
    stream: dialect === "converse" ? framesOf(name, args) : text,
  };
}

const framesOf = (name: string, input: string): string =>
  [
    { event: "messageStart", payload: { role: "assistant" } },
    {
      event: "contentBlockStart",
      payload: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "c2", name } } },
    },
    { event: "contentBlockDelta", payload: { contentBlockIndex: 0, delta: { toolUse: { input } } } },
    { event: "contentBlockStop", payload: { contentBlockIndex: 0 } },
    { event: "messageStop", payload: { stopReason: "tool_use" } },
  ]
    .map(eventFrame)
    .join("");

/** The events of a stream with JSON in them. */
const eventsIn = (stream: string): { data: unknown }[] =>
  sseEvents(stream).flatMap(({ data }) => (data === "[DONE]" ? [] : [{ data: JSON.parse(data) as unknown }]));

describe.each(pairs)("a custom tool of a %s client at a %s upstream", (format, dialect) => {
  const way = told(format, CUSTOM[format] as unknown as Json, upstreamOf(dialect));
  const sent = JSON.stringify(way.sent);
  const isNative = dialect === "responses";

  test("is offered, chosen and called as the upstream knows it", () => {
    expect(way.outgoing.dropped).toEqual([]);
    expect(new Set(namesIn(way.sent))).toEqual(new Set(["patch", "run"]));
    expect(sent).toContain(isNative ? '"type":"custom"' : '"required":["input"]');
    expect(sent).toContain("start: /.+/s");
    if (isNative) {
      expect(way.sent.input).toContainEqual({
        type: "custom_tool_call",
        call_id: "c1",
        name: "patch",
        input: PATCH,
      });
      expect(way.sent.input).toContainEqual({
        type: "custom_tool_call_output",
        call_id: "c1",
        output: "done",
      });
      expect(way.sent.tool_choice).toEqual({ type: "custom", name: "patch" });
    } else {
      const args = argumentsOfInput(PATCH);
      expect(sent).toContain(dialect === "chat" ? JSON.stringify(args).slice(1, -1) : args);
    }
  });

  test("its call comes back as the client's own, whole and streamed", () => {
    const answer = calling(dialect, "patch", argumentsOfInput(PATCH));
    const { whole, stream } = answered(way, answer);
    if (format === "chat") {
      const [call] = JSON.parse(whole).choices[0].message.tool_calls;
      expect(call).toEqual({ id: "c2", type: "custom", custom: { name: "patch", input: PATCH } });
      const deltas = eventsIn(stream).flatMap(({ data }) => (data as Json).choices ?? []) as Json[];
      const pieces = deltas.flatMap(
        (choice) => ((choice.delta as Json).tool_calls as Json[] | undefined) ?? [],
      );
      expect(pieces[0]).toMatchObject({ id: "c2", type: "custom", custom: { name: "patch", input: "" } });
      expect(pieces.map(({ custom }) => (custom as Json).input).join("")).toBe(PATCH);
    } else {
      const item = {
        type: "custom_tool_call",
        call_id: "c2",
        name: "patch",
        input: PATCH,
        status: "completed",
      };
      expect(JSON.parse(whole).output).toEqual([expect.objectContaining(item)]);
      const events = eventsIn(stream).map(({ data }) => data as Json);
      const of = (type: string) => events.filter((event) => event.type === type);
      expect(of("response.output_item.added")).toMatchObject([
        { item: { type: "custom_tool_call", input: "" } },
      ]);
      expect(
        of("response.custom_tool_call_input.delta")
          .map(({ delta }) => delta)
          .join(""),
      ).toBe(PATCH);
      expect(of("response.custom_tool_call_input.done")).toMatchObject([{ input: PATCH }]);
      expect(of("response.output_item.done")).toMatchObject([{ item }]);
    }
  });

  test("a function beside it is called as ever", () => {
    const { whole } = answered(way, calling(dialect, "run", '{"a":1}'));
    expect(whole).toContain(String.raw`{\"a\":1}`);
    expect(whole).not.toContain("custom_tool_call");
    expect(whole).not.toContain('"custom":{');
  });
});

describe("an upstream that answers with a custom call", () => {
  const custom = {
    chat: {
      whole: {
        id: "x",
        choices: [
          {
            index: 0,
            message: { tool_calls: [{ id: "c2", type: "custom", custom: { name: "patch", input: PATCH } }] },
            finish_reason: "tool_calls",
          },
        ],
      },
      stream: [
        { index: 0, id: "c2", type: "custom", custom: { name: "patch", input: PATCH.slice(0, 5) } },
        { index: 0, custom: { input: PATCH.slice(5) } },
      ].map((call) => ({ id: "x", choices: [{ index: 0, delta: { tool_calls: [call] } }] })),
      last: { id: "x", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    },
    responses: {
      whole: {
        id: "r",
        object: "response",
        status: "completed",
        output: [
          {
            id: "i",
            type: "custom_tool_call",
            call_id: "c2",
            name: "patch",
            input: PATCH,
            status: "completed",
          },
        ],
      },
      stream: [
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { id: "i", type: "custom_tool_call", call_id: "c2", name: "patch", input: "" },
        },
        {
          type: "response.custom_tool_call_input.delta",
          item_id: "i",
          output_index: 0,
          delta: PATCH.slice(0, 5),
        },
        {
          type: "response.custom_tool_call_input.delta",
          item_id: "i",
          output_index: 0,
          delta: PATCH.slice(5),
        },
        { type: "response.custom_tool_call_input.done", item_id: "i", output_index: 0, input: PATCH },
      ],
      last: { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
    },
  } as const;

  test.each([
    ["chat", "responses"],
    ["responses", "chat"],
    ["messages", "chat"],
    ["messages", "responses"],
    ["generate", "chat"],
    ["generate", "responses"],
  ] as const)("a %s client hears it from a %s upstream", (format, dialect) => {
    const isCustom = format === "chat" || format === "responses";
    const plain = {
      messages: [{ role: "user", content: "x" }],
      ...(format === "messages" && { max_tokens: 9 }),
    };
    const way = told(format, (isCustom ? CUSTOM[format] : plain) as unknown as Json, upstreamOf(dialect));
    const { whole, stream: events, last } = custom[dialect];
    const stream = [...events, last].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const back = answered(way, {
      whole: Buffer.from(JSON.stringify(whole)),
      stream: Buffer.from(stream).toString("latin1"),
    });
    // Formats without such tools get an object with the text, as a function that takes it would.
    const input = JSON.stringify(PATCH);
    const said = isCustom ? input : argumentsOfInput(PATCH);
    const inText = (json: string) => (format === "generate" ? JSON.stringify(json) : json);
    expect(back.whole).toContain(inText(said));
    expect(joined(back.stream)).toContain(isCustom ? PATCH : said);
  });
});

/** All texts by which a streamed call grows. */
const joined = (stream: string): string =>
  eventsIn(stream)
    .flatMap(({ data }) => piecesIn(data))
    .join("");

const GROWING = ["partial_json", "delta", "input", "arguments"];

function piecesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(piecesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    typeof member === "string" ? (GROWING.includes(key) ? [member] : []) : piecesIn(member),
  );
}

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
