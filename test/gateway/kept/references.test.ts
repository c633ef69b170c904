/** Items of conversations that a request names by id (`item_reference`): which are found, by whom, and what is said of those that are not. */
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
    endpoints: [{ provider: "own", dialects: ["responses"] }],
    settings: { limits: { max_body_bytes: 100_000, max_stored_answer_bytes: 90_000 } },
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
const made = async (...items: object[]): Promise<string> => (await call("POST", "", { items })).json.id;
const idsOf = async (id: string): Promise<string[]> =>
  (await call("GET", `/${id}/items?order=asc&limit=100`)).json.data.map((item: { id: string }) => item.id);
const sent = () => JSON.parse(gateway.simulator.calls.at(-1)?.body.toString() ?? "{}");
const says = (content: string) => ({ role: "user", content });
const named = (...ids: string[]) => ids.map((id) => ({ type: "item_reference", id }));

/** A request for these items is refused before any upstream is asked. @param at place of the item that it is refused for */
async function expectUnknown(ids: string[], at: number, more: object = {}, options: Options = {}) {
  const calls = gateway.simulator.totalCalls;
  const { status, json } = await ask({ input: named(...ids), ...more }, options);
  expect([status, json.error.code, json.error.param]).toEqual([404, "not_found", `/input/${at}`]);
  expect(json.error.message).toContain(`Item with id '${ids[at]}' not found.`);
  expect(gateway.simulator.totalCalls).toBe(calls);
}

test("upstreams are told the item as it was sent, in the place of its reference", async () => {
  const id = await made(says("PLUM é🎉"), { type: "message", ...says("PEAR") });
  const [plum = "", pear = ""] = await idsOf(id);
  const input = [says("First"), ...named(pear), { id: plum }, says("Last")];
  expect((await ask({ input })).status).toBe(200);
  expect(sent().input).toEqual([
    says("First"),
    { type: "message", ...says("PEAR") },
    says("PLUM é🎉"),
    says("Last"),
  ]);
});

test("what a turn added is found, also where its response was not stored as such", async () => {
  const id = await made();
  const { json } = await ask({ conversation: id, input: "PLUM" });
  const [asked = "", answered = ""] = await idsOf(id);
  expect(answered).toBe(json.output[0].id);
  const remove = await gateway.call("DELETE", `/v1/responses/${json.id}`);
  expect(remove.status).toBe(200);
  expect((await ask({ input: named(asked) })).status).toBe(200);
  expect(sent().input).toMatchObject([says("PLUM")]);
  // The id of the answer is its provider's, who may give it twice: it is looked for where the request says.
  expect((await ask({ input: named(answered), conversation: id })).status).toBe(200);
  expect(sent().input.at(-1)).toEqual(json.output[0]);
});

test("ids that a client gave stand for items of the conversation that the request names", async () => {
  const [one, two] = [
    await made({ id: "msg_mine", ...says("ONE") }),
    await made({ id: "msg_mine", ...says("TWO") }),
  ];
  for (const [conversation, text] of [
    [one, "ONE"],
    [two, "TWO"],
  ]) {
    expect((await ask({ conversation, store: false, input: named("msg_mine") })).status).toBe(200);
    expect(sent().input.at(-1)).toEqual({ id: "msg_mine", ...says(text as string) });
  }
  await expectUnknown(["msg_mine"], 0);
});

test("a count reads them too", async () => {
  const id = await made(says("word ".repeat(500)));
  const body = { model: "test/model", input: named(...(await idsOf(id))) };
  const { status, json } = await gateway.call("POST", "/v1/responses/input_tokens", { body });
  expect(status).toBe(200);
  expect(json.input_tokens).toBeGreaterThan(400);
});

describe("404 at its place", () => {
  test("an item that was deleted from its conversation, whatever conversation the request names", async () => {
    const id = await made(says("PLUM"), says("PEAR"));
    const [plum = "", pear = ""] = await idsOf(id);
    expect((await call("DELETE", `/${id}/items/${plum}`)).status).toBe(200);
    await expectUnknown([pear, plum], 1);
    await expectUnknown([pear, plum], 1, { conversation: id });
    expect((await ask({ input: named(pear) })).status).toBe(200);
    // The conversation is free, and as it was.
    expect(await idsOf(id)).toEqual([pear]);
    expect((await ask({ conversation: id })).status).toBe(200);
  });

  test("an item of a conversation that was deleted", async () => {
    const id = await made(says("PLUM"));
    const [plum = ""] = await idsOf(id);
    expect((await call("DELETE", `/${id}`)).status).toBe(200);
    await expectUnknown([plum], 0);
  });

  test("an item of another org, of another environment, and of nobody", async () => {
    const [plum = ""] = await idsOf(await made(says("PLUM")));
    for (const key of [otherOrg, gateway.testKey]) await expectUnknown([plum], 0, {}, { key });
    await expectUnknown([`${plum}0`], 0);
    await expectUnknown([plum.replace(/_[0-9A-Z]{26}_/, "_01JZZZZZZZZZZZZZZZZZZZZZZZ_")], 0);
    expect((await ask({ input: named(plum) })).status).toBe(200);
  });
});

describe("what is read is bounded", () => {
  test("items of sixteen conversations in a request, not of more", async () => {
    const firsts: string[] = [];
    for (let at = 0; at < 17; at++) firsts.push((await idsOf(await made(says(`No ${at}.`))))[0] ?? "");
    const calls = gateway.simulator.totalCalls;
    const { status, json } = await ask({ input: named(...firsts) });
    expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_value", "/input"]);
    expect(gateway.simulator.totalCalls).toBe(calls);
    expect((await ask({ input: named(...firsts.slice(1)) })).status).toBe(200);
    expect(sent().input).toHaveLength(16);
  });

  test("items that make the body too large", async () => {
    const ids: string[] = [];
    for (const text of ["x", "y"]) ids.push(...(await idsOf(await made(says(text.repeat(60_000))))));
    const { status, json } = await ask({ input: named(...ids) });
    expect([status, json.error.code]).toEqual([413, "payload_too_large"]);
    const twice = await ask({ input: named(ids[0] ?? "", ids[0] ?? "") });
    expect(twice.status).toBe(413);
    expect((await ask({ input: named(ids[1] ?? "") })).status).toBe(200);
  });
});

test("200 callers name the items of one conversation while it is changed: each finds them", async () => {
  const id = await made(says("PLUM"));
  const [plum = ""] = await idsOf(id);
  const changes = Array.from({ length: 20 }, () => call("POST", `/${id}/items`, { items: [says("More")] }));
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask({ input: named(plum) })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await Promise.all(changes);
});
