/** Background responses that wait for credit which other calls hold (`hold_wait_ms`): refused, served, left, repeated and cancelled meanwhile. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { endOf } from "../../../../support/background/fixtures.ts";
import { sseEvents } from "../../../../support/conformance/ask.ts";
import { begin } from "../../../../support/detached/fixtures.ts";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { auditedLedger, chargesOf, idle, metric } from "../../../../support/money/fixtures.ts";
import { addOrgs } from "../../../../support/money/orgs.ts";
import { start } from "../../../../support/observations.ts";
import { equals, until } from "../../../../support/wait.ts";
import { at, only } from "../../../money/hold.fixtures.ts";

/** Pays for a call of `TOKENS`, and not for two. */
const CREDIT = 20_000;
const TOKENS = 1_200;
const LONG_MS = 120_000;
const ORGS = ["polled", "served", "left", "repeated", "cancelled", "poor", "late"] as const;

let folder: string;
let gateway: TestGateway;
let keys: Record<string, string>;
beforeAll(async () => {
  folder = await seededFolder(() => {});
  keys = await addOrgs(folder, Object.fromEntries(ORGS.map((name) => [name, { creditMicroUsd: CREDIT }])));
  gateway = await testGateway({
    folder,
    endpoints: [at("good"), at("hangs", { instruction: { fault: "hang" } })],
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});
afterEach(() => idle(gateway));

/** One org's calls. */
function of(org: (typeof ORGS)[number]) {
  const key = keys[org] as string;
  const call = (method: string, path: string) => gateway.call(method, path, { key });
  return {
    key,
    call,
    /** What may be asked about its responses. */
    own: { call },
    /** A call that holds what there is until it is left. @returns leaves it */
    async holdAll(): Promise<() => Promise<void>> {
      const leave = new AbortController();
      const before = gateway.simulator.totalCalls;
      const messages = [{ role: "user", content: "Hold on." }];
      const body = { model: "test/model", stream: true, max_tokens: TOKENS, messages, svc: only("hangs") };
      const over = start(gateway, body, { key, signal: leave.signal }).catch(() => {});
      await until("the call is asked", () => gateway.simulator.totalCalls > before);
      return async () => {
        leave.abort();
        await over;
      };
    },
    /** A background response that waits, before its first event. */
    async wait(asked: { signal?: AbortSignal; headers?: Record<string, string>; waitMs?: number } = {}) {
      const { waitMs = LONG_MS, ...more } = asked;
      const body = { background: true, max_output_tokens: TOKENS };
      const svc = { ...only("good"), hold_wait_ms: waitMs };
      const response = await begin(gateway, "responses", { key, body, svc, ...more });
      const id = response.headers.get("x-svc-request-id") ?? "";
      return { response, id, text: () => response.text().catch(() => "") };
    },
    charges: async () => await chargesOf(await auditedLedger({ call })),
  };
}

const waiting = (count: number) =>
  until(`${count} calls wait`, () => metric(gateway, "weir_calls_waiting"), equals(count));
const eventsIn = (text: string) => sseEvents(text).map(({ data }) => JSON.parse(data));

describe("is refused", () => {
  test("where its client polls for it: a wait is for streams", async () => {
    const { key } = of("polled");
    for (const more of [{}, { stream: false }]) {
      const body = { model: "test/model", input: "x", background: true, svc: { hold_wait_ms: 9 }, ...more };
      const { status, json } = await gateway.call("POST", "/v1/responses", { body, key });
      expect([status, json.error.code, json.error.param]).toEqual([
        400,
        "invalid_value",
        "/svc/hold_wait_ms",
      ]);
      expect(json.error.message).toContain("set stream to true");
    }
  });

  test("at once where it would never fit", async () => {
    const { key } = of("poor");
    const body = { background: true, max_output_tokens: 2 * TOKENS };
    const response = await begin(gateway, "responses", { key, body, svc: { hold_wait_ms: LONG_MS } });
    expect(response.status).toBe(402);
    expect((await response.json()) as object).toMatchObject({ error: { code: "insufficient_credits" } });
  });

  test("by an event once its time is over; nothing is stored or charged", async () => {
    const { holdAll, wait, call, charges } = of("late");
    const letGo = await holdAll();
    const before = gateway.simulator.totalCalls;
    const { id, text } = await wait({ waitMs: 50 });
    const events = eventsIn(await text());
    expect(events.at(-1)).toMatchObject({ type: "error", code: "insufficient_credits" });
    expect((await call("GET", `/v1/responses/resp_${id}`)).status).toBe(404);
    await letGo();
    await idle(gateway);
    expect(gateway.simulator.totalCalls).toBe(before);
    expect((await charges()).size).toBe(0);
  });
});

test("is served in its turn: its events begin there, it is stored, and charged once", async () => {
  const { holdAll, wait, own, charges } = of("served");
  const letGo = await holdAll();
  const { id, text } = await wait();
  await waiting(1);
  await letGo();
  const events = eventsIn(await text());
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  expect(events[0]).toMatchObject({ type: "response.created", response: { id: `resp_${id}` } });
  const { json: ended } = await endOf(own, `resp_${id}`);
  expect(events.at(-1)).toEqual({ ...events.at(-1), type: "response.completed", response: ended });
  expect(ended.svc.warnings).toEqual([expect.stringMatching(/^hold_waited: \d+$/)]);
  expect([...(await charges()).keys()]).toEqual([id]);
});

test("whose client leaves meanwhile is made all the same, is found by its id, and charged once", async () => {
  const { holdAll, wait, own, charges } = of("left");
  const letGo = await holdAll();
  const leave = new AbortController();
  const { id, text } = await wait({ signal: leave.signal });
  await waiting(1);
  leave.abort();
  await text();
  const before = gateway.simulator.totalCalls;
  await letGo();
  await idle(gateway);
  expect((await endOf(own, `resp_${id}`)).json).toMatchObject({ status: "completed" });
  expect(gateway.simulator.totalCalls).toBe(before + 1);
  expect([...(await charges()).keys()]).toEqual([id]);
});

test("of twenty repetitions of its Idempotency-Key each has the same stream, charged once", async () => {
  const { holdAll, wait, charges } = of("repeated");
  const letGo = await holdAll();
  const headers = { "idempotency-key": "once" };
  const first = await wait({ headers });
  await waiting(1);
  const others = await Promise.all(Array.from({ length: 20 }, () => wait({ headers })));
  const before = gateway.simulator.totalCalls;
  await letGo();
  const events = eventsIn(await first.text());
  expect(events.at(-1)).toMatchObject({ type: "response.completed" });
  for (const other of others) {
    expect([other.id, other.response.headers.get("idempotent-replayed")]).toEqual([first.id, "true"]);
    expect(eventsIn(await other.text())).toEqual(events);
  }
  expect(gateway.simulator.totalCalls).toBe(before + 1);
  expect([...(await charges()).keys()]).toEqual([first.id]);
});

test("cancelled while it waits: by its call, since it is no response yet; it is not asked for, and costs nothing", async () => {
  const { holdAll, wait, call, charges } = of("cancelled");
  const letGo = await holdAll();
  const { id, text } = await wait();
  await waiting(1);
  const before = gateway.simulator.totalCalls;
  for (const [method, path] of [
    ["GET", ""],
    ["POST", "/cancel"],
  ] as const)
    expect((await call(method, `/v1/responses/resp_${id}${path}`)).status).toBe(404);
  await waiting(1);
  const { status, json } = await call("POST", `/v1/generation/${id}/cancel`);
  expect([status, json]).toEqual([200, { id, cancelled: true }]);
  await waiting(0);
  expect(eventsIn(await text())).toMatchObject([{ type: "error", sequence_number: 0, code: "cancelled" }]);
  await letGo();
  await idle(gateway);
  expect(gateway.simulator.totalCalls).toBe(before);
  expect((await charges()).size).toBe(0);
  expect((await call("GET", `/v1/responses/resp_${id}`)).status).toBe(404);
});
