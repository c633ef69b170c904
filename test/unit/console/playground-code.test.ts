/** A call as a program: what people typed is data in it, the whole conversation is there, and large pictures are named. */
import { stripTypeScriptTypes } from "node:module";
import { expect, test } from "vitest";
import { chatForm } from "../../../console/pages/playground/chat-form.ts";
import { codeOf, LANGUAGES } from "../../../console/pages/playground/code.ts";
import { bodyOf } from "../../../console/pages/playground/request.ts";
import { NO_SETTINGS } from "../../../console/pages/playground/settings.ts";
import { chatRequestSchema } from "../../../src/wire/chat/schema.ts";

const ORIGIN = "https://gateway.example.com";
const text = (said: string) => ({ type: "text", text: said });
const BODY = bodyOf(
  "weir/sim-small",
  {
    system: "Be short.",
    maxTokens: "20",
    temperature: "",
    effort: "low",
    tools: '[{"name": "weather", "parameters": {"type": "object", "__proto__": {"a": 1}}}]',
    more: '{"tool_choice": {"name": "weather"}, "hold": "fit", "format": {"type": "json_schema", "schema": {}}, "generation": {"top_k": 3}}',
  },
  [
    {
      role: "user",
      content: [{ type: "image", media_type: "image/png", data: "AAAA" }, text("What is it?")],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm" },
        text("Let me look."),
        { type: "tool_call", id: "c1", name: "weather", arguments: '{"a":1}' },
      ],
    },
    { role: "user", content: [{ type: "tool_result", id: "c1", name: "weather", content: [text("rain")] }] },
  ],
);

test("the conversation, tools and settings are those of chat completions", () => {
  const { body, leftOut } = chatForm(BODY);
  expect(body).toMatchObject({
    model: "weir/sim-small",
    messages: [
      { role: "system", content: "Be short." },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "text", text: "What is it?" },
        ],
      },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "rain" },
    ],
    max_tokens: 20,
    reasoning_effort: "low",
    tools: [{ type: "function", function: { name: "weather" } }],
    tool_choice: { type: "function", function: { name: "weather" } },
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: {} } },
    svc: { hold: "fit" },
  });
  expect(leftOut).toEqual(["parts of the type reasoning", "generation.top_k"]);
  expect(chatRequestSchema.safeParse(body).success).toBe(true);
});

test.each(LANGUAGES)("%s names what it leaves out, and the key's variable", (language) => {
  const code = codeOf(language, ORIGIN, BODY);
  expect(code).toContain("generation.top_k");
  expect(code).toContain("WEIR_API_KEY");
  expect(code).toContain(`${ORIGIN}/v1`);
});

test("a large picture is named, and a small one is there", () => {
  const picture = (data: string) => ({ type: "image", media_type: "image/png", data });
  const body = bodyOf("m", NO_SETTINGS, [
    { role: "user", content: [picture("A".repeat(9000)), picture("BBBB"), picture("C".repeat(9000))] },
  ]);
  const code = codeOf("curl", ORIGIN, body);
  expect(code.length).toBeLessThan(2000);
  expect(code).toContain("data:image/png;base64,PICTURE_1");
  expect(code).toContain("data:image/png;base64,BBBB");
  expect(code).toMatch(/^# Put the base64 text of the picture where PICTURE_2 stands\.$/m);
});

test("a member's name cannot begin a line of the program", () => {
  const more = JSON.stringify({ "x\nimport os; os.abort() #": 1, generation: { "y\r\nprocess.exit()": 2 } });
  for (const [language] of LANGUAGES) {
    const code = codeOf(language, ORIGIN, bodyOf("m", { ...NO_SETTINGS, more }, []));
    expect(code).not.toMatch(/^\s*(?:import os; os|process\.exit)/m);
  }
});

const HOSTILE = [
  "'''",
  '"""',
  "\u0060\u0024{process.exit(3)}\u0060",
  "$(exit 3)",
  "WEIR_BODY\nexit 3",
  "\\\n\\u0022\r\n\t\0",
  "\u2028\u2029\ud800 😀",
  "*/ // # -- </script>",
];

test.each(HOSTILE)("TypeScript has %j as a text", (hostile) => {
  const body = bodyOf(hostile, { ...NO_SETTINGS, system: hostile }, [
    { role: "user", content: [text(hostile)] },
  ]);
  const code = codeOf("typescript", "http://gateway.test/'\"\u0060\u0024{1}", body);
  const plain = stripTypeScriptTypes(code.replace(/^import .*$/m, ""));
  const made = new Function("OpenAI", "process", `return (async () => {${plain}})()`);
  const seen: unknown[] = [];
  class OpenAI {
    readonly chat = {
      completions: {
        create: (asked: unknown) => {
          seen.push(asked);
          return [];
        },
      },
    };
  }
  made(OpenAI, { env: {}, stdout: { write: () => true } });
  expect(seen).toEqual([{ ...chatForm(body).body, stream: true }]);
});

test("a tool's parameter named __proto__ stays a member", () => {
  expect(codeOf("typescript", ORIGIN, BODY)).toContain('["__proto__"]: {');
  expect(codeOf("curl", ORIGIN, BODY)).toContain('"__proto__": {');
  expect(codeOf("python", ORIGIN, BODY)).toContain('"__proto__": {');
});
