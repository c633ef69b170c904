/** Repeated requests and stored responses at three cells, of which each request goes to the next one. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTurn, known } from "../../support/cells/known.ts";
import { type Answer, type TestCalls, type TestGateway, testGateway } from "../../support/gateway.ts";
import { requestIdOf } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
let nextCell: () => TestCalls;
beforeAll(async () => {
  gateway = await testGateway({ cells: 3 });
  nextCell = inTurn(gateway);
});
afterAll(() => gateway.stop());

let used = 0;
const newKey = () => ({ "idempotency-key": `key-${++used}` });
interface Sent {
  readonly body?: unknown;
  readonly headers?: object;
}

/** Without money: it is called at any cell. */
const call = (method: string, path: string, options: Sent = {}, cell = nextCell()) =>
  known(() => cell.call(method, path, { ...options, key: gateway.testKey }));
/**
 * The last bytes of an answer wait for Redis for a moment only: where it is late, the next cell hears of the answer behind them, and is
 * asked again. A cell that does not hear of it at all is not hidden by the others.
 */
function heard(method: string, path: string, options: Sent = {}): Promise<Answer> {
  const cell = nextCell();
  return until(
    "the cell has heard of it",
    () => call(method, path, options, cell),
    ({ status, json }) =>
      status !== 404 && status !== 409 && json?.error?.code !== "previous_response_not_found",
  );
}

describe("the same request at every cell", () => {
  const messages = [{ role: "user", content: "once" }];
  const model = "weir/sim-small";
  test.each([
    ["/v1/chat/completions", { model, messages }],
    ["/v1/chat/completions", { model, messages, stream: true }],
    ["/v1/messages", { model, messages, max_tokens: 20, stream: true }],
    ["/v1/embeddings", { model: "weir/sim-embed", input: "once" }],
  ])("%s: the first answer to the byte, one call", async (path, body) => {
    const headers = newKey();
    const asked = gateway.simulator.totalCalls;
    const first = await call("POST", path, { body, headers });
    expect([first.status, first.headers.get("idempotent-replayed")], first.text).toEqual([200, null]);
    for (let turn = 0; turn < 4; turn++) {
      const again = await heard("POST", path, { body, headers });
      expect([again.status, again.headers.get("idempotent-replayed")], again.text).toEqual([200, "true"]);
      expect([again.text, requestIdOf(again)]).toEqual([first.text, requestIdOf(first)]);
      const other = await call("POST", path, { body: { ...body, user: `${turn}` }, headers });
      expect([other.status, other.json.error.code ?? other.json.error.type]).toContain(409);
    }
    expect(gateway.simulator.totalCalls - asked).toBe(1);
  });

  test("of sixty at once one is made", async () => {
    const headers = newKey();
    const asked = gateway.simulator.totalCalls;
    const body = { model, messages };
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => call("POST", "/v1/chat/completions", { body, headers })),
    );
    expect(gateway.simulator.totalCalls - asked).toBe(1);
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1);
    for (const { status, json } of answers)
      if (status !== 200) expect([status, json.error.code]).toEqual([409, "idempotency_in_progress"]);
  });

  test("a refusal leaves the key free at the next cell", async () => {
    const headers = newKey();
    const refused = await call("POST", "/v1/chat/completions", {
      body: { model, messages, max_tokens: -1 },
      headers,
    });
    expect(refused.status).toBe(400);
    const made = await heard("POST", "/v1/chat/completions", { body: { model, messages }, headers });
    expect(made.status, made.text).toBe(200);
  });
});

describe("stored responses", () => {
  const asked = (body: object) => ({ body: { model: "weir/sim-small", ...body } });
  const ask = (body: object) => call("POST", "/v1/responses", asked(body));
  const askHeard = (body: object) => heard("POST", "/v1/responses", asked(body));

  test("a conversation goes on at the next cell, turn by turn, and each response is read at any", async () => {
    let last = await ask({ input: "Begin." });
    for (let turn = 0; turn < 6; turn++) {
      const next = await askHeard({ input: `And ${turn}?`, previous_response_id: last.json.id });
      expect([next.status, next.json.previous_response_id], next.text).toEqual([200, last.json.id]);
      const read = await heard("GET", `/v1/responses/${next.json.id}`);
      expect([read.status, read.text]).toEqual([200, next.text]);
      last = next;
    }
    const sent = JSON.parse(gateway.simulator.calls.at(-1)?.body.toString() ?? "{}");
    expect(JSON.stringify(sent)).toContain("Begin.");
  });

  test("its input items are listed, and its prompt is counted, at the next cell", async () => {
    const first = await ask({ input: "Begin." });
    const next = await askHeard({ input: "And?", previous_response_id: first.json.id });
    const path = `/v1/responses/${next.json.id}/input_items?order=asc`;
    const lists = new Set<string>();
    for (let turn = 0; turn < 3; turn++) lists.add((await heard("GET", path)).text);
    expect(lists.size).toBe(1);
    const { data } = JSON.parse([...lists][0] as string);
    expect(data.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "user"]);
    const prompt = { input: "And?", previous_response_id: next.json.id };
    const counts = new Set<number>();
    for (let turn = 0; turn < 3; turn++)
      counts.add((await heard("POST", "/v1/responses/input_tokens", asked(prompt))).json.input_tokens);
    expect(counts.size).toBe(1);
  });

  test("items of a response are named at the next cell", async () => {
    const first = await ask({ input: "Say it." });
    const reference = { type: "item_reference", id: first.json.output[0].id };
    for (let turn = 0; turn < 3; turn++) {
      const next = await askHeard({ input: [reference, { role: "user", content: "Again." }] });
      expect(next.status, next.text).toBe(200);
    }
    const missing = await ask({ input: [{ ...reference, id: "msg_nobodys" }] });
    expect([missing.status, missing.json.error.param]).toEqual([404, "/input/0"]);
  });

  test("what is deleted at one cell is gone at all", async () => {
    const { json } = await ask({ input: "Forget me." });
    const path = `/v1/responses/${json.id}`;
    expect((await heard("DELETE", path)).status).toBe(200);
    for (let turn = 0; turn < 3; turn++) expect((await call("GET", path)).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(404);
    expect((await ask({ input: "And?", previous_response_id: json.id })).status).toBe(400);
  });
});
