/** What is refused of background responses and by which words, what they do beside other features, and how they end otherwise than well. */
import { describe, expect, test } from "vitest";
import {
  backgroundGateway,
  begin,
  ENDLESS,
  endOf,
  hasSaid,
  modelOf,
  SHORT,
} from "../../../../support/background/fixtures.ts";
import { sseEvents } from "../../../../support/conformance/ask.ts";
import { expectResponse } from "../../../../support/wire/open-responses.ts";

const own = backgroundGateway({
  endpoints: [
    { model: "test/fails", provider: "fails", instruction: { status: 500 } },
    { model: "test/breaks", provider: "breaks", instruction: { tokens: 40, fault: "cut_mid", after: 8 } },
    {
      model: "test/breaks-spliced",
      provider: "breaks-spliced",
      dialects: ["responses"],
      instruction: { tokens: 40, fault: "cut_mid", after: 8 },
    },
    { model: "test/hangs", provider: "hangs", instruction: { fault: "hang" } },
    { model: "test/dear", provider: "dear", price: { input: 1, output: 1000 } },
  ],
  limits: { max_stored_answer_bytes: 20_000 },
});

const get = (path: string, key?: string) => own.gateway.call("GET", path, key === undefined ? {} : { key });
const cancel = (id: string, key?: string) =>
  own.gateway.call("POST", `/v1/responses/${id}/cancel`, key === undefined ? {} : { key });
const errorOf = ({ status, json }: { status: number; json: { error?: object } }) => ({
  status,
  ...json.error,
});
const eventsOf = async (id: string, after?: number) => {
  const from = after === undefined ? "" : `&starting_after=${after}`;
  const { status, text } = await get(`/v1/responses/${id}?stream=true${from}`);
  expect(status, text).toBe(200);
  return sseEvents(text).map(({ data }) => JSON.parse(data));
};

describe("is refused", () => {
  test.each<[string, Record<string, unknown>, object]>([
    [
      "without storing",
      { store: false },
      {
        param: "/background",
        message: expect.stringMatching(
          /^Background responses require store to be enabled: .*svc\.on_disconnect "detach"/,
        ),
      },
    ],
    ["by its type", { background: "yes" }, { param: "/background" }],
    ["beside an end with its client", { svc: { on_disconnect: "cancel" } }, { param: "/svc/on_disconnect" }],
    ["beside a reading to its end", { svc: { on_disconnect: "drain" } }, { param: "/svc/on_disconnect" }],
    ["without data retention", { svc: { route: { require: { zdr: true } } } }, { param: "/background" }],
    ["beside an unknown model", { model: "test/none" }, { param: "/model" }],
    ["beside an unknown response", { previous_response_id: "resp_none" }, { param: "/previous_response_id" }],
  ])("%s, as an ordinary error", async (_, body, wanted) => {
    const from = own.gateway.simulator.totalCalls;
    for (const stream of [false, true]) {
      const answer = await begin(own.gateway, { stream, ...body });
      expect(errorOf(answer)).toMatchObject({ status: expect.any(Number), ...wanted });
      expect([400, 404]).toContain(answer.status);
    }
    expect(own.gateway.simulator.totalCalls).toBe(from);
  });

  test("for a prompt that is too long, as its client reads: an error, or the events of one", async () => {
    const long = { model: "weir/sim-small", input: "word ".repeat(400_000) };
    const whole = await begin(own.gateway, long);
    expect(errorOf(whole)).toMatchObject({ status: 400, code: "context_length_exceeded" });
    const streamed = await begin(own.gateway, { ...long, stream: true });
    expect(streamed.headers.get("content-type")).toContain("text/event-stream");
    expect(streamed.text).toContain('"code":"context_length_exceeded"');
  });

  test("without credit, before it is accepted", async () => {
    const { status } = await begin(own.gateway, { model: "test/dear", max_output_tokens: 100_000 });
    expect(status).toBe(402);
  });
});

describe("ends", () => {
  test("failed where no upstream answers, and its client was told queued", async () => {
    const { status, json } = await begin(own.gateway, { model: "test/fails" });
    expect([status, json.status]).toEqual([200, "queued"]);
    const { json: ended } = await endOf(own.gateway, json.id);
    expectResponse(ended);
    expect(ended).toMatchObject({
      status: "failed",
      background: true,
      output: [],
      svc: { cost: { total_micro_usd: 0 } },
    });
    expect(ended.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    const events = await eventsOf(json.id);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.queued",
      "response.failed",
      "error",
    ]);
    expect(events.map(({ sequence_number: at }) => at)).toEqual([0, 1, 2, 3]);
    expect(events[2].response).toEqual(ended);
  });

  test.each(["test/breaks", "test/breaks-spliced"])(
    "failed where the upstream of %s breaks off, charged for what it said",
    async (model) => {
      const { json } = await begin(own.gateway, { model });
      const { json: ended } = await endOf(own.gateway, json.id);
      expect(ended.status).toBe("failed");
      expect(ended.svc.cost.total_micro_usd).toBeGreaterThan(0);
      expect(ended.usage.output_tokens).toBeGreaterThan(0);
      const events = await eventsOf(json.id);
      expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_, at) => at));
      expect(events.at(-2)).toMatchObject({ type: "response.failed", response: ended });
      const { json: record } = await get(`/v1/generation/${json.id.slice(5)}`);
      expect(record.cost.total_micro_usd).toBe(ended.svc.cost.total_micro_usd);
    },
  );

  test("cancelled before its upstream says anything, at no charge", async () => {
    const { json } = await begin(own.gateway, { model: "test/hangs" });
    const { status, json: ended } = await cancel(json.id);
    expect([status, ended.status, ended.svc.cost.total_micro_usd]).toEqual([200, "cancelled", 0]);
    const types = (await eventsOf(json.id)).map(({ type }) => type);
    expect(types).toEqual(["response.created", "response.queued", "response.failed"]);
  });

  test("incomplete at its output limit", async () => {
    const { json } = await begin(own.gateway, { input: "Count [[sim tokens=50]]", max_output_tokens: 16 });
    const { json: ended } = await endOf(own.gateway, json.id);
    expect(ended).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    const next = await begin(own.gateway, { previous_response_id: json.id, input: "On" });
    expect((await endOf(own.gateway, next.json.id)).json).toMatchObject({
      status: "completed",
      previous_response_id: json.id,
    });
  });

  test("failed where its answer is larger than what is kept of one, and says so", async () => {
    const { json } = await begin(own.gateway, { input: "Long [[sim tokens=8000]]" });
    const { json: ended } = await endOf(own.gateway, json.id);
    expect(ended).toMatchObject({ status: "failed", error: { code: "payload_too_large" } });
    expect(ended.usage.output_tokens).toBe(8000);
  });
});

describe("cancel", () => {
  test("of 200 callers at once: each gets the cancelled response, charged once", async () => {
    const { json } = await begin(own.gateway, { input: ENDLESS });
    await hasSaid(own.gateway, json.id, 6);
    const answers = await Promise.all(Array.from({ length: 200 }, () => cancel(json.id)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.json.status).toBe("cancelled");
  });

  test("of what has ended, of what is no background response, and of what is not there", async () => {
    const { json } = await begin(own.gateway);
    await endOf(own.gateway, json.id);
    expect(errorOf(await cancel(json.id))).toMatchObject({
      status: 400,
      type: "invalid_request",
      message: "Cannot cancel a completed response.",
    });
    const failed = await begin(own.gateway, { model: "test/fails" });
    await endOf(own.gateway, failed.json.id);
    expect(errorOf(await cancel(failed.json.id))).toMatchObject({
      message: "Cannot cancel a failed response.",
    });
    const plain = await begin(own.gateway, { background: false });
    expect(errorOf(await cancel(plain.json.id))).toMatchObject({
      status: 400,
      message: "Cannot cancel a synchronous response.",
    });
    expect(errorOf(await cancel("resp_none"))).toMatchObject({ status: 404 });
  });
});

describe("is read", () => {
  test("by keys of its project and environment alone", async () => {
    const { json } = await begin(own.gateway, { input: ENDLESS });
    for (const path of [`/v1/responses/${json.id}`, `/v1/responses/${json.id}?stream=true`])
      expect((await get(path, own.gateway.testKey)).status).toBe(404);
    expect((await cancel(json.id, own.gateway.testKey)).status).toBe(404);
    expect((await get(`/v1/responses/${json.id}`)).json.status).toBe("in_progress");
    expect((await cancel(json.id)).status).toBe(200);
  });

  test("as a stream only in the background, from a number on, and no further back than it is kept", async () => {
    const plain = await begin(own.gateway, { background: false });
    expect(errorOf(await get(`/v1/responses/${plain.json.id}?stream=true`))).toMatchObject({
      status: 400,
      param: "/stream",
      message: "This response cannot be streamed because it was not created with background=true.",
    });
    const { json } = await begin(own.gateway);
    await endOf(own.gateway, json.id);
    for (const after of ["x", "-1", "1.5"])
      expect((await get(`/v1/responses/${json.id}?stream=true&starting_after=${after}`)).status).toBe(400);
    for (const after of [100_000, Number.MAX_SAFE_INTEGER])
      expect(await eventsOf(json.id, after)).toEqual([]);
    const all = await eventsOf(json.id);
    expect(await eventsOf(json.id, 3)).toEqual(all.slice(4));
    const empty = await get(`/v1/responses/${json.id}?stream=true&starting_after=`);
    expect(empty.text.slice(0, 30)).toMatch(/^id: 0\n/);
  });

  test("as a stream behind Last-Event-ID, which readers of event streams send when they come again", async () => {
    const { json } = await begin(own.gateway);
    await endOf(own.gateway, json.id);
    const all = await eventsOf(json.id);
    const behind = async (last: string, query = "") => {
      const headers = { "last-event-id": last };
      return await own.gateway.call("GET", `/v1/responses/${json.id}?stream=true${query}`, { headers });
    };
    const numbersIn = (text: string) => sseEvents(text).map(({ data }) => JSON.parse(data).sequence_number);
    const numbers = all.map(({ sequence_number }) => sequence_number);
    expect(numbersIn((await behind("3")).text)).toEqual(numbers.slice(4));
    // The address is that of the first reading.
    expect(numbersIn((await behind("5", "&starting_after=3")).text)).toEqual(numbers.slice(6));
    expect(errorOf(await behind("abc"))).toMatchObject({ status: 400, param: "Last-Event-ID" });
  });

  test("with what it was made from, before its end and after it", async () => {
    const input = [{ role: "user", content: ENDLESS }];
    const { json } = await begin(own.gateway, { input });
    const items = async () => (await get(`/v1/responses/${json.id}/input_items`)).json.data;
    const before = await items();
    expect(before).toMatchObject([{ role: "user", content: [{ type: "input_text", text: ENDLESS }] }]);
    await cancel(json.id);
    expect(await items()).toEqual(before);
  });

  test("by a request that continues it, once it has ended well", async () => {
    const { json } = await begin(own.gateway, { input: ENDLESS });
    const next = { previous_response_id: json.id, background: false, input: "And?" };
    expect(errorOf(await begin(own.gateway, next))).toMatchObject({
      status: 400,
      param: "/previous_response_id",
      message: expect.stringContaining("still in progress"),
    });
    await cancel(json.id);
    expect(errorOf(await begin(own.gateway, next))).toMatchObject({
      message: expect.stringContaining("cancelled"),
    });
    const good = await begin(own.gateway, { input: "My name is Ada." });
    await endOf(own.gateway, good.json.id);
    const from = own.gateway.simulator.totalCalls;
    const { status } = await begin(own.gateway, { ...next, previous_response_id: good.json.id });
    expect(status).toBe(200);
    const [call] = own.gateway.simulator.calls.slice(from);
    expect(call?.body.toString()).toContain("My name is Ada.");
  });
});

test("is deleted once it has ended", async () => {
  const { json } = await begin(own.gateway, { input: ENDLESS });
  const remove = () => own.gateway.call("DELETE", `/v1/responses/${json.id}`);
  expect(errorOf(await remove())).toMatchObject({ status: 409, code: "state" });
  await cancel(json.id);
  expect((await remove()).status).toBe(200);
  expect((await get(`/v1/responses/${json.id}`)).status).toBe(404);
  expect((await get(`/v1/responses/${json.id}?stream=true`)).status).toBe(404);
});

describe("with an Idempotency-Key", () => {
  test("its repetitions get the same queued response, while it runs and after", async () => {
    const headers = { "idempotency-key": "bg-1" };
    const body = { input: ENDLESS };
    const from = own.gateway.simulator.totalCalls;
    const all = await Promise.all(Array.from({ length: 20 }, () => begin(own.gateway, body, { headers })));
    const first = all.filter(({ headers: told }) => told.get("idempotent-replayed") === null);
    const good = all.filter(({ status }) => status === 200);
    expect(first.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(good.map(({ text }) => text)).size).toBe(1);
    const [{ json }] = good as [(typeof good)[number]];
    expect(json.status).toBe("queued");
    const again = await begin(own.gateway, body, { headers });
    expect([again.status, again.text, again.headers.get("idempotent-replayed")]).toEqual([
      200,
      good[0]?.text,
      "true",
    ]);
    await cancel(json.id);
    const after = await begin(own.gateway, body, { headers });
    expect([after.status, after.text]).toEqual([200, good[0]?.text]);
    expect(own.gateway.simulator.totalCalls - from).toBe(1);
    expect(errorOf(await begin(own.gateway, { input: "other" }, { headers }))).toMatchObject({
      code: "idempotency_mismatch",
    });
  });

  test("a repetition of a streamed one joins it", async () => {
    const headers = { "idempotency-key": "bg-2" };
    const body = { stream: true };
    const going = new AbortController();
    const response = await fetch(`${own.gateway.url}/v1/responses`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${own.gateway.liveKey}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ model: "test/chat", input: SHORT, background: true, ...body }),
      signal: going.signal,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    going.abort();
    const again = await begin(own.gateway, body, { headers });
    const events = sseEvents(again.text).map(({ data }) => JSON.parse(data));
    expect(events[0].type).toBe("response.created");
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
    expect(await eventsOf(events[0].response.id)).toEqual(events);
  });
});

test("goes on whatever its key says of a client that leaves, and calls tools", async () => {
  const tools = [{ type: "function", name: "read_level", parameters: { type: "object", properties: {} } }];
  for (const dialect of ["chat", "messages", "responses", "gemini", "converse"]) {
    const { json } = await begin(own.gateway, {
      model: modelOf(dialect),
      input: "Levels? [[sim tool_calls=1 tokens=3]]",
      tools,
      svc: { on_disconnect: "detach" },
    });
    const { json: ended } = await endOf(own.gateway, json.id);
    const calls = ended.output.filter(({ type }: { type: string }) => type === "function_call");
    expect([ended.status, calls.length, calls[0].name]).toEqual(["completed", 1, "read_level"]);
  }
});

test("in a conversation its turn is added at its end, and none of a cancelled one", async () => {
  const made = await own.gateway.call("POST", "/v1/conversations", { body: {} });
  const conversation: string = made.json.id;
  const items = async () => (await get(`/v1/conversations/${conversation}/items`)).json.data.length;
  const cancelled = await begin(own.gateway, { conversation, input: ENDLESS });
  expect(cancelled.json.conversation).toEqual({ id: conversation });
  await cancel(cancelled.json.id);
  expect(await items()).toBe(0);
  const { json } = await begin(own.gateway, { conversation, input: SHORT });
  const { json: ended } = await endOf(own.gateway, json.id);
  expect(ended).toMatchObject({ status: "completed", conversation: { id: conversation } });
  expect(await items()).toBe(2);
});
