/**
 * The simulated provider's answers: shapes as OpenAI's, and what a request can tell it to answer.
 * Bytes, faults and pace are in faults.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

interface Chunk {
  id: string;
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
  obfuscation?: string;
}
interface Completion {
  id: string;
  choices: {
    message: {
      content: string | null;
      refusal: string | null;
      reasoning_content?: string;
      tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    };
    finish_reason: string;
  }[];
  usage?: { completion_tokens: number } & Record<string, unknown>;
}

const user = (content: string) => ({ model: "sim-small", messages: [{ role: "user", content }] });

const post = (body: unknown, prefix = "") =>
  fetch(`${simulator.url}${prefix}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });

const complete = async (body: unknown, prefix = "") =>
  (await (await post(body, prefix)).json()) as Completion;

/** The data of each event of a streamed reply. */
async function events(body: object, prefix = ""): Promise<string[]> {
  const text = await (await post({ stream: true, ...body }, prefix)).text();
  expect(text.endsWith("\n\n")).toBe(true);
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((event) => event.replace(/^data: /, ""));
}

async function streamed(body: object, prefix = ""): Promise<Chunk[]> {
  const data = await events(body, prefix);
  expect(data.at(-1)).toBe("[DONE]");
  return data.slice(0, -1).map((json) => JSON.parse(json) as Chunk);
}

const joinText = (chunks: Chunk[], field = "content") =>
  chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta[field] ?? "")).join("");

const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;

describe("an answer without instructions", () => {
  test("is a completion of 16 tokens with right usage, the same for the same prompt", async () => {
    const first = await (await post(user("What is a weir?"))).text();
    expect(await (await post(user("What is a weir?"))).text()).toBe(first);
    expect(await (await post(user("What is a dam?"))).text()).not.toBe(first);
    const reply = JSON.parse(first) as Completion;
    expect(reply).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{24}$/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "sim-small",
      choices: [
        { index: 0, message: { role: "assistant", refusal: null }, logprobs: null, finish_reason: "stop" },
      ],
      // 15 bytes of prompt, four to a token.
      usage: { prompt_tokens: 4, completion_tokens: 16, total_tokens: 20 },
    });
    expect(reply.choices[0]?.message.content?.split(" ")).toHaveLength(16);
  });

  test("streams the same text, the role first, and no usage unless asked", async () => {
    const chunks = await streamed(user("What is a weir?"));
    expect(chunks).toHaveLength(1 + 16 + 1);
    expect(chunks[0]?.choices).toEqual([
      {
        index: 0,
        delta: { role: "assistant", content: "", refusal: null },
        logprobs: null,
        finish_reason: null,
      },
    ]);
    expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }]);
    expect(joinText(chunks)).toBe((await complete(user("What is a weir?"))).choices[0]?.message.content);
    expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
  });

  test("with include_usage: null on every chunk, then one of no choices with the usage", async () => {
    const chunks = await streamed({ ...user("Hi"), stream_options: { include_usage: true } });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null && chunk.choices.length === 1)).toBe(
      true,
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 16 } });
  });

  test("stops at max_tokens with finish_reason length", async () => {
    const reply = await complete({ ...user("Hi"), max_tokens: 3 });
    expect(reply.choices[0]?.finish_reason).toBe("length");
    expect(reply.usage?.completion_tokens).toBe(3);
    const chunks = await streamed({ ...user("Hi"), max_completion_tokens: 2, max_tokens: 9 });
    expect(chunks).toHaveLength(1 + 2 + 1);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("length");
  });

  test("with n, gives distinct choices and counts all their tokens", async () => {
    const reply = await complete({ ...user("Hi"), n: 3 });
    expect(new Set(reply.choices.map((choice) => choice.message.content)).size).toBe(3);
    expect(reply.usage?.completion_tokens).toBe(48);
    const chunks = await streamed({ ...user("Hi"), n: 3 });
    const second = chunks.filter((chunk) => chunk.choices[0]?.index === 1);
    expect(joinText(second)).toBe(reply.choices[1]?.message.content);
  });
});

describe("where instructions come from", () => {
  test("the body wins over the path, the directive over the body", async () => {
    const path = withPath({ tokens: 2, cached_tokens: 1 });
    expect((await complete(user("Hi"), path)).usage?.completion_tokens).toBe(2);
    const both = { ...user("Hi"), simulator: { tokens: 3 } };
    expect((await complete(both, path)).usage?.completion_tokens).toBe(3);
    const all = { ...user("Hi [[sim tokens=4]]"), simulator: { tokens: 3 } };
    expect((await complete(all, `/any/where${path}`)).usage).toMatchObject({
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 1 },
    });
  });

  test("only the last user message may direct", async () => {
    const messages = [
      { role: "user", content: "[[sim tokens=2]]" },
      { role: "assistant", content: "[[sim tokens=3]]" },
      { role: "user", content: [{ type: "text", text: "Go on [[sim tokens=5]]" }] },
      { role: "assistant", content: "[[sim tokens=7]]" },
    ];
    expect((await complete({ model: "m", messages })).usage?.completion_tokens).toBe(5);
  });

  test.each([
    [user("[[sim tokns=3]]"), "/simulator/tokns"],
    [user("[[sim tokens=many]]"), "/simulator/tokens"],
    [user("[[sim fault=explode]]"), "/simulator/fault"],
    [{ ...user("Hi"), simulator: { usage: "some" } }, "/simulator/usage"],
    [{ ...user("Hi"), simulator: 7 }, "/simulator"],
    [user("[[sim total_bytes=1000 gzip]]"), "/simulator/gzip"],
  ])("one that is not understood is a 400 that names its key: %j", async (body, param) => {
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  test("a path that is not JSON is a 400", async () => {
    expect((await post(user("Hi"), "/with/%7Btokens")).status).toBe(400);
  });
});

describe("usage as told", () => {
  const asked = { ...user("Hi"), stream_options: { include_usage: true } };
  const told = (usage: unknown, body: object = asked) =>
    streamed({ ...body, simulator: { tokens: 3, usage } });

  test("none: nowhere", async () => {
    expect((await told("none")).some((chunk) => "usage" in chunk)).toBe(false);
    expect(await complete({ ...user("Hi"), simulator: { usage: "none" } })).not.toHaveProperty("usage");
  });

  test("every: cumulative, on each chunk", async () => {
    const counts = (await told("every")).map((chunk) => chunk.usage?.completion_tokens);
    expect(counts).toEqual([0, 1, 2, 3, 3, 3]);
  });

  test("with_last: on the chunk that has the finish_reason, and no other", async () => {
    const chunks = await told("with_last");
    expect(chunks).toHaveLength(5);
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: "stop" }],
      usage: { completion_tokens: 3 },
    });
  });

  test("always: although the client did not ask", async () => {
    expect((await told("always", user("Hi"))).at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: 3 },
    });
  });

  test("an object: as it is", async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 999, total_tokens: 1000, vendor_field: true };
    expect((await told(usage)).at(-1)?.usage).toEqual(usage);
    expect((await complete({ ...user("Hi"), simulator: { usage } })).usage).toEqual(usage);
  });

  test("prompt, cached and hidden reasoning tokens", async () => {
    const body = user("Hi [[sim tokens=3 prompt_tokens=1000 cached_tokens=900 reasoning_tokens=40]]");
    expect((await complete(body)).usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 43,
      total_tokens: 1043,
      prompt_tokens_details: { cached_tokens: 900 },
      completion_tokens_details: { reasoning_tokens: 40 },
    });
  });
});

describe("content as told", () => {
  test("reasoning comes first, in deltas of its own, and counts", async () => {
    const body = user("[[sim reasoning=4 tokens=2]]");
    const reply = await complete(body);
    expect(reply.choices[0]?.message.reasoning_content?.split(" ")).toHaveLength(4);
    expect(reply.usage).toMatchObject({
      completion_tokens: 6,
      completion_tokens_details: { reasoning_tokens: 4 },
    });
    const chunks = await streamed(body);
    expect(joinText(chunks, "reasoning_content")).toBe(reply.choices[0]?.message.reasoning_content);
    expect(joinText(chunks)).toBe(reply.choices[0]?.message.content);
  });

  test("a refusal", async () => {
    const body = user('[[sim refuse="I cannot help with that."]]');
    expect((await complete(body)).choices[0]?.message).toMatchObject({
      content: null,
      refusal: "I cannot help with that.",
    });
    expect(joinText(await streamed(body), "refusal")).toBe("I cannot help with that.");
  });

  test("echo repeats the last user text without its directive", async () => {
    const body = user("Überfluß 水 🦦 👩‍🚀! [[sim echo]]");
    expect((await complete(body)).choices[0]?.message.content).toBe("Überfluß 水 🦦 👩‍🚀!");
    expect(joinText(await streamed(body))).toBe("Überfluß 水 🦦 👩‍🚀!");
  });

  test("unicode has characters of two, three and four bytes", async () => {
    const text = (await complete(user("[[sim unicode tokens=12]]"))).choices[0]?.message.content ?? "";
    const sizes = new Set(Array.from(text, (character) => Buffer.byteLength(character)));
    expect(sizes).toEqual(new Set([1, 2, 3, 4]));
  });

  test("structured output fits the schema, json_object is an object", async () => {
    const schema = {
      type: "object",
      properties: {
        name: { type: "string", minLength: 6 },
        kind: { enum: ["river", "lake"] },
        depth: { type: "integer", minimum: 10, maximum: 12 },
        flow: { type: ["number", "null"] },
        gates: { type: "array", minItems: 2, items: { $ref: "#/$defs/gate" } },
        since: { type: "string", format: "date" },
      },
      $defs: { gate: { type: "object", properties: { open: { type: "boolean" } } } },
    };
    const body = {
      ...user("Describe"),
      response_format: { type: "json_schema", json_schema: { name: "w", schema } },
    };
    const text = (await complete(body)).choices[0]?.message.content ?? "";
    expect(JSON.parse(text)).toEqual({
      name: expect.stringMatching(/^.{6,}$/),
      kind: "river",
      depth: 10,
      flow: 7.5,
      gates: [{ open: true }, { open: true }],
      since: "2026-01-02",
    });
    expect(joinText(await streamed(body))).toBe(text);
    const object = await complete({ ...user("Hi"), response_format: { type: "json_object" } });
    expect(JSON.parse(object.choices[0]?.message.content ?? "")).toEqual({ answer: expect.any(String) });
  });

  test("a schema that refers to itself comes to an end", async () => {
    const schema = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
    const body = {
      ...user("Hi"),
      response_format: { type: "json_schema", json_schema: { name: "l", schema } },
    };
    const text = (await complete(body)).choices[0]?.message.content ?? "";
    expect(JSON.parse(text)).toHaveProperty("next.next");
  });

  test("bytes: the JSON body, or every event, has exactly that size", async () => {
    const body = user("Hi [[sim bytes=5000]]");
    expect((await (await post(body)).arrayBuffer()).byteLength).toBe(5000);
    const data = await events({ ...body, stream_options: { include_usage: true } });
    const sizes = data.slice(0, -1).map((json) => Buffer.byteLength(`data: ${json}\n\n`));
    expect(new Set(sizes)).toEqual(new Set([5000]));
    expect(data.at(-1)).toBe("[DONE]");
  });

  test("total_bytes in events of event_bytes", async () => {
    const data = await events(user("Hi [[sim total_bytes=100000 event_bytes=1000]]"));
    const content = data.slice(1, -2).map((json) => Buffer.byteLength(`data: ${json}\n\n`));
    expect(content).toEqual(Array.from({ length: 100 }, () => 1000));
  });
});

describe("tool calls", () => {
  const tools = ["open_gate", "read_level"].map((name) => ({
    type: "function",
    function: {
      name,
      parameters: { type: "object", properties: { gate: { type: "integer" }, reason: { type: "string" } } },
    },
  }));

  test("are made when told, streamed as argument deltas that add up to the whole ones", async () => {
    const body = { ...user("[[sim tool_calls=3 tokens=2]]"), tools };
    const choice = (await complete(body)).choices[0];
    const calls = choice?.message.tool_calls ?? [];
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(calls.map((call) => call.function.name)).toEqual(["open_gate", "read_level", "open_gate"]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(3);
    expect(JSON.parse(calls[0]?.function.arguments ?? "")).toEqual({ gate: 7, reason: expect.any(String) });

    const chunks = await streamed(body);
    const pieces = ["", "", ""];
    for (const chunk of chunks) {
      const deltas = (chunk.choices[0]?.delta.tool_calls ?? []) as {
        index: number;
        function: { arguments: string };
      }[];
      for (const delta of deltas) pieces[delta.index] += delta.function.arguments;
    }
    expect(pieces).toEqual(calls.map((call) => call.function.arguments));
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
  });

  test.each([
    ["required", ["open_gate"]],
    [{ type: "function", function: { name: "read_level" } }, ["read_level"]],
    ["none", undefined],
    ["auto", undefined],
  ])("follow tool_choice %j", async (tool_choice, names) => {
    const reply = await complete({ ...user("Hi"), tools, tool_choice });
    expect(reply.choices[0]?.message.tool_calls?.map((call) => call.function.name)).toEqual(names);
  });
});
