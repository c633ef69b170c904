/**
 * Clients that leave, at every moment a call has: the upstream is closed within a second or read to its end, the call is
 * recorded once and billed for what was delivered, and nothing stays taken.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { addOrgs } from "../../../support/money/orgs.ts";
import { atRest, attemptsOf, charges, metric, recordOf, start } from "../../../support/observations.ts";
import { again, rest } from "../../../support/pace.ts";
import { startProvider, type TestProvider } from "../../../support/upstream/fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

/** A provider that tells its usage with the first event, and goes on as long as it is listened to. */
function earlyReporter(): Server {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...more })}\n\n`;
  const usage = { prompt_tokens: 50, completion_tokens: 1, total_tokens: 51 };
  const speak = (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }], usage }));
    const say = () => response.write(chunk({ choices: [{ index: 0, delta: { content: "twelve bytes" } }] }));
    response.on("close", again(say, 5));
  };
  return createServer((request, response) => {
    request.resume();
    request.on("end", () => speak(response));
  });
}

let gateway: TestGateway;
let folder: string;
/** Keys of orgs with little credit, one for each try. */
let poor: readonly string[];
const POOR_MICRO_USD = 50_000;
/** Answers with what the simulator says once the client is gone and the call is drained, however late that is. */
let patient: TestProvider;
const early = earlyReporter();
/** Longer than any drain that comes to its end here, on a machine that stands still for a while, too. */
const DRAIN_MS = 5000;
const BILLS = { quirks: { bills_after_disconnect: true } };

beforeAll(async () => {
  await new Promise<void>((resolve) => early.listen(0, "127.0.0.1", resolve));
  folder = await seededFolder(() => {});
  const few = { creditMicroUsd: POOR_MICRO_USD };
  poor = Object.values(await addOrgs(folder, { poor_0: few, poor_1: few, poor_2: few }));
  patient = await startProvider();
  patient.answer = async ({ path, body }, response) => {
    const isDrained = async () => (await metric(gateway, "weir_calls_draining")) === 1;
    await until("the call is drained, or left", async () => response.destroyed || (await isDrained()));
    if (response.destroyed) return;
    const answer = await fetch(`${gateway.simulator.url}${path}`, { method: "POST", body });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(await answer.text());
  };
  const patientAt = (instruction: object) =>
    `${patient.url}/with/${encodeURIComponent(JSON.stringify(instruction))}/v1`;
  gateway = await testGateway({
    folder,
    engine: true,
    endpoints: [
      { provider: "mute", instruction: { fault: "hang" } },
      { provider: "late", instruction: { header_then_ms: 60_000 } },
      { provider: "halfway", instruction: { split_every: 60, gap_ms: 300 } },
      { provider: "talks", instruction: { tokens: 400, gap_ms: 10 } },
      { provider: "brief", instruction: { tokens: 30, gap_ms: 8 } },
      { provider: "thinks", baseUrl: patientAt({ tokens: 9 }) },
      { provider: "fails", baseUrl: patientAt({ status: 500 }) },
      { provider: "stalls", instruction: { fault: "stall", after: 4 } },
      { provider: "bills", instruction: { tokens: 30, gap_ms: 8 }, ...BILLS },
      { provider: "bills-later", baseUrl: patientAt({ tokens: 9 }), ...BILLS },
      { provider: "cheap", price: { input: 0.001, output: 2 } },
      { provider: "early", baseUrl: `http://127.0.0.1:${(early.address() as AddressInfo).port}/v1` },
    ],
    settings: { limits: { max_drains: 2 }, timeouts: { drain_ms: DRAIN_MS, keep_alive_ms: 0 } },
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
  await patient?.close();
  early.closeAllConnections();
  early.close();
});
afterEach(() => atRest(gateway));

let runs = 0;

/** Calls that have reached an upstream. */
const askedCalls = (): number => gateway.simulator.totalCalls + patient.asked.length;

interface Leaving {
  readonly provider: string;
  readonly stream: boolean;
  /** Events to have read; absent: the client leaves as soon as the upstream was asked. */
  readonly after?: number;
  readonly svc?: object;
  readonly key?: string;
}

/** A call whose client leaves. Resolves when it has, with what names its record. */
async function leave({ provider, stream, after, svc, key }: Leaving): Promise<string> {
  const app = `run-${++runs}`;
  const going = new AbortController();
  const asked = askedCalls();
  const body = {
    stream,
    svc: {
      route: { providers: { order: [provider], only: [provider, "brief"] } },
      metadata: { app },
      ...svc,
    },
  };
  const response = start(gateway, body, { signal: going.signal, ...(key !== undefined && { key }) });
  response.catch(() => {});
  if (after === undefined) await until("the call has reached the upstream", () => askedCalls() > asked);
  else await readEvents(await response, after);
  going.abort();
  return app;
}

async function readEvents(response: Response, count: number): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (let text = ""; text.split("\n\n").length <= count; ) {
    const { value, done } = await reader.read();
    if (done) return;
    text += Buffer.from(value).toString("latin1");
  }
}

/** The one record of a run. It is asked for once it is stored, when a second one would be, too. */
async function recordOfRun(app: string) {
  let ids: string[] = [];
  await until(`${app} is recorded`, async () => {
    const { json } = await gateway.call("GET", "/v1/requests?limit=500");
    ids = json.data
      .filter((row: { app_id: string }) => row.app_id === app)
      .map((r: { request_id: string }) => r.request_id);
    return ids.length > 0;
  });
  expect(ids).toHaveLength(1);
  const record = await recordOf(gateway, ids[0] as string);
  const amounts = (await charges(gateway)).get(record.request_id) ?? [];
  expect(amounts).toEqual(record.cost_micro === 0 ? [] : [-record.cost_micro]);
  return record;
}

/** From here on calls follow this policy. */
async function routeBy(name: string, ...lines: readonly string[]): Promise<void> {
  const body = { name, yaml: lines.join("\n") };
  const created = await gateway.call("POST", "/v1/policies", { body });
  const activated = await gateway.call("POST", `/v1/policies/${name}/activate`, { body: { version: 1 } });
  expect([created.status, activated.status]).toEqual([201, 200]);
}

/** Resolves when the gateway has closed the last upstream call: test/timed/inference/exchange/disconnect.test.ts has within what time. */
async function closedSoon(): Promise<void> {
  await until("the upstream call is closed", () => gateway.simulator.openCalls, equals(0));
  expect(gateway.simulator.calls.at(-1)?.closedByPeer).toBe(true);
}

const CANCELLED = { status: "cancelled", http_status: 499, attempts: 1 };

describe("cancel, the default", () => {
  test.each([
    ["before the upstream's head", { provider: "mute", stream: true }],
    ["after its head, before the first token", { provider: "late", stream: true }],
    ["a call that is not streamed, before the head", { provider: "mute", stream: false }],
    ["one that is not streamed, with half its answer there", { provider: "halfway", stream: false }],
  ])("T16, T17: %s: closes the upstream within a second and costs nothing", async (_, leaving) => {
    const app = await leave(leaving);
    await closedSoon();
    const record = await recordOfRun(app);
    expect(record).toMatchObject({ ...CANCELLED, cost_micro: 0, usage_source: "none", output_tokens: 0 });
    expect(attemptsOf(record)[0]).toMatch(/^cancelled \d+$/);
  });

  test("T16, T20, T22: mid-stream: closes within a second, one record, tokens and cost at the model's price", async () => {
    const app = await leave({ provider: "talks", stream: true, after: 12 });
    await closedSoon();
    const record = await recordOfRun(app);
    expect(record).toMatchObject({ ...CANCELLED, usage_source: "estimated" });
    // What was read is at least 10 tokens of 5 bytes; what was under way adds a little.
    expect(record.output_tokens).toBeGreaterThanOrEqual(12);
    expect(record.output_tokens).toBeLessThan(250);
    expect(record.input_tokens).toBeGreaterThan(0);
    expect(record.cost_micro).toBe(record.input_tokens * 1 + record.output_tokens * 2);
    expect(attemptsOf(record)).toEqual(["cancelled 200"]);
  });

  test("T22: an early report of usage does not make free what came after it", async () => {
    const app = await leave({ provider: "early", stream: true, after: 30 });
    const record = await recordOfRun(app);
    expect(record).toMatchObject({ ...CANCELLED, usage_source: "estimated", input_tokens: 50 });
    // 28 pieces of 12 bytes, and the one token that was reported.
    expect(record.output_tokens).toBeGreaterThanOrEqual(28 * 3 + 1);
  });

  test("T23: one that leaves after the last byte pays in full, by the upstream's report", async () => {
    const app = await leave({ provider: "brief", stream: true, after: 10_000 });
    expect(await recordOfRun(app)).toMatchObject({
      status: "ok",
      output_tokens: 30,
      usage_source: "provider",
    });
  });

  test("T19: no other endpoint is asked for a client that is gone", async () => {
    const asked = gateway.simulator.totalCalls;
    const held = patient.asked.length;
    const app = await leave({ provider: "fails", stream: false });
    expect(attemptsOf(await recordOfRun(app))).toEqual(["cancelled 0"]);
    const drained = await leave({ provider: "fails", stream: true, svc: { on_disconnect: "drain" } });
    const record = await recordOfRun(drained);
    expect(attemptsOf(record)).toEqual(["http_error 500 server"]);
    // T23: an upstream's error is nobody's completion.
    expect(record).toMatchObject({ status: "cancelled", cost_micro: 0, usage_source: "none" });
    // The drained one alone was answered, with what the simulator says.
    expect([patient.asked.length, gateway.simulator.totalCalls]).toEqual([held + 2, asked + 1]);
  });
});

describe("drain", () => {
  const DRAIN = { on_disconnect: "drain" };
  let drainingKey: string;
  beforeAll(async () => {
    const made = await gateway.call("POST", "/v1/keys", {
      body: {
        project_id: (await gateway.call("GET", "/v1/projects")).json.data[0].id,
        name: "drains",
        on_disconnect: "drain",
      },
    });
    drainingKey = made.json.secret;
  });

  test.each([
    ["asked by the request, streamed", { provider: "brief", stream: true, after: 4, svc: DRAIN }, 30],
    [
      "asked by the request, before the head, not streamed",
      { provider: "thinks", stream: false, svc: DRAIN },
      9,
    ],
    ["asked by the request, before the head, streamed", { provider: "thinks", stream: true, svc: DRAIN }, 9],
    ["a provider that bills anyway", { provider: "bills", stream: true, after: 4 }, 30],
    ["a provider that bills anyway, before its head", { provider: "bills-later", stream: false }, 9],
    [
      "a provider that bills anyway, whatever is asked",
      { provider: "bills", stream: true, after: 4, svc: { on_disconnect: "cancel" } },
      30,
    ],
  ])("T21: %s: read to the end and billed as reported", async (_, leaving, tokens) => {
    const app = await leave(leaving);
    const record = await recordOfRun(app);
    expect(record).toMatchObject({ ...CANCELLED, usage_source: "provider", output_tokens: tokens });
    expect(record.cost_micro).toBe(record.input_tokens + 2 * tokens);
    expect(attemptsOf(record)).toEqual(["ok 200"]);
    expect(gateway.simulator.calls.at(-1)?.closedByPeer).toBe(false);
  });

  test("T21: the key's setting drains, and the request's word is above it", async () => {
    const drained = await leave({ provider: "brief", stream: true, after: 4, key: drainingKey });
    expect(await recordOfRun(drained)).toMatchObject({ usage_source: "provider", output_tokens: 30 });
    const svc = { on_disconnect: "cancel" };
    const cancelled = await leave({ provider: "talks", stream: true, after: 4, key: drainingKey, svc });
    await closedSoon();
    expect(await recordOfRun(cancelled)).toMatchObject({ usage_source: "estimated" });
  });

  test("T21: a policy's word is above the key's, and the request's above both", async () => {
    await routeBy(
      "leaving",
      "version: 1",
      "rules:",
      "  - {match: {tag: drains}, then: {on_disconnect: drain}}",
      "  - {match: {tag: cancels}, then: {on_disconnect: cancel}}",
    );
    const brief = { provider: "brief", stream: true, after: 4 };
    const talks = { provider: "talks", stream: true, after: 4 };
    const sources: string[] = [];
    for (const [leaving, tag, more] of [
      [brief, "drains", {}],
      [talks, "drains", { on_disconnect: "cancel" }],
      [{ ...talks, key: drainingKey }, "cancels", {}],
      [{ ...brief, key: drainingKey }, "cancels", DRAIN],
    ] as const) {
      const metadata = { app: `run-${runs + 1}`, tags: { [tag]: "" } };
      const app = await leave({ ...leaving, svc: { metadata, ...more } });
      sources.push((await recordOfRun(app)).usage_source);
    }
    expect(sources).toEqual(["provider", "estimated", "estimated", "provider"]);
    await gateway.call("POST", "/v1/policies/leaving/deactivate", { body: {} });
  });

  test("T21: only so many are drained at a time, for a bounded time, the others are cancelled", async () => {
    const leaving = { provider: "stalls", stream: true, after: 3, svc: DRAIN };
    const soon = rest(DRAIN_MS).then(() => "soon");
    const apps = await Promise.all([1, 2, 3, 4, 5].map(() => leave(leaving)));
    await until("both calls are open", () => gateway.simulator.openCalls, equals(2));
    expect(await metric(gateway, "weir_calls_draining")).toBe(2);
    const closed = until("both calls are closed", () => gateway.simulator.openCalls, equals(0));
    expect(await Promise.race([closed, soon])).toBe("soon");
    await closed;
    for (const app of apps) {
      const record = await recordOfRun(app);
      expect(record).toMatchObject({ ...CANCELLED, usage_source: "estimated" });
      expect(record.cost_micro).toBeGreaterThan(0);
    }
  });
});

test("T65: a client that leaves while its prompt is counted for the hold takes nothing and asks nobody", async () => {
  const content = "All the rivers run into the sea, yet the sea is not full. ".repeat(60_000);
  const body = {
    // The dearest outcome is near the balance, so that the prompt is counted exactly.
    max_tokens: 10_000,
    messages: [{ role: "user", content }],
    svc: { route: { providers: { only: ["cheap"] } } },
  };
  /** @returns false where the count was over, and the call answered, before it was seen */
  const leavesInTime = async (key: string): Promise<boolean> => {
    const going = new AbortController();
    let isAnswered = false;
    const response = start(gateway, body, { signal: going.signal, key }).then(
      () => {
        isAnswered = true;
      },
      () => {},
    );
    const isCounting = async () =>
      (await metric(gateway, "weir_slots_taken")) === 1 && (await metric(gateway, "weir_holds_open")) === 0;
    await until(
      "the call is admitted and holds nothing yet, or is answered",
      async () => isAnswered || (await isCounting()),
    );
    const isInTime = !isAnswered;
    going.abort();
    await response;
    await atRest(gateway);
    return isInTime;
  };
  let key = "";
  let asked = 0;
  let isInTime = false;
  for (const one of poor) {
    [key, asked] = [one, gateway.simulator.totalCalls];
    isInTime = await leavesInTime(key);
    if (isInTime) break;
  }
  expect(isInTime).toBe(true);
  expect(gateway.simulator.totalCalls).toBe(asked);
  let rows: object[] = [];
  await until("the call is recorded", async () => {
    rows = (await gateway.call("GET", "/v1/requests", { key })).json.data;
    return rows.length > 0;
  });
  expect(rows).toMatchObject([
    { status: "cancelled", http_status: 499, error_code: "", cost_micro: 0, attempts: 0 },
  ]);
  const { json: credits } = await gateway.call("GET", "/v1/credits", { key });
  expect(credits.available_micro_usd).toBe(POOR_MICRO_USD);
});
