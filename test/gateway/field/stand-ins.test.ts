/**
 * What an upstream would refuse is told as something else, over sockets: alike after a restart and in a thread, each attempt in its
 * own way, and the client hears its own names.
 */
import { mkdtempSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { type Asked, startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";

const NAME = "mcp__plugin_atlassian_atlassian__createCompassComponentRelationship";

let folder: string;
let talker: TestProvider;
let claude: TestProvider;
let gateway: TestGateway;

const start = (): Promise<TestGateway> =>
  testGateway({
    folder,
    model: { capabilities: ["tools", "parallel_tools"] },
    endpoints: [
      { provider: "talker", baseUrl: `${talker.url}/v1`, dialects: ["chat"], price: { input: 1, output: 1 } },
      {
        provider: "claude",
        baseUrl: `${claude.url}/v1`,
        dialects: ["messages"],
        price: { input: 2, output: 2 },
      },
    ],
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  [talker, claude] = await Promise.all([startProvider(), startProvider()]);
  gateway = await start();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([talker.close(), claude.close()]);
  removeFolder(folder);
});
beforeEach(() => {
  talker.asked.length = 0;
  claude.asked.length = 0;
  talker.answer = (asked, response) => answerInChat(asked, response);
});

/** Calls the tool that it was told of, without an id. */
function answerInChat({ body }: Asked, response: ServerResponse): void {
  const { tools, stream } = JSON.parse(body);
  const { name } = tools[0].function;
  const call = { index: 0, type: "function", function: { name, arguments: "{}" } };
  const said = { role: "assistant", content: null, tool_calls: [call] };
  const end = { index: 0, finish_reason: "tool_calls" };
  if (stream !== true) {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "x", choices: [{ ...end, message: said }] }));
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  for (const event of [{ choices: [{ index: 0, delta: said }] }, { choices: [{ ...end, delta: {} }] }]) {
    response.write(`data: ${JSON.stringify({ id: "x", ...event })}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

const ask = (members: object = {}, text = "a", providers: readonly string[] = ["talker"]) =>
  gateway.call("POST", "/v1/responses", {
    body: {
      model: "test/model",
      input: [{ role: "user", content: text }],
      tools: [{ type: "function", name: NAME, parameters: { type: "object", properties: {} } }],
      store: false,
      svc: { route: { providers: { order: providers, only: providers } } },
      ...members,
    },
  });

const toldTo = (provider: TestProvider): string => {
  const { tools } = JSON.parse(provider.asked.at(-1)?.body ?? "{}");
  return tools[0].function?.name ?? tools[0].name;
};

test("a name that is too long is told as the same stand-in, whole, streamed, in a thread and after a restart", async () => {
  const told = new Set<string>();
  const answers = [
    (await ask()).text,
    (await ask({ stream: true })).text,
    // Large bodies are written in a thread.
    (await ask({}, "word ".repeat(60_000))).text,
  ];
  for (const { body } of talker.asked) told.add(JSON.parse(body).tools[0].function.name);
  await gateway.stop();
  gateway = await start();
  answers.push((await ask()).text);
  told.add(toldTo(talker));
  expect([...told]).toHaveLength(1);
  const [name = ""] = told;
  expect(name).toMatch(/^mcp__plugin_atlassian_atlassian__createCompassCompo_[a-zA-Z0-9]{12}$/);
  for (const text of answers) {
    expect(text).toContain(`"name":"${NAME}"`);
    expect(text).not.toContain(name);
  }
});

test("calls that come without an id never share one, and are told alike at the next turn", async () => {
  const calls = [(await ask()).json, (await ask()).json].map(({ output }) => output[0].call_id);
  expect(new Set(calls).size).toBe(2);
  const history = calls.flatMap((id) => [
    { type: "function_call", call_id: id, name: NAME, arguments: "{}" },
    { type: "function_call_output", call_id: id, output: "r" },
  ]);
  await ask({ input: [{ role: "user", content: "a" }, ...history] });
  const { messages } = JSON.parse(talker.asked.at(-1)?.body ?? "{}");
  const ids = messages.flatMap((message: { tool_call_id?: string; tool_calls?: { id: string }[] }) => [
    ...(message.tool_calls ?? []).map(({ id }) => id),
    ...(message.tool_call_id === undefined ? [] : [message.tool_call_id]),
  ]);
  expect(new Set(ids)).toEqual(new Set(calls));
  expect(ids).toHaveLength(4);
});

test("a long name of the end user is told as a hash, and never as it is", async () => {
  const user = JSON.stringify({ device_id: "d".repeat(64), session_id: "s".repeat(36) });
  await ask({ safety_identifier: user });
  const { body = "" } = talker.asked.at(-1) ?? {};
  expect(JSON.parse(body).user).toMatch(/^[a-zA-Z0-9]{32}$/);
  expect(body).not.toContain("device_id");
});

test("an attempt after another one is told in its own way, and heard so", async () => {
  talker.answer = (_, response) => response.writeHead(500).end();
  claude.answer = ({ body }, response) => {
    const { name } = JSON.parse(body).tools[0];
    const content = [{ type: "tool_use", id: "toolu_1", name, input: {} }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: "m",
        type: "message",
        role: "assistant",
        content,
        stop_reason: "tool_use",
        usage,
      }),
    );
  };
  const { json } = await ask({}, "a", ["talker", "claude"]);
  expect(toldTo(talker)).toHaveLength(64);
  expect(toldTo(claude)).toBe(NAME);
  expect(json.output).toMatchObject([{ type: "function_call", name: NAME, call_id: "toolu_1" }]);
});

test.each([false, true])(
  "a refusal that quotes a name is told in the client's words: streamed %s",
  async (stream) => {
    talker.answer = ({ body }, response) => {
      const { name } = JSON.parse(body).tools[0].function;
      response.writeHead(400, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: { message: `Invalid schema for function '${name}'.`, type: "invalid" } }),
      );
    };
    const { status, json, headers } = await ask({ stream });
    expect([status, json.error.message]).toEqual([400, `Invalid schema for function '${NAME}'.`]);
    const record = await gateway.call("GET", `/v1/requests/${headers.get("x-svc-request-id")}`);
    expect(record.text).not.toContain(toldTo(talker));
  },
);
