/** Calls that go on without their client: their stream is read again, from the start or from an event on, and they are charged once. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  begin,
  eventsIn,
  idsIn,
  leftAfter,
  resumed,
  STREAMS,
  said,
  wholeEvents,
  withoutIds,
} from "../../../../support/detached/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { atRest } from "../../../../support/observations.ts";
import { until } from "../../../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "talks", instruction: { tokens: 40, gap_ms: 5 } },
      { provider: "mute", instruction: { fault: "hang" } },
      { provider: "fails", instruction: { status: 500 } },
      { provider: "speaks-messages", dialects: ["messages"], instruction: { tokens: 40, gap_ms: 5 } },
      { provider: "speaks-gemini", dialects: ["gemini"], instruction: { tokens: 40, gap_ms: 5 } },
    ],
  });
});
afterAll(() => gateway?.stop());
afterEach(() => atRest(gateway));

const by = (provider: string) => ({ route: { providers: { only: [provider] } } });

describe.each(["talks", "speaks-messages", "speaks-gemini"])("at an upstream that %s", (provider) => {
  test.each(Object.keys(STREAMS))(
    "a %s stream is read to its end after its client has left",
    async (format) => {
      const { id, text } = await leftAfter(gateway, format, 3, { svc: by(provider) });
      const got = wholeEvents(text);
      const whole = await resumed(gateway, id);
      expect(whole).toMatchObject({ status: 200, type: "text/event-stream; charset=utf-8" });
      const ids = idsIn(whole.text);
      expect(ids).toEqual(ids.map((_, index) => index));
      expect(whole.text.startsWith(got)).toBe(true);
      const rest = await resumed(gateway, id, String(idsIn(got).at(-1)));
      expect(got + rest.text).toBe(whole.text);
      const all = await resumed(gateway, id, String(ids.at(-1)));
      expect(all.text).toBe("");
    },
  );
});

test("a client that stays gets what it would get of a plain call, with numbers", async () => {
  const told = async (on_disconnect: string) =>
    Buffer.from(
      await (await begin(gateway, "chat", { svc: { ...by("talks"), on_disconnect } })).arrayBuffer(),
    ).toString();
  const plain = await told("cancel");
  const detached = await told("detach");
  expect(idsIn(detached)).toHaveLength(eventsIn(plain).length);
  const constant = (text: string) =>
    text.replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, "ID").replaceAll(/"created":\d+/g, "CREATED");
  expect(constant(withoutIds(detached))).toBe(constant(plain));
});

test("three readers at once get the same, one of them from the middle on", async () => {
  const { id } = await leftAfter(gateway, "chat", 2, { svc: by("talks") });
  const [first, second, third] = await Promise.all([
    resumed(gateway, id),
    resumed(gateway, id),
    resumed(gateway, id, "9"),
  ]);
  expect(second.text).toBe(first.text);
  expect(idsIn(third.text)[0]).toBe(10);
  expect(first.text.endsWith(third.text)).toBe(true);
});

test("it is charged once for all it said, as if its client had stayed", async () => {
  const { id } = await leftAfter(gateway, "chat", 2, { svc: by("talks") });
  await resumed(gateway, id);
  const { json } = await until(
    "it is recorded",
    () => gateway.call("GET", `/v1/generation/${id}`),
    ({ status }) => status === 200,
  );
  expect(json.usage.output_tokens).toBe(40);
});

test("a call that is not streamed goes on, too", async () => {
  const going = new AbortController();
  const asked = gateway.simulator.totalCalls;
  const response = begin(gateway, "chat", {
    body: { stream: false },
    svc: by("talks"),
    signal: going.signal,
    headers: { "idempotency-key": "whole" },
  });
  response.catch(() => {});
  await until("the upstream is asked", () => gateway.simulator.totalCalls > asked);
  going.abort();
  const again = await begin(gateway, "chat", {
    body: { stream: false },
    svc: by("talks"),
    headers: { "idempotency-key": "whole" },
  });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const id = again.headers.get("x-svc-request-id") ?? "";
  const answer = await again.text();
  const read = await resumed(gateway, id);
  expect(read).toEqual({ status: 200, type: "application/json", text: answer });
});

test("the answer of one that failed is told as an error", async () => {
  const failed = await begin(gateway, "chat", { body: { stream: false }, svc: by("fails") });
  const answer = await failed.text();
  const { status, type, text } = await resumed(gateway, failed.headers.get("x-svc-request-id") ?? "");
  expect([status, type]).toEqual([409, "application/json"]);
  expect(JSON.parse(text).error).toMatchObject({ code: "state", details: { status: failed.status, answer } });
});

test("a repetition of its Idempotency-Key gets the running stream, and later the same once more", async () => {
  const headers = { "idempotency-key": "again" };
  const { id } = await leftAfter(gateway, "messages", 2, { svc: by("talks"), headers });
  const repeat = async () => {
    const response = await begin(gateway, "messages", { svc: by("talks"), headers });
    const { headers: told } = response;
    return {
      id: told.get("x-svc-request-id"),
      replayed: told.get("idempotent-replayed"),
      text: said(Buffer.from(await response.arrayBuffer()).toString("latin1")),
    };
  };
  const running = await repeat();
  const { text } = await resumed(gateway, id);
  expect(running).toEqual({ id, replayed: "true", text });
  expect(await repeat()).toEqual(running);
});

test("cancelled, it ends with an error of its format, and what it said is charged", async () => {
  const { id } = await leftAfter(gateway, "messages", 4, { svc: by("talks") });
  const { status, json } = await gateway.call("POST", `/v1/generation/${id}/cancel`);
  expect([status, json]).toEqual([200, { id, cancelled: true }]);
  const { text } = await resumed(gateway, id);
  expect(eventsIn(text).at(-1)).toMatch(/event: error\ndata: .*"code":"cancelled"/);
  const ids = idsIn(text);
  expect(ids).toEqual(ids.map((_, index) => index));
  const record = await until(
    "it is recorded",
    () => gateway.call("GET", `/v1/generation/${id}`),
    (answer) => answer.status === 200,
  );
  expect(record.json.usage.output_tokens).toBeLessThan(40);
  expect(record.json.cost.total_micro_usd).toBeGreaterThan(0);
  expect((await gateway.call("POST", `/v1/generation/${id}/cancel`)).status).toBe(200);
});

test("one that no upstream answers ends with the error as an event", async () => {
  const going = new AbortController();
  const asked = gateway.simulator.totalCalls;
  const response = begin(gateway, "chat", {
    svc: by("mute"),
    signal: going.signal,
    headers: { "idempotency-key": "mute" },
  });
  response.catch(() => {});
  await until("the upstream is asked", () => gateway.simulator.totalCalls > asked);
  going.abort();
  const again = await begin(gateway, "chat", { svc: by("mute"), headers: { "idempotency-key": "mute" } });
  const id = again.headers.get("x-svc-request-id") ?? "";
  await gateway.call("POST", `/v1/generation/${id}/cancel`);
  const text = said(await again.text());
  expect(text).toMatch(/^id: 0\ndata: \{"error":\{.*"code":"cancelled".*\n\n$/);
});

describe("who may read", () => {
  test("a key of another environment, and a call that is not detached, find nothing", async () => {
    const { id } = await leftAfter(gateway, "chat", 1, { svc: by("talks") });
    expect((await resumed(gateway, id, undefined, gateway.testKey)).status).toBe(404);
    expect((await resumed(gateway, id)).status).toBe(200);
    const plain = await begin(gateway, "chat", { svc: { ...by("talks"), on_disconnect: "drain" } });
    await plain.text();
    expect((await resumed(gateway, plain.headers.get("x-svc-request-id") ?? "")).status).toBe(404);
  });

  test("a Last-Event-ID that is none is refused by name", async () => {
    const { id } = await leftAfter(gateway, "chat", 1, { svc: by("talks") });
    const { status, text } = await resumed(gateway, id, "abc");
    expect([status, JSON.parse(text).error.param]).toEqual([400, "Last-Event-ID"]);
    expect(JSON.parse(text).error.message).toContain("leave the header out to read from the start");
    await resumed(gateway, id);
  });

  test("the id of an answer in place of its call's is refused with where that is", async () => {
    const { id } = await leftAfter(gateway, "chat", 1, { svc: by("talks") });
    const { status, text } = await resumed(gateway, `chatcmpl-${id}`);
    expect([status, JSON.parse(text).error.param]).toEqual([400, "/id"]);
    expect(JSON.parse(text).error.message).toContain("x-svc-request-id");
    await resumed(gateway, id);
  });
});
