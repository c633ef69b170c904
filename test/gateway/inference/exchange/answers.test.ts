/**
 * Answers that the gateway keeps, for a repeated `Idempotency-Key` and as stored responses: which may be kept, for whom, for
 * how long, and what becomes of a call whose client is not there to take its answer.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { addOrgs } from "../../../support/money/orgs.ts";
import { atRest, charges, metric, start } from "../../../support/observations.ts";
import { startProvider, type TestProvider } from "../../../support/upstream/fixtures.ts";
import { until } from "../../../support/wait.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-answers-"));
const BILLS = { quirks: { bills_after_disconnect: true } };
/** Says half of a stream of the simulator's, and the other half once it is told to go on. */
let halting: TestProvider;
let goOn: () => void;
const optionsOf = (haltingUrl: string) => ({
  folder,
  endpoints: [
    { provider: "echoes", instruction: { tokens: 4 } },
    { provider: "bills", baseUrl: `${haltingUrl}/v1`, ...BILLS },
    { provider: "mute", instruction: { fault: "hang" } },
    { provider: "mute-messages", dialects: ["messages"], instruction: { fault: "hang" } },
    { provider: "large", instruction: { bytes: 6_000_000 } },
    { provider: "streams", instruction: { total_bytes: 3_000_000 } },
  ],
});
let gateway: TestGateway;
const keys = {} as Record<"zdr" | "brief" | "off" | "usual", string>;

beforeAll(async () => {
  halting = await startProvider();
  const goesOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  halting.answer = async ({ path, body }, response) => {
    const whole = await (await fetch(`${gateway.simulator.url}${path}`, { method: "POST", body })).text();
    const half = whole.indexOf("\n\n", whole.length / 2) + 2;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(whole.slice(0, half));
    await goesOn;
    response.end(whole.slice(half));
  };
  const options = optionsOf(halting.url);
  await (await testGateway({ ...options, cells: 0 })).stop();
  const creditMicroUsd = 50_000_000;
  Object.assign(
    keys,
    await addOrgs(folder, {
      zdr: { creditMicroUsd, dataPolicy: { zdr: true } },
      brief: { creditMicroUsd, dataPolicy: { retentionDays: 0 } },
      off: { creditMicroUsd, dataPolicy: { logging: "off" } },
      usual: { creditMicroUsd },
    }),
  );
  gateway = await testGateway(options);
});
afterAll(async () => {
  await gateway?.stop();
  await halting?.close();
  rmSync(folder, { recursive: true, force: true });
});

let used = 0;
const newKey = () => ({ "idempotency-key": `answer-${++used}` });
const user = (content: string) => [{ role: "user", content }];
const only = (provider: string, more: object = {}) => ({
  model: "test/model",
  svc: { route: { providers: { only: [provider] } }, ...more },
});
const settles = async () => [...(await charges(gateway)).values()].flat().length;

/** Whether a text stands in the store: in LMDB, where every commit has arrived within a moment. */
const isStored = (text: string): boolean => readFileSync(join(folder, "data/weir.lmdb")).includes(text);

describe("an Idempotency-Key", () => {
  test("with a body that is hashed off the event loop", async () => {
    const headers = newKey();
    const body = { messages: user("long ".repeat(80_000)) };
    const first = await gateway.chat(body, { headers });
    expect(first.status).toBe(200);
    const again = await gateway.chat(body, { headers });
    expect([again.headers.get("idempotent-replayed"), again.text]).toEqual(["true", first.text]);
    const other = await gateway.chat({ messages: user("lung ".repeat(80_000)) }, { headers });
    expect([other.status, other.json.error.code]).toEqual([409, "idempotency_mismatch"]);
  });

  test("of a test key is none of a live key", async () => {
    const headers = newKey();
    expect((await gateway.chat({}, { headers, key: gateway.testKey })).status).toBe(200);
    const live = await gateway.chat({}, { headers });
    expect([live.status, live.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });

  test("under zero data retention: charged once, and its answer is kept nowhere", async () => {
    const headers = newKey();
    const body = { messages: user("say it") };
    const first = await gateway.chat(body, { headers, key: keys.zdr });
    expect(first.status).toBe(200);
    const again = await gateway.chat(body, { headers, key: keys.zdr });
    expect([again.status, again.json.error.code]).toEqual([409, "state"]);
    expect(again.json.error.message).toContain("not kept");
    const asked = { ...body, svc: { route: { require: { zdr: true } } } };
    const own = newKey();
    const required = await gateway.chat(asked, { headers: own, key: keys.usual });
    if (required.status === 200)
      expect((await gateway.chat(asked, { headers: own, key: keys.usual })).status).toBe(409);
  });

  test("a cancelled stream that was read to its end for its provider's bill is not given for a whole one", async () => {
    const headers = newKey();
    const body = { ...only("bills", { on_disconnect: "cancel" }), stream: true };
    const left = new AbortController();
    const response = await start(gateway, body, { headers, signal: left.signal });
    await (response.body as ReadableStream<Uint8Array>).getReader().read();
    left.abort();
    await until(
      "the call is read to its end",
      async () => (await metric(gateway, "weir_calls_draining")) === 1,
    );
    goOn();
    await atRest(gateway);
    const before = await settles();
    const again = await start(gateway, body, { headers });
    expect(again.status).toBe(409);
    expect(((await again.json()) as { error: { code: string } }).error.code).toBe("state");
    expect(await settles()).toBe(before);
  });

  test("T65: who leaves an answer that was sent in full takes no place among the drains", async () => {
    const json = JSON.stringify({ ...only("large"), messages: user("Hello") });
    const before = await settles();
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.liveKey}\r\n` +
        `idempotency-key: ${newKey()["idempotency-key"]}\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
    );
    await until("the call is settled", async () => (await settles()) > before);
    await atRest(gateway);
    socket.destroy();
    for (let look = 0; look < 30; look++) expect(await metric(gateway, "weir_calls_draining")).toBe(0);
  });

  test("a stream given again goes out as its reader takes it", async () => {
    const headers = newKey();
    const body = { ...only("streams"), stream: true };
    const first = await (await start(gateway, body, { headers })).text();
    const again = await start(gateway, body, { headers });
    // Its length is known: all of it is handed over as the socket takes it, however slowly.
    expect(again.headers.get("content-length")).toBe(String(Buffer.byteLength(first)));
    expect(again.headers.get("content-type")).toContain("text/event-stream");
    expect(await again.text()).toBe(first);
  });
});

test("T17, T65: who leaves while a large body is read, translated or counted leaves nothing taken and pays nothing", async () => {
  const messages = user("a long story ".repeat(60_000));
  const calls = [
    ["/v1/chat/completions", { ...only("mute"), messages }],
    ["/v1/chat/completions", { ...only("mute-messages"), messages, stream: true }],
    ["/v1/svc/count_tokens", { model: "weir/sim-small", messages }],
  ] as const;
  await atRest(gateway);
  const before = await settles();
  for (const [path, body] of calls) {
    const json = JSON.stringify(body);
    const head =
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.liveKey}\r\n` +
      `content-length: ${json.length}\r\n\r\n`;
    const sockets = Array.from({ length: 4 }, () => connect(Number(new URL(gateway.url).port), "127.0.0.1"));
    const sent = sockets.map(
      (socket) =>
        new Promise<void>((resolve) => socket.on("error", () => {}).write(head + json, () => resolve())),
    );
    await Promise.all(sent);
    if (path !== "/v1/svc/count_tokens")
      await until("a call is under way", async () => (await metric(gateway, "weir_calls_live")) > 0);
    for (const socket of sockets) socket.destroy();
    await atRest(gateway);
  }
  expect(await settles()).toBe(before);
});

describe("a stored response", () => {
  const respond = (input: string, key: string) =>
    gateway.call("POST", "/v1/responses", { body: { model: "weir/sim-small", input }, key });

  test.each(["zdr", "brief", "off"] as const)("is kept nowhere under the policy: %s", async (policy) => {
    const { status, json } = await respond(`under ${policy}`, keys[policy]);
    expect(status).toBe(200);
    const got = await gateway.call("GET", `/v1/responses/${json.id}`, { key: keys[policy] });
    expect(got.status).toBe(404);
    // What was committed before it has arrived, so it would have, too.
    await respond(`after ${policy}`, keys.usual);
    await until("a later one is in the store", () => isStored(`after ${policy}`));
    if (policy !== "brief") expect(isStored(`under ${policy}`)).toBe(false);
  });

  test("belongs to its project alone", async () => {
    const { json } = await respond("mine and kept", keys.usual);
    await until("it is in the store", () => isStored("mine and kept"));
    const path = `/v1/responses/${json.id}`;
    expect((await gateway.call("GET", path, { key: keys.usual })).status).toBe(200);
    expect((await gateway.call("GET", path)).status).toBe(404);
    expect((await gateway.call("DELETE", path)).status).toBe(404);
    const body = { model: "weir/sim-small", input: "go on", previous_response_id: json.id };
    expect((await gateway.call("POST", "/v1/responses", { body })).status).toBe(400);
    expect((await gateway.call("POST", "/v1/responses", { body, key: keys.usual })).status).toBe(200);
  });
});

test("a body of many things that a dialect has no place for: the first hundred are named, the others counted", async () => {
  const strange = Array.from({ length: 350 }, () => ({ type: "strange", x: "y" }));
  const content = [{ type: "text", text: "Hello" }, ...strange];
  const { status, json } = await gateway.chat({
    model: "weir/sim-messages",
    messages: [{ role: "user", content }],
  });
  expect(status).toBe(200);
  expect(json.svc.warnings).toHaveLength(101);
  expect(json.svc.warnings.at(-1)).toBe("dropped: 250 more");
});
