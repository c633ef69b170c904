/**
 * Tools that a provider defines and the client runs: `shell` and `apply_patch` of OpenAI's responses, `bash` and the text editor of
 * Anthropic's messages (https://developers.openai.com/api/docs/guides/tools-shell, https://developers.openai.com/api/docs/guides/tools-apply-patch,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool, …/text-editor-tool). Other dialects are told functions.
 */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Kind, kinds } from "../../support/field/kinds.ts";
import {
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

const SHELL_ACTION = { commands: ["ls -l", "pwd"], timeout_ms: 1000, max_output_length: null };
const DIFF = "@@\n-a\n+b";
const PATCH = { type: "update_file", path: "src/ä.ts", diff: DIFF };

const shellCalled = (json: string, commands: readonly string[]): OfferedTool["answers"][number] => [
  "shell",
  json,
  {
    type: "shell_call",
    status: "completed",
    environment: { type: "local" },
    action: { commands, timeout_ms: null, max_output_length: null },
  },
];

const patched = (operation: Json): OfferedTool["answers"][number] => [
  "apply_patch",
  JSON.stringify(operation),
  { type: "apply_patch_call", status: "completed", operation },
];

/** Before shells of the provider's own, a shell had no environment. A splice leaves it out where the endpoint has no price for those. */
const WITHOUT_ENVIRONMENT: OfferedTool = {
  title: "the client's shell, and a function of its name",
  tools: [{ type: "shell" }, fn("shell")],
  offered: ["shell", "shell_2"],
  history: [
    { type: "shell_call", call_id: "call_0", status: "completed", action: SHELL_ACTION },
    { type: "shell_call_output", call_id: "call_0", output: [{ stdout: "a", stderr: "" }] },
  ],
  told: { name: "shell", arguments: SHELL_ACTION, result: "a" },
  answers: [["shell_2", "{}", { type: "function_call", name: "shell", arguments: "{}" }]],
};

const TABLE: readonly OfferedTool[] = [
  {
    title: "the client's shell of commands",
    tools: [{ type: "shell", environment: { type: "local" } }, fn("run")],
    offered: ["shell", "run"],
    history: [
      { type: "shell_call", call_id: "call_0", status: "completed", action: SHELL_ACTION },
      {
        type: "shell_call_output",
        call_id: "call_0",
        output: [
          { stdout: "a.txt\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "", stderr: "no", outcome: { type: "exit", exit_code: 2 } },
          { stdout: "", stderr: "", outcome: { type: "timeout" } },
        ],
      },
    ],
    told: {
      name: "shell",
      arguments: SHELL_ACTION,
      result: "a.txt\n\nexit code: 0\n\nstderr:\nno\nexit code: 2\n\ntimed out",
    },
    answers: [
      shellCalled('{"commands":["rm \\"a\\"","ls"]}', ['rm "a"', "ls"]),
      shellCalled('{"commands":"ls -l"}', ["ls -l"]),
      shellCalled('{"commands":"[\\"ls\\",\\"é\\"]"}', ["ls", "é"]),
    ],
  },
  {
    title: "the client's patches",
    tools: [{ type: "apply_patch" }],
    offered: ["apply_patch"],
    history: [
      { type: "apply_patch_call", call_id: "call_0", status: "completed", operation: PATCH },
      { type: "apply_patch_call_output", call_id: "call_0", status: "completed", output: "done" },
    ],
    told: { name: "apply_patch", arguments: PATCH, result: "done" },
    answers: [
      patched({ type: "create_file", path: "a", diff: '+"a"\n+b' }),
      patched({ type: "delete_file", path: "a" }),
    ],
  },
  {
    title: "a patch that failed",
    tools: [{ type: "apply_patch" }],
    offered: ["apply_patch"],
    history: [
      { type: "apply_patch_call", call_id: "call_0", status: "completed", operation: PATCH },
      { type: "apply_patch_call_output", call_id: "call_0", status: "failed", output: "no such file" },
    ],
    told: {
      name: "apply_patch",
      arguments: PATCH,
      result: "The patch could not be applied.\nno such file",
    },
    answers: [],
  },
  {
    title: "a patch of which nothing is said",
    tools: [{ type: "apply_patch" }],
    offered: ["apply_patch"],
    history: [
      { type: "apply_patch_call", call_id: "call_0", status: "completed", operation: PATCH },
      { type: "apply_patch_call_output", call_id: "call_0", status: "completed" },
    ],
    told: { name: "apply_patch", arguments: PATCH, result: "The patch was applied." },
    answers: [],
  },
];

/** Calls of what the model wrote otherwise: members that a client reads are there. */
const filledIn: Kind = {
  name: "a patch without a type or a diff",
  ask: asking([], [{ type: "apply_patch" }]),
  targets: FUNCTIONS,
  answer: { calls: [{ id: "call_1", name: "apply_patch", arguments: '{"path":"a"}' }], piece: 3 },
  check(exchange) {
    expect(callsIn(exchange)).toMatchObject([{ operation: { type: "update_file", path: "a", diff: "" } }]);
  },
};

const chosen: readonly Kind[] = ["shell", "apply_patch"].map((type) => ({
  name: `${type} is chosen`,
  ask: asking([], [{ type: "shell" }, { type: "apply_patch" }], { tool_choice: { type } }),
  targets: FUNCTIONS,
  check({ seen, heard }) {
    expect(seen.choosing).toEqual({ name: type });
    expect(heard.svc.warnings).toEqual([]);
  },
}));

const hosted: Kind = {
  name: "a shell that the provider runs leaves, and the client is told",
  ask: asking([], [{ type: "shell", environment: { type: "container_auto" } }, fn("run")]),
  targets: FUNCTIONS,
  check(exchange) {
    expect(names(exchange)).toEqual(["run"]);
    expect(exchange.heard.svc.warnings).toContainEqual(expect.stringContaining("/tools/0"));
  },
};

const VIEW = { command: "view", path: "/a.ts", view_range: [1, -1] };

/** Anthropic's tools by their types: the name that each has, a call of it, and members of its input. */
const CLAUDE_TOOLS: Readonly<
  Record<string, { name: string; input: Json; has: readonly string[]; lacks?: readonly string[] }>
> = {
  bash_20241022: { name: "bash", input: { command: "ls" }, has: ["command", "restart"] },
  bash_20250124: { name: "bash", input: { restart: true }, has: ["command", "restart"] },
  text_editor_20250124: {
    name: "str_replace_editor",
    input: { command: "undo_edit", path: "/a.ts" },
    has: ["command", "path", "old_str", "new_str", "undo_edit"],
    lacks: ["insert_text"],
  },
  text_editor_20250429: {
    name: "str_replace_based_edit_tool",
    input: VIEW,
    has: ["command", "path", "view_range", "file_text", "insert_line", "insert_text"],
    lacks: ["undo_edit"],
  },
  text_editor_20250728: {
    name: "str_replace_based_edit_tool",
    input: VIEW,
    has: ["command", "path", "view_range", "file_text", "insert_line", "insert_text"],
    lacks: ["undo_edit"],
  },
};

const claudeTools = Object.entries(CLAUDE_TOOLS).map(
  ([type, { name, input, has, lacks = [] }]): Kind => ({
    name: `Anthropic's ${type}`,
    ask: {
      messages: {
        max_tokens: 9,
        tools: [{ type, name, cache_control: { type: "ephemeral" } }],
        tool_choice: { type: "tool", name },
        messages: [
          USER,
          { role: "assistant", content: [{ type: "tool_use", id: "call_0", name, input }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "call_0", content: "done" }] },
        ],
      },
    },
    targets: FUNCTIONS,
    answer: { calls: [{ id: "call_1", name, arguments: JSON.stringify(input) }], piece: 3 },
    check({ client, dialect, up, seen, heard }) {
      if (client === dialect) {
        expect(up.json.tools).toMatchObject([{ type, name }]);
        return;
      }
      expect(seen.tools).toMatchObject([{ name, description: expect.any(String) }]);
      const parameters = JSON.stringify(seen.tools[0]?.parameters);
      for (const member of has) expect(parameters).toContain(`"${member}"`);
      for (const member of lacks) expect(parameters).not.toContain(`"${member}"`);
      expect(seen.choosing).toEqual({ name });
      expect(seen.calls).toEqual([{ id: "call_0", name, arguments: input }]);
      expect(heard.choices[0]?.calls).toEqual([{ id: "call_1", name, arguments: input }]);
    },
  }),
);

kinds("tools that the client runs", [
  ...TABLE.flatMap((tool) => [asItIs(tool), asFunctions(tool), ...called(tool)]),
  asFunctions(WITHOUT_ENVIRONMENT),
  ...called(WITHOUT_ENVIRONMENT),
  filledIn,
  ...chosen,
  hosted,
  ...claudeTools,
]);
