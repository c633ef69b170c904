/**
 * Stored responses by their ids, as OpenAI has it: what is not stored here is not found, whatever form its id has; input items are listed
 * with ids and pages; prompts of conversations are counted.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { addOrgs } from "../../support/money/orgs.ts";

let folder: string;
let gateway: TestGateway;
let otherOrg: string;
beforeAll(async () => {
  folder = await seededFolder(() => {});
  const keys = await addOrgs(folder, { other: { creditMicroUsd: 1_000_000 } });
  otherOrg = keys.other as string;
  gateway = await testGateway({
    folder,
    endpoints: [
      { provider: "own", dialects: ["responses"] },
      { model: "test/chat", provider: "chats", dialects: ["chat"] },
      { model: "test/messages", provider: "says", dialects: ["messages"] },
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});

interface Options {
  readonly key?: string;
}

const ask = (body: object, options: Options = {}) =>
  gateway.call("POST", "/v1/responses", { body: { model: "test/model", ...body }, ...options });
const count = (body: object, options: Options = {}) =>
  gateway.call("POST", "/v1/responses/input_tokens", { body: { model: "test/model", ...body }, ...options });
const items = (id: string, query = "", options: Options = {}) =>
  gateway.call("GET", `/v1/responses/${id}/input_items${query}`, options);

/** As other providers and formats have them, and as nobody has. */
const FOREIGN: readonly string[] = [
  "resp_68a1b2c3d4e5f60718293a4b5c6d7e8f9",
  "resp_01JZZZZZZZZZZZZZZZZZZZZZZZ",
  "chatcmpl-abc123",
  "msg_01XFDUDYJgAACzvnptvVoYEL",
  "1",
  "resp_",
  "é🎉",
  "a b\n'\"",
  "x".repeat(700),
  "../../v1/credits",
];

describe("what is not stored here", () => {
  test.each(FOREIGN)("%j", async (id) => {
    const path = encodeURIComponent(id);
    for (const [method, at] of [
      ["GET", path],
      ["DELETE", path],
      ["GET", `${path}/input_items`],
    ] as const) {
      const { status, json, text } = await gateway.call(method, `/v1/responses/${at}`);
      expect([status, json.error.code], text).toEqual([404, "not_found"]);
    }
    const calls = gateway.simulator.totalCalls;
    for (const stream of [false, true]) {
      const { status, json } = await ask({ input: "x", previous_response_id: id, stream });
      expect(status).toBe(400);
      expect(json.error).toMatchObject({
        type: "invalid_request",
        code: "previous_response_not_found",
        param: "/previous_response_id",
        message: `Previous response with id '${id.slice(0, 100)}' not found.`,
      });
    }
    expect((await count({ previous_response_id: id })).json.error.code).toBe("previous_response_not_found");
    const named = await ask({ input: [{ type: "item_reference", id }] });
    expect([named.status, named.json.error.param]).toEqual([404, "/input/0"]);
    expect(named.json.error.message).toContain(`Item with id '${id.slice(0, 100)}' not found.`);
    expect(gateway.simulator.totalCalls).toBe(calls);
  });

  test("another org's, another environment's, and one that was deleted", async () => {
    const { json } = await ask({ input: "Mine." });
    for (const options of [{ key: otherOrg }, { key: gateway.testKey }]) {
      expect((await gateway.call("GET", `/v1/responses/${json.id}`, options)).status).toBe(404);
      expect((await items(json.id, "", options)).status).toBe(404);
      for (const asked of [
        await ask({ input: "x", previous_response_id: json.id }, options),
        await count({ previous_response_id: json.id }, options),
      ])
        expect([asked.status, asked.json.error.code]).toEqual([400, "previous_response_not_found"]);
    }
    expect((await items(json.id)).status).toBe(200);
    await gateway.call("DELETE", `/v1/responses/${json.id}`);
    expect((await items(json.id)).status).toBe(404);
  });

  test("a text that is no id", async () => {
    const { status, json } = await ask({ input: "x", previous_response_id: 1 });
    expect([status, json.error.code, json.error.param]).toEqual([
      400,
      "invalid_value",
      "/previous_response_id",
    ]);
  });
});

describe("input items", () => {
  test("a text is a user's message; ids are the same in the response that goes on", async () => {
    const first = await ask({ input: "Grüß Gott 🎉" });
    const { json } = await items(first.json.id);
    const [item] = json.data;
    expect(json).toEqual({
      object: "list",
      data: [
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
          type: "message",
          role: "user",
          content: [{ type: "input_text", text: "Grüß Gott 🎉" }],
        },
      ],
      first_id: item.id,
      last_id: item.id,
      has_more: false,
    });
    for (const stream of [false, true]) {
      const next = await ask({ input: "And?", previous_response_id: first.json.id, stream });
      const id = stream ? /"id":"(resp_[^"]+)"/.exec(next.text)?.[1] : next.json.id;
      const { data } = (await items(id as string, "?order=asc")).json;
      expect(data).toHaveLength(3);
      expect(data[0]).toEqual(item);
      expect(data[1]).toEqual(first.json.output[0]);
      expect(data[2]).toMatchObject({ role: "user", content: [{ text: "And?" }] });
    }
  });

  test("items are as they were sent, but for what a list promises", async () => {
    const call =
      '{"type":"function_call","call_id":"c1","name":"f","arguments":"{\\"n\\":12345678901234567890}"}';
    const input = `[{"role":"user","content":"a"}, {"role":"assistant","content":"b","id":"msg_own"}, {"id":"msg_own","role":"user","content":[{"type":"input_text","text":"c"}],"n":1.0E2},
      ${call}, {"type":"function_call_output","call_id":"c1","output":"1","id":null}]`;
    const body = `{"model":"test/model","input":${input}}`;
    const made = await gateway.call("POST", "/v1/responses", { body });
    expect(made.status, made.text).toBe(200);
    const { text, json } = await items(made.json.id, "?order=asc&include[]=message.output_text.logprobs");
    expect(json.data.map(({ type }: { type: string }) => type)).toEqual([
      "message",
      "message",
      "message",
      "function_call",
      "function_call_output",
    ]);
    expect(text).toContain("1.0E2");
    expect(text).toContain(call.slice(1));
    expect(json.data[1]).toEqual({
      id: "msg_own",
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "b", annotations: [] }],
    });
    const ids = json.data.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(ids[3]).toMatch(/^fc_/);
    expect(ids[4]).toMatch(/^fco_/);
  });

  test("pages, both ways", async () => {
    const input = Array.from({ length: 45 }, (_, at) => ({ role: "user", content: `${at}` }));
    const { json: made } = await ask({ input });
    const textsOf = (data: { content: { text: string }[] }[]) => data.map(({ content }) => content[0]?.text);
    for (const order of ["asc", "desc"]) {
      const texts: unknown[] = [];
      let after = "";
      const sizes: number[] = [];
      for (let more = true; more; ) {
        const { json } = await items(made.id, `?order=${order}&limit=20${after && `&after=${after}`}`);
        texts.push(...textsOf(json.data));
        sizes.push(json.data.length);
        expect([json.first_id, json.last_id]).toEqual([json.data[0].id, json.data.at(-1).id]);
        after = json.last_id;
        more = json.has_more;
      }
      expect(sizes).toEqual([20, 20, 5]);
      const expected = input.map(({ content }) => content);
      expect(texts).toEqual(order === "asc" ? expected : expected.reverse());
      const behind = await items(made.id, `?order=${order}&after=${after}`);
      expect(behind.json).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
    }
    expect((await items(made.id)).json.data).toHaveLength(20);
    const third = (await items(made.id, "?order=asc&limit=3")).json.last_id;
    const { json: before } = await items(made.id, `?order=asc&before=${third}`);
    expect([textsOf(before.data), before.has_more]).toEqual([["0", "1"], false]);
    const refused = [
      "limit=0",
      "limit=101",
      "limit=1.5",
      "limit=",
      "order=up",
      "after=msg_none",
      "before=",
      "after=a&after=b",
    ];
    for (const query of refused.map((each) => `?${each}`)) {
      const { status, json } = await items(made.id, query);
      expect([status, json.error.code], query).toEqual([400, "invalid_value"]);
    }
  });
});

test("an item that names a member twice is listed", async () => {
  const input = '[{"role":"system","role":"user","content":"a"}]';
  const made = await gateway.call("POST", "/v1/responses", {
    body: `{"model":"test/model","input":${input}}`,
  });
  expect(made.status, made.text).toBe(200);
  const { status, json, text } = await items(made.json.id, "?order=asc");
  expect(status, text).toBe(200);
  expect(json.data[0]).toMatchObject({ role: "user", content: [{ type: "input_text", text: "a" }] });
});

describe("a count of a prompt", () => {
  const TOOL = { type: "function", name: "f", parameters: { type: "object", properties: {} } };

  test.each(["test/model", "test/chat", "test/messages", "weir/sim-small"])("%s", async (model) => {
    const { status, json, text } = await count({ model, input: "one two three" });
    expect(status, text).toBe(200);
    expect(json).toMatchObject({ object: "response.input_tokens", input_tokens: expect.any(Number) });
    expect(json.input_tokens).toBeGreaterThan(0);
  });

  test("all that a call may have is taken, and what is longer counts more", async () => {
    const short = await count({ input: "one" });
    const long = await count({
      input: [{ role: "user", content: "one two three four" }],
      instructions: "Be brief.",
      tools: [TOOL],
      tool_choice: "auto",
      parallel_tool_calls: true,
      text: { format: { type: "text" } },
      reasoning: { effort: "low" },
      truncation: "disabled",
      personality: "friendly",
      stream: true,
      max_output_tokens: 9,
      store: false,
    });
    expect(long.status, long.text).toBe(200);
    expect(long.json.input_tokens).toBeGreaterThan(short.json.input_tokens);
    expect((await count({ instructions: "Be brief." })).status).toBe(200);
    expect((await count({ input: "x", conversation: "conv_1" })).status).toBe(404);
  });

  test("a conversation counts as a whole, and nothing is charged", async () => {
    const first = await ask({ input: "word ".repeat(200) });
    const before = await gateway.balance();
    const { json } = await count({ input: "And?", previous_response_id: first.json.id });
    expect(json.input_tokens).toBeGreaterThan(200);
    expect(await gateway.balance()).toEqual(before);
  });
});
