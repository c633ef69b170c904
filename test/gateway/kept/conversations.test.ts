/** Conversations: whose they are, what is refused, what a turn adds and when, and what happens at the same time. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { until } from "../../support/wait.ts";

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
    ],
    settings: { limits: { max_stored_answer_bytes: 60_000 } },
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});

interface Options {
  readonly key?: string;
}
const call = (method: string, path: string, body?: unknown, options: Options = {}) =>
  gateway.call(method, `/v1/conversations${path}`, { ...(body !== undefined && { body }), ...options });
const ask = (body: object, options: Options = {}) =>
  gateway.call("POST", "/v1/responses", { body: { model: "test/model", input: "Hi", ...body }, ...options });
const made = async (...texts: string[]): Promise<string> =>
  (await call("POST", "", { items: texts.map((content) => ({ role: "user", content })) })).json.id;
const items = async (id: string) => (await call("GET", `/${id}/items?order=asc&limit=100`)).json.data;
const roles = async (id: string) => (await items(id)).map(({ role }: { role: string }) => role);

/** As other providers have them, and as nobody has. */
const FOREIGN: readonly string[] = [
  "conv_68a1b2c3d4e5f60718293a4b5c6d7e8f9",
  "conv_01JZZZZZZZZZZZZZZZZZZZZZZZ",
  "resp_01JZZZZZZZZZZZZZZZZZZZZZZZ",
  "conv_",
  "é🎉",
  "a b\n'\"",
  "x".repeat(700),
  "../../v1/credits",
];

describe("what is not kept here", () => {
  test.each(FOREIGN)("%j", async (id) => {
    const path = `/${encodeURIComponent(id)}`;
    const message = `Conversation with id '${id.slice(0, 100)}' not found.`;
    for (const [method, at, body] of [
      ["GET", path],
      ["POST", path, { metadata: {} }],
      ["DELETE", path],
      ["GET", `${path}/items`],
      ["POST", `${path}/items`, { items: [{ role: "user", content: "x" }] }],
      ["GET", `${path}/items/msg_1`],
      ["DELETE", `${path}/items/msg_1`],
    ] as const) {
      const { status, json, text } = await call(method, at, body);
      expect([status, json.error.code, json.error.message], text).toEqual([404, "not_found", message]);
    }
    const calls = gateway.simulator.totalCalls;
    for (const body of [{}, { stream: true }, { store: false }]) {
      const { status, json } = await ask({ conversation: id, ...body });
      expect([status, json.error.code, json.error.message]).toEqual([404, "not_found", message]);
    }
    expect(gateway.simulator.totalCalls).toBe(calls);
  });

  test("another org's and another environment's", async () => {
    const id = await made("Mine");
    for (const options of [{ key: otherOrg }, { key: gateway.testKey }]) {
      expect((await call("GET", `/${id}`, undefined, options)).status).toBe(404);
      expect((await call("GET", `/${id}/items`, undefined, options)).status).toBe(404);
      expect((await call("DELETE", `/${id}`, undefined, options)).status).toBe(404);
      expect((await ask({ conversation: id }, options)).status).toBe(404);
    }
    expect(await items(id)).toHaveLength(1);
  });
});

describe("what is refused", () => {
  const PAIRS = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"]));
  test.each([
    ["21 items", { items: Array.from({ length: 21 }, () => ({ role: "user", content: "x" })) }, "/items"],
    ["17 pairs", { metadata: PAIRS }, "/metadata"],
    ["a long key", { metadata: { ["k".repeat(65)]: "v" } }, undefined],
    ["a long value", { metadata: { k: "v".repeat(513) } }, "/metadata/k"],
    ["a number", { metadata: { k: 1 } }, "/metadata/k"],
    ["no item", { items: ["x"] }, "/items/0"],
    ["a role that there is not", { items: [{ role: "boss", content: "x" }] }, "/items/0/role"],
    ["content that is none", { items: [{ role: "user", content: 1 }] }, "/items/0/content"],
    [
      "a part without its text",
      { items: [{ role: "user", content: [{ type: "input_text" }] }] },
      "/items/0/content/0/text",
    ],
    [
      "a call without an id",
      { items: [{ type: "function_call", name: "f", arguments: "{}" }] },
      "/items/0/call_id",
    ],
    ["a reference", { items: [{ type: "item_reference", id: "msg_1" }] }, "/items/0"],
  ])("%s", async (_, body, param) => {
    const id = await made();
    const refused = [await call("POST", "", body)];
    if ("items" in body) refused.push(await call("POST", `/${id}/items`, body));
    else refused.push(await call("POST", `/${id}`, body));
    for (const { status, json, text } of refused) {
      expect([status, json.error.type], text).toEqual([400, "invalid_request"]);
      if (param !== undefined) expect(json.error.param).toBe(param);
    }
    expect(await items(id)).toEqual([]);
  });

  test("a conversation and a response at once", async () => {
    const first = await ask({});
    const { status, json } = await ask({ conversation: await made(), previous_response_id: first.json.id });
    expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_value", "/conversation"]);
  });

  test.each([1, true, [], {}, { id: 1 }])("%j is no conversation", async (conversation) => {
    const { status, json } = await ask({ conversation });
    expect([status, json.error.code]).toEqual([400, "invalid_value"]);
  });

  test("an item that the conversation has", async () => {
    const id = await made("One", "Two");
    const [one] = await items(id);
    const { status, json } = await call("POST", `/${id}/items`, { items: [one] });
    expect([status, json.error.code, json.error.message]).toEqual([
      400,
      "item_already_in_conversation",
      "Item already in conversation",
    ]);
    expect(await items(id)).toHaveLength(2);
  });

  test("a page behind an item that is not there", async () => {
    const id = await made("One");
    const { status, json } = await call("GET", `/${id}/items?after=msg_none`);
    expect([status, json.error.param, json.error.message]).toEqual([
      404,
      "/after",
      "No item found with id 'msg_none'",
    ]);
  });

  test("a conversation that would be too large: by hand, and by a call before its upstream is asked", async () => {
    const id = await made("x".repeat(50_000));
    const large = await call("POST", `/${id}/items`, {
      items: [{ role: "user", content: "y".repeat(20_000) }],
    });
    expect([large.status, large.json.error.code]).toEqual([413, "payload_too_large"]);
    const calls = gateway.simulator.totalCalls;
    const asked = await ask({ conversation: id, input: "y".repeat(20_000) });
    expect([asked.status, asked.json.error.code]).toEqual([413, "payload_too_large"]);
    expect(gateway.simulator.totalCalls).toBe(calls);
    expect(await items(id)).toHaveLength(1);
    // It can be gone on from in the room that is left.
    expect((await ask({ conversation: id, input: "z" })).status).toBe(200);
    expect(await items(id)).toHaveLength(3);
  });
});

describe("what a turn adds", () => {
  test.each(["test/model", "test/chat"])("%s: a failed and an incomplete answer", async (model) => {
    const id = await made("Hello");
    const failed = await ask({ model, conversation: id, input: "x [[sim status=400]]" });
    expect(failed.status).toBe(400);
    const cut = await ask({
      model,
      conversation: id,
      input: "x [[sim tokens=9 fault=reset_mid]]",
      stream: true,
    });
    expect(cut.text).not.toContain("response.completed");
    expect(await roles(id)).toEqual(["user"]);
    const short = await ask({
      model,
      conversation: id,
      input: "Say much. [[sim tokens=50]]",
      max_output_tokens: 16,
    });
    expect(short.json.status).toBe("incomplete");
    expect(await roles(id)).toEqual(["user", "user", "assistant"]);
  });

  test.each([
    ["test/model", false],
    ["test/model", true],
    ["test/chat", false],
    ["test/chat", true],
  ])("`store: false` goes on from it, adds nothing, and says so: %s, stream: %s", async (model, stream) => {
    const id = await made("Remember LEMON.");
    const { status, text } = await ask({ model, conversation: id, store: false, stream });
    expect(status, text).toBe(200);
    expect(text).toContain(`"conversation":{"id":"${id}"}`);
    expect(text.split('"conversation_not_extended: store"')).toHaveLength(2);
    expect(gateway.simulator.calls.at(-1)?.body.toString()).toContain("LEMON");
    expect(await items(id)).toHaveLength(1);
    const added = await ask({ model, conversation: id, stream });
    expect(added.text).not.toContain("conversation_not_extended");
    const without = await ask({ model, store: false, stream });
    expect(without.text).not.toContain("conversation_not_extended");
  });

  test("ids that clients gave are kept; what has none, or one twice, gets one", async () => {
    const id = await made();
    const input = [
      { id: "msg_mine", role: "user", content: "One" },
      { id: "msg_mine", role: "user", content: "Two" },
      { role: "user", content: "Three" },
    ];
    expect((await ask({ conversation: id, input })).status).toBe(200);
    const ids = (await items(id)).map((item: { id: string }) => item.id);
    expect(ids[0]).toBe("msg_mine");
    expect(new Set(ids).size).toBe(4);
    for (const one of ids) expect(one).toMatch(/^msg_/);
    // The upstream is told ids as they were sent, and no others.
    await ask({ conversation: id });
    const sent = JSON.parse(gateway.simulator.calls.at(-1)?.body.toString() ?? "{}");
    expect(sent.input.map((item: { id?: string }) => item.id ?? "").slice(0, 3)).toEqual([
      "msg_mine",
      "msg_mine",
      "",
    ]);
  });

  test.each(["constructor", "toString", "__proto__"])(
    "an item of type %s gets an id as others do",
    async (type) => {
      const { json } = await call("POST", "", { items: [{ type, role: "user", content: "x" }] });
      const [{ id }] = await items(json.id);
      const ulid = json.id.slice("conv_".length);
      expect(id).toMatch(new RegExp(`^item_${ulid}_[0-9A-Z]{26}h0$`));
    },
  );

  test("an item that was deleted is told no upstream", async () => {
    const id = await made("Forget PLUM.", "Keep PEAR.");
    const [plum] = await items(id);
    await call("DELETE", `/${id}/items/${plum.id}`);
    await ask({ conversation: id });
    const sent = gateway.simulator.calls.at(-1)?.body.toString();
    expect(sent).toContain("PEAR");
    expect(sent).not.toContain("PLUM");
  });

  test("a count and a dry run read it, and hold nothing", async () => {
    const id = await made("Some words to count.");
    const body = { model: "test/model", conversation: id };
    const count = await gateway.call("POST", "/v1/responses/input_tokens", { body });
    expect(count.json.input_tokens).toBeGreaterThan(3);
    expect((await ask({ conversation: id })).status).toBe(200);
  });

  test("its response's items are those of the whole conversation", async () => {
    const id = await made("Before");
    const { json } = await ask({ conversation: id, input: "Now" });
    const listed = await gateway.call("GET", `/v1/responses/${json.id}/input_items?order=asc`);
    expect(listed.json.data.map((item: { content: { text: string }[] }) => item.content[0]?.text)).toEqual([
      "Before",
      "Now",
    ]);
  });
});

describe("at the same time", () => {
  /** A response that is under way until it is read to its end. */
  async function running(id: string, tokens = 400) {
    const input = `Slow. [[sim tokens=${tokens} gap_ms=20]]`;
    const body = { model: "test/model", conversation: id, input, stream: true };
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    await reader.read();
    return reader;
  }

  test("while a response goes on from it, changes are refused as at OpenAI, and reads are not", async () => {
    const id = await made("Hello");
    const reader = await running(id);
    for (const { status, json, headers } of [
      await ask({ conversation: id }),
      await call("POST", `/${id}/items`, { items: [{ role: "user", content: "x" }] }),
      await call("POST", `/${id}`, { metadata: {} }),
    ]) {
      expect([status, json.error.code]).toEqual([400, "conversation_locked"]);
      expect(json.error.message).toBe(
        "Another process is currently operating on this conversation. Please retry in a few seconds.",
      );
      expect(headers.get("retry-after")).toBe("1");
    }
    expect((await call("GET", `/${id}`)).status).toBe(200);
    expect(await items(id)).toHaveLength(1);
    expect((await ask({ conversation: id, store: false })).status).toBe(200);
    // The client leaves: the call is cancelled, adds nothing, and lets go.
    await reader.cancel();
    const after = await until(
      "the conversation is free",
      () => ask({ conversation: id }),
      ({ status }) => status === 200,
    );
    expect(after.status).toBe(200);
    expect(await roles(id)).toEqual(["user", "user", "assistant"]);
  });

  test("deleted while a response goes on from it: it is answered, charged, and adds nothing", async () => {
    const id = await made("Hello");
    const reader = await running(id, 40);
    expect((await call("DELETE", `/${id}`)).status).toBe(200);
    let text = "";
    for (let read = await reader.read(); !read.done; read = await reader.read())
      text += Buffer.from(read.value);
    expect(text).toContain("response.completed");
    expect(text).toMatch(/"total_micro_usd":[1-9]/);
    expect((await call("GET", `/${id}`)).status).toBe(404);
    expect((await call("GET", `/${id}/items`)).status).toBe(404);
  });

  test("200 callers: each is answered or refused, none is lost, and turns stand one behind the other", async () => {
    const id = await made();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => ask({ conversation: id, input: `Turn ${at}.` })),
    );
    const good = answers.filter(({ status }) => status === 200);
    for (const { status, json } of answers)
      if (status !== 200) expect([status, json.error.code]).toEqual([400, "conversation_locked"]);
    expect(good.length).toBeGreaterThan(0);
    const all = await items(id);
    expect(all).toHaveLength(2 * good.length);
    const answered = new Map(good.map(({ json }) => [json.output[0].id, json]));
    for (let at = 0; at < all.length; at += 2) {
      expect([all[at].role, all[at + 1].role]).toEqual(["user", "assistant"]);
      expect(answered.delete(all[at + 1].id)).toBe(true);
    }
    expect(answered.size).toBe(0);
    // One that is free again is free at once.
    expect((await ask({ conversation: id })).status).toBe(200);
  });
});
