/** S4: what is kept of an org's calls has a quota, one for live and a smaller one for test keys. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import {
  fill,
  keptOf,
  MAX_LIVE,
  MAX_TEST,
  newKey,
  PROSE,
  respond,
  SETTINGS,
  WAYS,
} from "../../support/kept/fixtures.ts";
import { recordOf, requestIdOf } from "../../support/observations.ts";

const user = (content: string) => [{ role: "user", content }];

describe("S4: a test key that stores what it can", () => {
  let gateway: TestGateway;
  let stored: Answer[];
  let refused: Answer;
  beforeAll(async () => {
    gateway = await testGateway({ settings: SETTINGS });
    ({ stored, refused } = await fill(gateway, gateway.testKey));
  });
  afterAll(() => gateway.stop());

  const asTest = () => ({ key: gateway.testKey });

  test("S4: is refused at its quota, and the quota is not exceeded", async () => {
    const kept = await keptOf(gateway, "test");
    expect(stored.length).toBeGreaterThan(3);
    expect(kept.max_bytes).toBe(MAX_TEST);
    expect(kept.bytes).toBeLessThanOrEqual(MAX_TEST);
    expect(kept.bytes).toBe(kept.responses_bytes + kept.answers_bytes + kept.payloads_bytes);
    expect(kept.responses_bytes).toBeGreaterThan(MAX_TEST / 2);
    expect([refused.status, refused.json.error.code]).toEqual([403, "plan_limit"]);
    expect(refused.headers.get("x-should-retry")).toBe("false");
    const { message, details } = refused.json.error;
    expect(message).toMatch(/test keys.*GET \/v1\/limits.*DELETE \/v1\/responses/s);
    expect(details).toMatchObject({ environment: "test", max_bytes: MAX_TEST });
  });

  test("S4: a refusal comes before the upstream", async () => {
    const asked = gateway.simulator.totalCalls;
    expect((await respond(gateway, { store: true }, asTest())).status).toBe(403);
    expect((await respond(gateway, { store: true, stream: true }, asTest())).status).toBe(403);
    expect(gateway.simulator.totalCalls).toBe(asked);
  });

  test.each(WAYS)("S4: %s with an Idempotency-Key: refused before the upstream", async (_, path, body) => {
    const asked = gateway.simulator.totalCalls;
    const { status, json } = await gateway.call("POST", path, { ...asTest(), body, headers: newKey() });
    expect([status, json.error.code]).toEqual([403, "plan_limit"]);
    if (path === "/v1/messages")
      expect(json).toMatchObject({ type: "error", error: { type: "permission_error" } });
    expect(gateway.simulator.totalCalls).toBe(asked);
  });

  test("S4: a refused Idempotency-Key stays free for a later call", async () => {
    const headers = newKey();
    const body = { model: "weir/sim-small", max_tokens: 5, messages: user("Hi") };
    const ask = (key: string) => gateway.call("POST", "/v1/chat/completions", { body, headers, key });
    expect([(await ask(gateway.testKey)).status, (await ask(gateway.testKey)).status]).toEqual([403, 403]);
    expect((await ask(gateway.liveKey)).status).toBe(200);
  });

  test.each([
    ["whole", false],
    ["streamed", true],
  ])("S4: %s, without a word of `store`: answered, not stored, and a warning says so", async (_, stream) => {
    const answer = await respond(gateway, { stream }, asTest());
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"response_not_stored: quota"');
    const id = `resp_${requestIdOf(answer)}`;
    const read = await gateway.call("GET", `/v1/responses/${id}`, asTest());
    expect([read.status, read.json.error.code]).toEqual([404, "not_found"]);
    const next = await respond(gateway, { previous_response_id: id, store: false }, asTest());
    expect([next.status, next.json.error.param]).toEqual([400, "/previous_response_id"]);
  });

  test("S4: `store: false` is not concerned", async () => {
    const { status, json } = await respond(gateway, { store: false }, asTest());
    expect(status).toBe(200);
    expect(json.svc.warnings).not.toContain("response_not_stored: quota");
  });

  test.each([
    ["whole", false],
    ["streamed", true],
  ])("S4: %s: the payload is left out, and warning and record say so", async (_, stream) => {
    const body = { messages: user("Hi"), stream };
    const answer = await gateway.chat(body, asTest());
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"payload_not_kept: quota"');
    const record = await recordOf(gateway, requestIdOf(answer));
    expect(record.payload_state).toBe("off");
    const { json } = await gateway.call("GET", `/v1/generation/${requestIdOf(answer)}`);
    expect(json.warnings).toContain("payload_not_kept: quota");
  });

  test("S4: live keys have a quota of their own", async () => {
    const live = await respond(gateway, { store: true });
    expect(live.status).toBe(200);
    expect(live.text).not.toContain("quota");
    const kept = await keptOf(gateway, "live");
    expect(kept.max_bytes).toBe(MAX_LIVE);
    expect(kept.responses_bytes).toBeGreaterThan(PROSE.length);
    const record = await recordOf(gateway, requestIdOf(live));
    expect(record.payload_state).toBe("available");
  });

  test("S4: what was stored stays readable, and an answered Idempotency-Key is replayed", async () => {
    const [first] = stored;
    const read = await gateway.call("GET", `/v1/responses/${first?.json.id}`, asTest());
    expect([read.status, read.text]).toEqual([200, first?.text]);
  });

  test("S4: a deleted response makes room", async () => {
    const before = await keptOf(gateway, "test");
    for (const { json } of stored.slice(0, 3)) {
      expect((await gateway.call("DELETE", `/v1/responses/${json.id}`, asTest())).status).toBe(200);
    }
    const after = await keptOf(gateway, "test");
    expect(after.responses_bytes).toBeLessThan(before.responses_bytes - 3 * PROSE.length);
    const again = await respond(gateway, { store: true }, asTest());
    expect(again.status).toBe(200);
    expect((await keptOf(gateway, "test")).bytes).toBeLessThanOrEqual(MAX_TEST);
  });
});

describe("S4: many at once at the edge", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({ settings: SETTINGS });
  });
  afterAll(() => gateway.stop());

  test("S4: of 200 at once those that fit are answered and kept; the others are refused before the upstream", async () => {
    const asked = gateway.simulator.totalCalls;
    const body = { model: "weir/sim-small", max_tokens: 20, messages: user(PROSE) };
    const keys = Array.from({ length: 200 }, newKey);
    const ask = (headers: object) =>
      gateway.call("POST", "/v1/chat/completions", { body, headers, key: gateway.testKey });
    const answers = await Promise.all(keys.map(ask));
    const good = answers.filter(({ status }) => status === 200);
    const refusals = answers.filter(({ status }) => status !== 200);
    expect(good.length).toBeGreaterThan(5);
    expect(refusals.length).toBeGreaterThan(5);
    expect(new Set(refusals.map(({ json }) => json.error.code))).toEqual(new Set(["plan_limit"]));
    expect(gateway.simulator.totalCalls - asked).toBe(good.length);
    expect((await keptOf(gateway, "test")).bytes).toBeLessThanOrEqual(MAX_TEST);
    for (const [at, answer] of answers.entries()) {
      if (answer.status !== 200) continue;
      const again = await ask(keys[at] ?? {});
      expect([again.headers.get("idempotent-replayed"), again.text]).toEqual(["true", answer.text]);
    }
  });

  test("S4: room that a call took and did not use is free again", async () => {
    const { answers_bytes, bytes } = await keptOf(gateway, "test");
    expect(answers_bytes).toBeGreaterThan(0);
    const body = { model: "weir/sim-small", max_tokens: 20, messages: user(PROSE) };
    let [left, taken] = [MAX_TEST - bytes, 0];
    // One after the other, each takes only what its answer has.
    for (; taken < 1000; taken++) {
      const { status } = await gateway.call("POST", "/v1/chat/completions", {
        body,
        headers: newKey(),
        key: gateway.testKey,
      });
      if (status !== 200) break;
    }
    left = MAX_TEST - (await keptOf(gateway, "test")).bytes;
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left).toBeLessThan(SETTINGS.limits.max_stored_answer_bytes);
  });
});
