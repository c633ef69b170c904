/** Conversations at three cells, of which each request goes to the next one. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTurn, known } from "../../support/cells/known.ts";
import { type TestCalls, type TestGateway, testGateway } from "../../support/gateway.ts";

let gateway: TestGateway;
let nextCell: () => TestCalls;
beforeAll(async () => {
  gateway = await testGateway({ cells: 3 });
  nextCell = inTurn(gateway);
});
afterAll(() => gateway.stop());

const call = (method: string, path: string, body?: unknown) => {
  const cell = nextCell();
  return known(() => cell.call(method, path, { ...(body !== undefined && { body }), key: gateway.testKey }));
};
const made = async (body: object = {}) => (await call("POST", "/v1/conversations", body)).json.id as string;
const ask = (body: object) => call("POST", "/v1/responses", { model: "weir/sim-small", ...body });
const items = async (id: string) =>
  (await call("GET", `/v1/conversations/${id}/items?order=asc&limit=100`)).json.data;

test.each([false, true])("turn by turn, each at the next cell; stream: %s", async (stream) => {
  const id = await made({ items: [{ role: "user", content: "I am Ada." }] });
  for (let turn = 1; turn <= 7; turn++) {
    const { status, text } = await ask({ input: `Turn ${turn}.`, conversation: id, stream });
    expect(status, text).toBe(200);
    expect(text).toContain(id);
    const sent = gateway.simulator.calls.at(-1)?.body.toString() ?? "";
    for (const said of ["I am Ada.", ...Array.from({ length: turn }, (_, at) => `Turn ${at + 1}.`)])
      expect(sent).toContain(said);
    expect(await items(id)).toHaveLength(1 + 2 * turn);
  }
});

test("what is changed by hand at one cell is so at the next", async () => {
  const id = await made();
  const path = `/v1/conversations/${id}`;
  for (let turn = 0; turn < 4; turn++) {
    const { json } = await call("POST", `${path}/items`, { items: [{ role: "user", content: `${turn}` }] });
    expect((await call("GET", `${path}/items/${json.first_id}`)).json.content[0].text).toBe(`${turn}`);
    expect((await call("POST", path, { metadata: { turn: `${turn}` } })).status).toBe(200);
    expect((await call("GET", path)).json.metadata).toEqual({ turn: `${turn}` });
  }
  const [first] = await items(id);
  expect((await call("DELETE", `${path}/items/${first.id}`)).status).toBe(200);
  expect(await items(id)).toHaveLength(3);
});

test("of forty responses at once none is lost, and each has the whole of those before it", async () => {
  const id = await made();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => ask({ input: `Turn ${at}.`, conversation: id })),
  );
  const good = answers.filter(({ status }) => status === 200);
  for (const { status, json } of answers)
    if (status !== 200) expect([status, json.error.code]).toEqual([400, "conversation_locked"]);
  expect(good.length).toBeGreaterThan(0);
  const all = await items(id);
  expect(all).toHaveLength(2 * good.length);
  expect(all.map(({ role }: { role: string }) => role)).toEqual(good.flatMap(() => ["user", "assistant"]));
});

test("what is deleted at one cell is gone at all", async () => {
  const id = await made({ items: [{ role: "user", content: "Forget me." }] });
  await ask({ input: "Hi", conversation: id });
  expect((await call("DELETE", `/v1/conversations/${id}`)).status).toBe(200);
  for (let turn = 0; turn < 3; turn++) {
    expect((await call("GET", `/v1/conversations/${id}`)).status).toBe(404);
    expect((await ask({ input: "Hi", conversation: id })).status).toBe(404);
  }
});

test("an item that one cell keeps is found by its id at the next ones, until it is deleted", async () => {
  const id = await made({ items: [{ role: "user", content: "PLUM" }] });
  const [plum] = await items(id);
  const input = [{ type: "item_reference", id: plum.id }];
  for (let turn = 0; turn < 3; turn++) {
    const { status, text } = await ask({ input });
    expect(status, text).toBe(200);
    expect(gateway.simulator.calls.at(-1)?.body.toString()).toContain("PLUM");
  }
  expect((await call("DELETE", `/v1/conversations/${id}/items/${plum.id}`)).status).toBe(200);
  for (let turn = 0; turn < 3; turn++) {
    const { status, json } = await ask({ input });
    expect([status, json.error.param]).toEqual([404, "/input/0"]);
  }
});
