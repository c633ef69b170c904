/** A gateway that was used alone, and killed, becomes three cells: what its clients had of it, they have at every cell. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { putAnalyticsTables } from "../../support/analytics-folder.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type Answer, removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { requestIdOf } from "../../support/observations.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { equals, until } from "../../support/wait.ts";

const missing = missingRedis();
const HELLO = { model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }], max_tokens: 10 };
const SLOW = { ...HELLO, messages: [{ role: "user", content: "[[sim first_ms=60000]] Hello" }] };
const SPENT = 3;
const BUDGET = 10;
const CALLS = 12;

interface Entry {
  readonly seq: number;
  readonly request_id?: string;
}

type Call = TestGateway["call"];

/** All of the org's ledger, page by page, each as soon as it lacks nothing. */
async function ledgerOf(call: Call): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let cursor = ""; ; ) {
    let page = { data: [] as Entry[], next_cursor: "" };
    await until("the list is complete", async () => {
      const { status, text, json } = await call("GET", `/v1/credits/ledger?limit=5${cursor}`);
      expect(status, text).toBe(200);
      page = json;
      return json.incomplete_since === undefined;
    });
    all.push(...page.data);
    if (page.next_cursor === "") return all;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const callAt =
  (url: string, liveKey: string): Call =>
  async (method, path, { body, key = liveKey, headers } = {}) => {
    const answer = await httpCall(method, `${url}${path}`, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isJson = answer?.headers.get("content-type")?.startsWith("application/json") === true;
    if (answer === undefined) throw new Error("no answer");
    return { ...answer, json: isJson ? JSON.parse(answer.text) : undefined };
  };

describe.skipIf(missing !== undefined)(`a used folder${missing === undefined ? "" : `: ${missing}`}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-used-"));
  let alone: SpawnedGateway;
  let cells: TestGateway;
  let owner: SignedInPerson;
  let cost: number;
  let budgeted: { readonly id: string; readonly key: string };
  let before: { ledger: Entry[]; limits: Answer["json"]; balance: object; exportPath: string };
  const kept = new Map<string, Answer>();
  let response: Answer;
  let conversation: string;

  const limitsOf = (answer: Answer) =>
    answer.json.keys.find((key: { key_id: string }) => key.key_id === budgeted.id);
  const repeated = (name: string, call: Call, body: object = HELLO) =>
    call("POST", "/v1/chat/completions", { body, headers: { "idempotency-key": name } });
  /** Runs it against each cell by its own address. */
  const everywhere = async (act: (call: Call, url: string) => Promise<void>) => {
    for (const url of cells.cellUrls ?? []) await act(callAt(url, cells.liveKey), url);
  };

  /** What the gateway is asked for before it is killed. */
  async function use(): Promise<void> {
    const { json: made } = await alone.call("POST", "/v1/keys", { body: { name: "measured" } });
    await alone.call("POST", "/v1/chat/completions", { body: HELLO, key: made.secret });
    const { json: found } = await alone.call("GET", "/v1/limits");
    cost = found.keys.find((key: { key_id: string }) => key.key_id === made.id).spend_today_micro;
    const budget = { daily_micro: BUDGET * cost, hard: true };
    const { json } = await alone.call("POST", "/v1/keys", { body: { name: "budgeted", budget } });
    budgeted = { id: json.id, key: json.secret };
    for (let n = 0; n < SPENT; n++)
      expect(
        (await alone.call("POST", "/v1/chat/completions", { body: HELLO, key: budgeted.key })).status,
      ).toBe(200);
    for (let n = 0; n < CALLS; n++) expect((await alone.chat()).status).toBe(200);
    for (const name of ["whole", "stream"])
      kept.set(name, await repeated(name, alone.call, { ...HELLO, stream: name === "stream" }));
    ({ id: conversation } = (
      await alone.call("POST", "/v1/conversations", { body: { metadata: { of: "use" } } })
    ).json);
    const turn = { model: HELLO.model, input: "Begin here.", conversation };
    expect((await alone.call("POST", "/v1/responses", { body: turn })).status).toBe(200);
    response = await alone.call("POST", "/v1/responses", { body: { model: HELLO.model, input: "Begin." } });
    expect(response.status, response.text).toBe(200);
  }

  /** What is read before it is killed. */
  async function look(): Promise<void> {
    const { json: asked } = await owner.call("POST", "/v1/orgs/first/export");
    const path = `/v1/orgs/first/exports/${asked.id}`;
    await until("it is ready", async () => (await owner.call("GET", path)).json.status === "ready");
    before = {
      ledger: await ledgerOf(alone.call),
      limits: (await alone.call("GET", "/v1/limits")).json,
      balance: await alone.balance(),
      exportPath: (await owner.call("GET", path)).json.url,
    };
  }

  beforeAll(async () => {
    putAnalyticsTables(join(folder, "data"));
    alone = await spawnGateway({ folder, engine: true });
    owner = await signInAt(alone.url, { email: "owner@example.com", name: "Olga Owner" });
    await use();
    await look();
    const cut = repeated("cut", alone.call, SLOW).catch(() => undefined);
    await until("it is under way", () => alone.simulator.openCalls > 0);
    await alone.kill("SIGKILL");
    await cut;
    await alone.simulator.close();
    cells = await testGateway({ folder, cells: 3, engine: true });
  });
  afterAll(async () => {
    await cells?.stop();
    removeFolder(folder);
  });

  test("budgets have what was spent of them, and the balance is what it was", async () => {
    await everywhere(async (call) => {
      const limits = await call("GET", "/v1/limits");
      expect(limitsOf(limits)).toMatchObject({ spend_today_micro: SPENT * cost });
      expect(limits.json.org.spend_month_micro).toBe(before.limits.org.spend_month_micro);
      const { json } = await call("GET", "/v1/credits");
      expect({ available: json.available_micro_usd, held: json.held_micro_usd }).toEqual(before.balance);
    });
    let made = 0;
    const call = () => cells.call("POST", "/v1/chat/completions", { body: HELLO, key: budgeted.key });
    await until("there is no room for a call", async () => {
      const { status } = await call();
      if (status === 200) made++;
      return status === 402;
    });
    expect(made).toBeLessThanOrEqual(BUDGET - SPENT);
    expect(made).toBeGreaterThan(0);
  });

  test("the ledger has all entries at every cell, and goes on with the next number", async () => {
    await everywhere(async (call) => {
      const all = await ledgerOf(call);
      expect(all.slice(-before.ledger.length)).toEqual(before.ledger);
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => all.length - at));
    });
  });

  test("a repeated request has the first answer, and no call is made", async () => {
    const asked = cells.simulator.totalCalls;
    for (const [name, first] of kept)
      await everywhere(async (call) => {
        const again = await repeated(name, call, { ...HELLO, stream: name === "stream" });
        expect([again.status, again.headers.get("idempotent-replayed"), again.text]).toEqual([
          200,
          "true",
          first.text,
        ]);
        expect(requestIdOf(again)).toBe(requestIdOf(first));
        expect((await repeated(name, call, { ...HELLO, user: "other" })).status).toBe(409);
      });
    expect(cells.simulator.totalCalls).toBe(asked);
  });

  test("the key of a call that the kill cut is free, and then answered once", async () => {
    const asked = cells.simulator.totalCalls;
    const first = await repeated("cut", cells.call);
    expect([first.status, first.headers.get("idempotent-replayed")], first.text).toEqual([200, null]);
    // Last bytes wait for Redis for a moment only: where it is late, another cell hears of the answer behind them.
    await everywhere(
      async (call) =>
        void (await until(
          "the answer is known",
          async () => (await repeated("cut", call)).text,
          equals(first.text),
        )),
    );
    expect(cells.simulator.totalCalls).toBe(asked + 1);
  });

  test("stored responses are read, continued and deleted", async () => {
    const path = `/v1/responses/${response.json.id}`;
    await everywhere(async (call) => {
      const read = await call("GET", path);
      expect([read.status, read.text]).toEqual([200, response.text]);
      const body = { model: HELLO.model, input: "And?", previous_response_id: response.json.id };
      expect((await call("POST", "/v1/responses", { body })).status).toBe(200);
    });
    expect((await cells.call("DELETE", path)).status).toBe(200);
    await everywhere(async (call) => expect((await call("GET", path)).status).toBe(404));
  });

  test("a conversation is read and goes on, at one cell after the other", async () => {
    const path = `/v1/conversations/${conversation}`;
    let turns = 1;
    await everywhere(async (call) => {
      expect((await call("GET", path)).json.metadata).toEqual({ of: "use" });
      const body = { model: HELLO.model, input: "And?", conversation };
      const { status, text } = await call("POST", "/v1/responses", { body });
      expect(status, text).toBe(200);
      turns++;
      expect((await call("GET", `${path}/items?limit=100`)).json.data).toHaveLength(2 * turns);
    });
    expect((await cells.call("DELETE", path)).status).toBe(200);
    await everywhere(async (call) => expect((await call("GET", path)).status).toBe(404));
  });

  test("the file of an export, records and receipts of calls, and when keys were used", async () => {
    const id = before.ledger.find(({ request_id }) => request_id !== undefined)?.request_id;
    await everywhere(async (call, url) => {
      const file = await fetch(`${url}${before.exportPath}`, { headers: { cookie: owner.cookie } });
      expect([file.status, file.headers.get("content-type")]).toEqual([200, "application/zip"]);
      await file.arrayBuffer();
      const receipt = await call("GET", `/v1/generation/${id}/receipt`);
      expect(receipt.status, receipt.text).toBe(200);
      const key = await call("GET", `/v1/keys/${budgeted.id}`);
      expect(key.json.last_used_at, key.text).toBeDefined();
    });
  });
});
