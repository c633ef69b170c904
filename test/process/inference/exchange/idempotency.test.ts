/**
 * `Idempotency-Key` through the whole gateway: a repeated request gets the first answer to the byte and is charged once,
 * whatever happens between the two.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeFolder, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { atRest, charges, metric, requestIdOf, start } from "../../../support/observations.ts";
import { spawnGateway } from "../../../support/spawned-gateway.ts";
import { equals, until } from "../../../support/wait.ts";

// No records are read here, so there is no engine; a stop waits a sixth of this for one that could take the last of them.

let gateway: TestGateway;
let slow: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
  slow = await testGateway({
    endpoints: [{ provider: "slow", instruction: { gap_ms: 20, tokens: 30 } }],
    settings: { limits: { max_stored_answer_bytes: 6000 } },
  });
});
afterAll(async () => {
  await gateway.stop();
  await slow.stop();
});

let used = 0;
const newKey = () => ({ "idempotency-key": `key-${++used}` });
const user = (content: string) => [{ role: "user", content }];
const settles = async (of: TestGateway) => [...(await charges(of)).values()].flat().length;

/** A good call of every route that is billed. */
const PROSE = "Water finds its own level. ".repeat(40);
const ROUTES: readonly (readonly [path: string, body: Record<string, unknown>, streams: boolean])[] = [
  ["/v1/chat/completions", { model: "weir/sim-small", messages: user(PROSE) }, true],
  ["/v1/completions", { model: "weir/sim-small", prompt: PROSE }, true],
  ["/v1/responses", { model: "weir/sim-small", input: PROSE }, true],
  ["/v1/messages", { model: "weir/sim-small", max_tokens: 20, messages: user(PROSE) }, true],
  ["/v1/svc/generate", { model: "weir/sim-small", messages: user(PROSE) }, true],
  ["/v1/embeddings", { model: "weir/sim-embed", input: PROSE }, false],
  ["/v1/svc/embed", { model: "weir/sim-embed", input: [PROSE] }, false],
  ["/v1/svc/rerank", { model: "weir/sim-rerank", query: "Hi", documents: [PROSE, "Ho"] }, false],
];
const WAYS = ROUTES.flatMap(([path, body, streams]) => [
  [`${path}, whole`, path, body] as const,
  ...(streams ? [[`${path}, streamed`, path, { ...body, stream: true }] as const] : []),
]);

describe("the same request again", () => {
  test.each(WAYS)("%s: the first answer to the byte, one charge", async (_, path, body) => {
    const headers = newKey();
    const before = await settles(gateway);
    const first = await gateway.call("POST", path, { body, headers });
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([200, null]);
    const again = await gateway.call("POST", path, { body, headers });
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(requestIdOf(again)).toBe(requestIdOf(first));
    expect((await settles(gateway)) - before).toBe(1);
  });

  test("of fifty at once one is made; the others are told that it runs, or get its answer", async () => {
    const headers = newKey();
    const asked = gateway.simulator.totalCalls;
    const body = { messages: user("at once") };
    const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.chat(body, { headers })));
    expect(gateway.simulator.totalCalls - asked).toBe(1);
    const texts = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text));
    expect(texts.size).toBe(1);
    for (const { status, json } of answers) {
      if (status !== 200) expect([status, json.error.code]).toEqual([409, "idempotency_in_progress"]);
    }
  });

  test("a call under way: 409 that may be retried, and once it is over its answer", async () => {
    const body = { model: "test/model", stream: true, max_tokens: 5 };
    /** Asks again while a call runs. */
    const askedAgain = async () => {
      const headers = newKey();
      const running = (await start(slow, body, { headers })).text();
      const other = await slow.chat({ ...body, max_tokens: 6 }, { headers });
      const same = await start(slow, body, { headers });
      return { headers, text: await running, other, same, told: await same.text() };
    };
    // One that was over by then is replayed, and another call is made.
    const { headers, text, other, same, told } = await until(
      "it runs when it is asked for again",
      askedAgain,
      (seen) => seen.same.status === 409,
    );
    expect([other.status, other.json.error.code]).toEqual([409, "idempotency_mismatch"]);
    expect(same.headers.get("retry-after")).toBe("1");
    expect(same.headers.get("x-should-retry")).toBeNull();
    expect(JSON.parse(told).error.code).toBe("idempotency_in_progress");
    await atRest(slow);
    expect(await (await start(slow, body, { headers })).text()).toBe(text);
  });

  test("another body: 409 that no retry cures", async () => {
    const headers = newKey();
    await gateway.chat({ messages: user("one") }, { headers });
    const other = await gateway.chat({ messages: user("two") }, { headers });
    expect([other.status, other.json.error.code]).toEqual([409, "idempotency_mismatch"]);
    expect(other.headers.get("x-should-retry")).toBe("false");
  });

  test("keys are told apart by project, and by route", async () => {
    const headers = newKey();
    const project = await gateway.call("POST", "/v1/projects", { body: { slug: "other", name: "Other" } });
    const made = await gateway.call("POST", "/v1/keys", {
      body: { project_id: project.json.id, name: "other", scopes: ["inference"] },
    });
    const first = await gateway.chat({}, { headers });
    const other = await gateway.chat({}, { headers, key: made.json.secret });
    expect([other.status, other.headers.get("idempotent-replayed")]).toEqual([200, null]);
    expect(requestIdOf(other)).not.toBe(requestIdOf(first));
  });

  test.each([["x".repeat(129)], ["two words"], ["ümlaut"]])("a key that is none (%s): 400", async (key) => {
    const { status, json } = await gateway.chat({}, { headers: { "idempotency-key": encodeURI(key) } });
    if (encodeURI(key).length <= 128) expect(status).toBe(200);
    else expect([status, json.error.code]).toEqual([400, "idempotency_key_invalid"]);
  });
});

describe("what may be tried again", () => {
  test("a failure that cost nothing leaves the key free", async () => {
    const failing = await testGateway({
      endpoints: [{ provider: "once", instruction: { status: 500, times: 1 } }],
    });
    const headers = newKey();
    const body = { model: "test/model" };
    expect((await failing.chat(body, { headers })).status).toBe(502);
    const again = await failing.chat(body, { headers });
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, null]);
    expect(await settles(failing)).toBe(1);
    await failing.stop();
  });

  test("a refusal leaves the key free", async () => {
    const headers = newKey();
    expect((await gateway.chat({ max_tokens: -1 }, { headers })).status).toBe(400);
    expect((await gateway.chat({}, { headers })).status).toBe(200);
  });

  test("a stream that broke after content was charged: it is replayed with its error", async () => {
    const breaking = await testGateway({
      endpoints: [{ provider: "breaks", instruction: { fault: "cut_mid", after: 6, tokens: 20 } }],
    });
    const headers = newKey();
    const body = { model: "test/model", stream: true };
    const first = await breaking.chat(body, { headers });
    expect(first.text).toContain('"error"');
    await atRest(breaking);
    expect((await breaking.chat(body, { headers })).text).toBe(first.text);
    expect(await settles(breaking)).toBe(1);
    await breaking.stop();
  });
});

describe("a client that leaves", () => {
  const body = { model: "test/model", stream: true, max_tokens: 6 };

  async function leave(extra: object = {}): Promise<Record<string, string>> {
    const headers = newKey();
    const left = new AbortController();
    const response = await start(slow, { ...body, ...extra }, { headers, signal: left.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let seen = ""; !/"content":"\w/.test(seen); ) seen += Buffer.from((await reader.read()).value ?? []);
    left.abort();
    return headers;
  }

  test("is expected back: the call goes on, and its answer is whole", async () => {
    let before = 0;
    /** Leaves a call. @returns undefined where it was over before it was seen to go on */
    const leftOne = async () => {
      before = await settles(slow);
      const left = await leave();
      let goesOn = false;
      await until("the call goes on, or is over", async () => {
        goesOn = (await metric(slow, "weir_calls_draining")) === 1;
        return goesOn || (await metric(slow, "weir_calls_live")) === 0;
      });
      await atRest(slow);
      return goesOn ? left : undefined;
    };
    const headers = (await until("a call goes on", leftOne)) ?? {};
    const again = await start(slow, body, { headers });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await again.text()).endsWith("data: [DONE]\n\n")).toBe(true);
    expect((await settles(slow)) - before).toBe(1);
  });

  test("who asked to cancel: what was delivered is billed once, and nothing runs again", async () => {
    const svc = { on_disconnect: "cancel" };
    let before = 0;
    let headers: Record<string, string> = {};
    // A call that was over before it was left is replayed: another is made.
    await until("a call is left in the midst of it", async () => {
      before = await settles(slow);
      headers = await leave({ svc });
      await atRest(slow);
      await until("its upstream call is over", () => slow.simulator.openCalls, equals(0));
      return slow.simulator.calls.at(-1)?.closedByPeer;
    });
    const again = await start(slow, { ...body, svc }, { headers });
    expect(again.status).toBe(409);
    expect(((await again.json()) as { error: { code: string } }).error.code).toBe("state");
    expect((await settles(slow)) - before).toBe(1);
  });

  test("an answer too large to keep is remembered all the same", async () => {
    const headers = newKey();
    const large = { model: "test/model", stream: true };
    const first = await start(slow, large, { headers });
    expect((await first.text()).length).toBeGreaterThan(6000);
    await atRest(slow);
    const again = await start(slow, large, { headers });
    expect(again.status).toBe(409);
    expect(((await again.json()) as { error: { message: string } }).error.message).toContain("too large");
  });
});

describe("a restart", () => {
  test("kill -9: what was answered is replayed, what was under way is free", async () => {
    const endpoints = [{ provider: "slow", instruction: { gap_ms: 20, tokens: 30 } }];
    const first = await spawnGateway({ engine: false, endpoints });
    const { folder } = first;
    try {
      const answered = newKey();
      const cut = newKey();
      const answer = await first.chat({}, { headers: answered });
      const running = await start(first, { stream: true }, { headers: cut });
      await running.body?.getReader().read();
      await first.kill("SIGKILL");
      const second = await testGateway({ endpoints, folder });
      const again = await second.chat({}, { headers: answered });
      expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([answer.text, "true"]);
      const anew = await start(second, { stream: true }, { headers: cut });
      expect([anew.status, anew.headers.get("idempotent-replayed")]).toEqual([200, null]);
      await anew.text();
      expect(await settles(second)).toBe(2);
      await second.stop();
    } finally {
      await first.simulator.close();
      removeFolder(folder);
    }
  });
});
