/**
 * The simulated Bedrock Converse: its answers, whole and as a binary event stream, and its errors.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { assembled, ConverseClient, decoded, toolConfig, user, withPath } from "./converse.fixtures.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const bedrock = new ConverseClient(() => simulator.url);

describe("an answer", () => {
  test("is of the API's shape", async () => {
    expect(await bedrock.whole(user("What is a weir?"))).toEqual({
      metrics: { latencyMs: expect.any(Number) },
      output: {
        message: { role: "assistant", content: [{ text: expect.stringMatching(/^\S+( \S+){15}$/) }] },
      },
      stopReason: "end_turn",
      usage: {
        inputTokens: 4,
        outputTokens: 16,
        totalTokens: 20,
        cacheReadInputTokens: 0,
        cacheWriteInputTokens: 0,
        cacheDetails: [],
        serverToolUsage: {},
      },
    });
  });

  test("streamed has its events in order, text without a start, usage last", async () => {
    const events = await bedrock.streamed(user("Hi [[sim tokens=2]]"));
    expect(events.map(({ type, name }) => `${type} ${name}`)).toEqual([
      "event messageStart",
      "event contentBlockDelta",
      "event contentBlockDelta",
      "event contentBlockStop",
      "event messageStop",
      "event metadata",
    ]);
    expect(events.every(({ payload }) => /^[a-zA-Z0-9]+$/.test(payload.p ?? ""))).toBe(true);
  });

  test.each([
    "tokens=5 unicode",
    "reasoning=4 tokens=3",
    "reasoning=4 thinking_blocks=3 redacted=2 tokens=1",
    "reasoning=2 tokens=2 tool_calls=3",
    'refuse="I cannot help with that."',
    "prompt_tokens=1000 cached_tokens=600 cache_write_tokens=100 cache_write_1h_tokens=50 reasoning_tokens=7",
  ])("streamed is the same as whole: %s", async (told) => {
    const body = user(`Hi [[sim ${told}]]`, { toolConfig });
    const reply = await bedrock.whole(body);
    const events = await bedrock.streamed(body);
    expect(assembled(events)).toEqual(reply.output.message.content);
    expect(events.at(-1)?.payload.usage).toEqual(reply.usage);
    expect(events.at(-2)?.payload.stopReason).toBe(reply.stopReason);
  });

  test("counts cached tokens apart", async () => {
    const told =
      "prompt_tokens=1000 cached_tokens=600 cache_write_tokens=100 cache_write_1h_tokens=50 tokens=5";
    expect((await bedrock.whole(user(`Hi [[sim ${told}]]`))).usage).toMatchObject({
      inputTokens: 250,
      outputTokens: 5,
      totalTokens: 1005,
      cacheReadInputTokens: 600,
      cacheWriteInputTokens: 150,
      cacheDetails: [
        { ttl: "1h", inputTokens: 50 },
        { ttl: "5m", inputTokens: 100 },
      ],
    });
  });

  test("ends as it was told to", async () => {
    const inferenceConfig = { maxTokens: 3, stopSequences: ["END"] };
    expect((await bedrock.whole(user("Hi", { inferenceConfig }))).stopReason).toBe("max_tokens");
    const stopped = user("Hi [[sim tokens=2 stop_sequence=END]]", {
      inferenceConfig,
      additionalModelResponseFieldPaths: ["/stop_sequence"],
    });
    const end = { stopReason: "stop_sequence", additionalModelResponseFields: { stop_sequence: "END" } };
    expect(await bedrock.whole(stopped)).toMatchObject(end);
    expect((await bedrock.streamed(stopped)).at(-2)?.payload).toMatchObject(end);
    expect((await bedrock.whole(user('[[sim refuse="No."]]'))).stopReason).toBe("content_filtered");
  });

  test("has the size that it was told to have", async () => {
    const body = user("Hi [[sim bytes=3000]]");
    expect((await (await bedrock.post(body)).arrayBuffer()).byteLength).toBe(3000);
    const bytes = new Uint8Array(await (await bedrock.post(body, "converse-stream")).arrayBuffer());
    expect(bytes.length).toBe(3000 * decoded(bytes).length);
    const bulk = await bedrock.streamed(user("Hi [[sim total_bytes=50000 event_bytes=1000]]"));
    expect(bulk.filter(({ name }) => name === "contentBlockDelta")).toHaveLength(50);
    expect(bulk.at(-1)?.payload.usage?.outputTokens).toBe(50);
  });

  test("fits the schema of its output, which comes as a text", async () => {
    const schema = JSON.stringify({ type: "object", properties: { depth: { type: "integer" } } });
    const textFormat = { type: "json_schema", structure: { jsonSchema: { name: "d", schema } } };
    const reply = await bedrock.whole(user("Hi", { outputConfig: { textFormat } }));
    expect(JSON.parse(reply.output.message.content[0]?.text ?? "")).toEqual({ depth: 7 });
  });

  test("keeps its usage to itself where told", async () => {
    expect((await bedrock.whole(user("Hi [[sim usage=none]]"))).usage).toBeUndefined();
    expect((await bedrock.streamed(user("Hi [[sim usage=none]]"))).at(-1)?.payload.usage).toBeUndefined();
  });
});

describe("errors", () => {
  test.each([
    [429, "ThrottlingException"],
    [404, "ResourceNotFoundException"],
    [424, "ModelErrorException"],
    [500, "InternalServerException"],
    [503, "ServiceUnavailableException"],
  ])("of status %i are a %s", async (status, type) => {
    const reply = await bedrock.post(
      user("Hi"),
      "converse-stream",
      withPath({ status, error_message: "Slow down." }),
    );
    expect(reply.status).toBe(status);
    expect(reply.headers.get("x-amzn-errortype")?.split(":")[0]).toBe(type);
    expect(await reply.json()).toEqual({ message: "Slow down." });
  });

  test("in a stream are exceptions with a name of their own", async () => {
    const told = {
      fault: "error_mid",
      after: 2,
      error_type: "ThrottlingException",
      error_message: "Slow down.",
    };
    const events = await bedrock.streamed(user("Hi"), withPath(told));
    expect(events).toHaveLength(3);
    expect(events[2]).toEqual({
      type: "exception",
      name: "throttlingException",
      payload: { message: "Slow down." },
    });
    const usual = await bedrock.streamed(user("Hi"), withPath({ fault: "error_first" }));
    expect(usual.map(({ name }) => name)).toEqual(["internalServerException"]);
  });

  test("a malformed event has right checksums and half of its JSON", async () => {
    const reply = await bedrock.post(
      user("Hi"),
      "converse-stream",
      withPath({ fault: "malformed", after: 1 }),
    );
    const bytes = new Uint8Array(await reply.arrayBuffer());
    expect(() => decoded(bytes)).toThrow(SyntaxError);
  });
});

test("cut at every byte, or with events that no reader knows, the stream is the same", async () => {
  const body = user("Hi [[sim tokens=2 reasoning=1]]");
  const plain = await bedrock.streamed(body);
  expect(await bedrock.streamed(body, withPath({ split_every: 1 }))).toEqual(plain);
  const strange = await bedrock.streamed(body, withPath({ comments: true }));
  expect(strange.filter(({ name }) => name !== "simulatedComment")).toEqual(plain);
  expect(strange).toHaveLength(2 * plain.length);
});
