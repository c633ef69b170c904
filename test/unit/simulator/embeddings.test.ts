/**
 * The simulated routes at which no model speaks: embeddings of five providers, and reranking of three.
 */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;

const post = (path: string, body: unknown) =>
  fetch(`${simulator.url}${path}`, { method: "POST", body: JSON.stringify(body) });

async function ok<Reply>(path: string, body: unknown): Promise<Reply> {
  const reply = await post(path, body);
  expect(reply.status).toBe(200);
  return (await reply.json()) as Reply;
}

const lengthOf = (vector: readonly number[]) => Math.hypot(...vector);

/** Little-endian 32-bit floats. */
function floatsOf(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
}

interface List<Embedding = number[]> {
  object: string;
  data: { object: string; index: number; embedding: Embedding }[];
  model: string;
  usage?: Record<string, number>;
}

const vectors = (list: List) => list.data.map(({ embedding }) => embedding);

describe("OpenAI's embeddings", () => {
  const embed = <Reply = List>(body: object, prefix = "") =>
    ok<Reply>(`${prefix}/v1/embeddings`, { model: "sim-embed", ...body });

  test("are of the API's shape, equal for equal texts, and of unit length", async () => {
    const list = await embed({ input: ["a weir", "a river", "a weir"] });
    expect(list).toMatchObject({ object: "list", model: "sim-embed" });
    expect(list.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 });
    expect(list.data.map(({ object, index }) => [object, index])).toEqual(
      [0, 1, 2].map((i) => ["embedding", i]),
    );
    const [first, second, third] = vectors(list);
    expect(first).toHaveLength(8);
    expect(third).toEqual(first);
    expect(second).not.toEqual(first);
    for (const vector of vectors(list)) expect(lengthOf(vector)).toBeCloseTo(1, 6);
    expect(vectors(await embed({ input: "a weir" }))).toEqual([first]);
  });

  test("in base64 are the same numbers", async () => {
    const body = { input: "a weir", dimensions: 3 };
    const encoded = await embed<List<string>>({ ...body, encoding_format: "base64" });
    const plain = await embed({ ...body, encoding_format: "float" });
    expect(floatsOf(encoded.data[0]?.embedding ?? "")).toEqual(vectors(plain)[0]);
    expect(vectors(plain)[0]).toHaveLength(3);
  });

  test("are made of token ids too", async () => {
    const one = await embed({ input: [1, 2, 3] });
    const two = await embed({ input: [[1, 2, 3], [4]] });
    expect(one.data).toHaveLength(1);
    expect(one.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    expect(two.usage?.total_tokens).toBe(4);
    expect(vectors(two)[0]).toEqual(vectors(one)[0]);
  });

  test("reach the official client, which asks for base64", async () => {
    const client = new OpenAI({ apiKey: "k", baseURL: `${simulator.url}/v1`, maxRetries: 0 });
    const reply = await client.embeddings.create({ model: "sim-embed", input: "a weir", dimensions: 4 });
    expect(reply.data[0]?.embedding).toEqual(vectors(await embed({ input: "a weir", dimensions: 4 }))[0]);
  });

  test.each([
    [{ input: [] }, "input"],
    [{ input: "" }, "input"],
    [{ input: ["a", 1] }, "input"],
    [{ input: ["a", ""] }, "input"],
    [{ input: "a", dimensions: 0 }, "dimensions"],
    [{ input: "a", encoding_format: "int8" }, "encoding_format"],
    [{ input: "a", model: "" }, "model"],
  ])("refuse %j", async (body, param) => {
    const reply = await post("/v1/embeddings", { model: "m", ...body });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  test("do as told: status, rejected fields, usage, faults, some times only", async () => {
    const busy = await post(`${withPath({ status: 429, retry_after: 2 })}/v1/embeddings`, {
      model: "m",
      input: "a",
    });
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "2"]);
    const rejected = await post(`${withPath({ reject: ["user"] })}/v1/embeddings`, {
      model: "m",
      input: "a",
      user: "u",
    });
    expect(rejected.status).toBe(400);
    expect(await embed({ input: "a", simulator: { usage: "none" } })).not.toHaveProperty("usage");
    expect((await embed({ input: "a" }, withPath({ prompt_tokens: 9 }))).usage?.total_tokens).toBe(9);
    expect((await embed({ input: "a" }, withPath({ usage: { total_tokens: 1 } }))).usage).toEqual({
      total_tokens: 1,
    });
    await expect(
      post(`${withPath({ fault: "reset" })}/v1/embeddings`, { model: "m", input: "a" }),
    ).rejects.toThrow();
    const once = `${withPath({ status: 503, times: 1 })}/v1/embeddings`;
    const statuses = [
      await post(once, { model: "m", input: "b" }),
      await post(once, { model: "m", input: "b" }),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([503, 200]);
  });
});

describe("Voyage's embeddings", () => {
  const path = "/voyage/v1/embeddings";
  const body = { model: "voyage-sim", input: ["a weir"], input_type: "query" };

  test("have its usage, its numbers and its base64", async () => {
    const list = await ok<List>(path, { ...body, output_dimension: 16 });
    expect(list.usage).toEqual({ total_tokens: 2 });
    expect(vectors(list)[0]).toHaveLength(16);
    const encoded = await ok<List<string>>(path, {
      ...body,
      output_dimension: 16,
      encoding_format: "base64",
    });
    expect(floatsOf(encoded.data[0]?.embedding ?? "")).toEqual(vectors(list)[0]);
  });

  test.each([
    ["int8", 16, -127, 127],
    ["uint8", 16, 0, 255],
    ["binary", 2, -128, 127],
    ["ubinary", 2, 0, 255],
  ])("as %s are %i integers", async (output_dtype, count, least, most) => {
    const [vector = []] = vectors(await ok<List>(path, { ...body, output_dimension: 16, output_dtype }));
    expect(vector).toHaveLength(count);
    for (const value of vector) expect(Number.isInteger(value) && value >= least && value <= most).toBe(true);
  });

  test("pack the sign of each number into a bit", async () => {
    const [floats = []] = vectors(await ok<List>(path, body));
    const [bits] = vectors(await ok<List>(path, { ...body, output_dtype: "ubinary" }));
    expect(bits).toEqual([Number.parseInt(floats.map((value) => (value > 0 ? 1 : 0)).join(""), 2)]);
  });

  test.each([
    [{ ...body, dimensions: 8 }, "Argument 'dimensions' is not supported by our API."],
    [{ ...body, encoding_format: "float" }, "accepted values are 'base64'"],
    [{ ...body, input_type: "passage" }, "accepted values are 'query' or 'document'"],
    [{ ...body, output_dtype: "binary", output_dimension: 12 }, "multiple of 8"],
    [{ ...body, input: [1, 2] }, "input"],
  ])("refuse %j", async (wrong, message) => {
    const reply = await post(path, wrong);
    expect(reply.status).toBe(400);
    expect(((await reply.json()) as { detail: string }).detail).toContain(message);
  });

  test("are found before and after an instruction in the path", async () => {
    const told = withPath({ prompt_tokens: 7 });
    for (const place of [`${told}${path}`, `/voyage${told}/v1/embeddings`]) {
      expect((await ok<List>(place, body)).usage).toEqual({ total_tokens: 7 });
    }
  });
});

test("Jina's embeddings take texts and objects, and its fields", async () => {
  const path = "/jina/v1/embeddings";
  const body = {
    model: "jina-sim",
    input: ["a weir", { text: "a river" }],
    task: "retrieval.passage",
    dimensions: 4,
  };
  const list = await ok<List>(path, { ...body, normalized: true, late_chunking: false });
  expect(list.usage).toEqual({ total_tokens: 4, prompt_tokens: 4 });
  expect(list.data).toHaveLength(2);
  const encoded = await ok<List<string>>(path, { ...body, embedding_type: "base64" });
  expect(encoded.data.map(({ embedding }) => floatsOf(embedding))).toEqual(vectors(list));
  const reply = await post(path, { ...body, task: "search" });
  expect([reply.status, Object.keys((await reply.json()) as object)]).toEqual([400, ["detail"]]);
});

describe("Gemini's embeddings", () => {
  const path = "/v1beta/models/gemini-embed-sim";
  const content = (text: string) => ({ content: { parts: [{ text }] } });

  test("of one content and of several are the same", async () => {
    const one = await ok<{ embedding: { values: number[] }; usageMetadata: object }>(`${path}:embedContent`, {
      ...content("a weir"),
      taskType: "RETRIEVAL_QUERY",
      outputDimensionality: 5,
    });
    expect(one.embedding.values).toHaveLength(5);
    expect(lengthOf(one.embedding.values)).toBeCloseTo(1, 6);
    expect(one.usageMetadata).toEqual({ promptTokenCount: 2 });
    const requests = ["a weir", "a river"].map((text) => ({
      model: "models/gemini-embed-sim",
      outputDimensionality: 5,
      ...content(text),
    }));
    const many = await ok<{ embeddings: { values: number[] }[] }>(`${path}:batchEmbedContents`, { requests });
    expect(many.embeddings).toHaveLength(2);
    expect(many.embeddings[0]).toEqual(one.embedding);
  });

  test.each([
    ["embedContent", { ...content("a"), dimensions: 5 }, 'Unknown name "dimensions"'],
    ["embedContent", { ...content("a"), taskType: "QUERY" }, "task_type"],
    ["embedContent", { ...content("a"), title: "T" }, "RETRIEVAL_DOCUMENT"],
    ["embedContent", { content: "a" }, "content"],
    ["batchEmbedContents", { requests: [] }, "at least one"],
    ["batchEmbedContents", { requests: [content("a")] }, "models/{model}"],
  ])("%s refuses %j", async (method, body, message) => {
    const reply = await post(`${path}:${method}`, body);
    expect(reply.status).toBe(400);
    const { error } = (await reply.json()) as { error: { message: string; status: string } };
    expect(error).toMatchObject({ status: "INVALID_ARGUMENT", message: expect.stringContaining(message) });
  });
});

describe("Cohere's embeddings", () => {
  const body = { model: "embed-sim", texts: ["a weir", "a river"], input_type: "search_document" };
  interface Reply {
    embeddings: Record<string, (number[] | string)[]>;
    meta: { billed_units?: object };
  }

  test("come by type, billed in tokens", async () => {
    const types = ["float", "int8", "ubinary", "base64"];
    const reply = await ok<Reply>("/v2/embed", { ...body, embedding_types: types });
    expect(reply).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      response_type: "embeddings_by_type",
      texts: body.texts,
      meta: { billed_units: { input_tokens: 4 } },
    });
    expect(Object.keys(reply.embeddings)).toEqual(types);
    const { float, base64 } = reply.embeddings;
    expect(base64?.map((text) => floatsOf(String(text)))).toEqual(float);
    expect(Object.keys((await ok<Reply>("/v2/embed", body)).embeddings)).toEqual(["float"]);
  });

  test.each([
    [{ ...body, input_type: undefined }, "valid input_type must be provided"],
    [{ ...body, texts: [] }, "number of texts"],
    [{ ...body, texts: Array(97).fill("a") }, "number of texts"],
    [{ ...body, embedding_types: ["half"] }, "embedding_types"],
  ])("refuse what is not right", async (wrong, message) => {
    const reply = await post("/v2/embed", wrong);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toEqual({ id: expect.any(String), message: expect.stringContaining(message) });
  });
});

describe("reranking", () => {
  const query = "how deep is the river";
  const documents = ["A gate of iron", "The river is deep here", "How deep is the river", "A deep river"];

  test("by Jina returns the documents too, most relevant first", async () => {
    const reply = await ok<{ results: { index: number; relevance_score: number }[] }>("/v1/rerank", {
      model: "jina-sim",
      query,
      documents,
    });
    expect(reply.results.map(({ index }) => index)).toEqual([2, 1, 3, 0]);
    expect(reply.results.map((result) => result.relevance_score)).toEqual([1, 0.8, 0.426667, 0]);
    expect(reply).toMatchObject({
      model: "jina-sim",
      results: [{ document: { text: documents[2] } }, {}, {}, {}],
      usage: { total_tokens: expect.any(Number) },
    });
    const bare = { model: "jina-sim", query, documents, top_n: 1, return_documents: false };
    const { results } = await ok<{ results: object[] }>("/v1/rerank", bare);
    expect(results).toEqual([{ index: 2, relevance_score: 1 }]);
  });

  test("by Voyage has its own shape and bound", async () => {
    const body = { model: "rerank-sim", query, documents, top_k: 2 };
    expect(await ok("/voyage/v1/rerank", body)).toEqual({
      object: "list",
      data: [
        { relevance_score: 1, index: 2 },
        { relevance_score: 0.8, index: 1 },
      ],
      model: "rerank-sim",
      usage: { total_tokens: expect.any(Number) },
    });
    const { data } = await ok<{ data: { document: string }[] }>("/voyage/v1/rerank", {
      ...body,
      return_documents: true,
    });
    expect(data[0]?.document).toBe(documents[2]);
    expect((await post("/voyage/v1/rerank", { ...body, top_n: 2 })).status).toBe(400);
  });

  test("by Cohere is billed in search units of a hundred documents", async () => {
    const body = { model: "rerank-sim", query, documents, top_n: 2 };
    expect(await ok("/v2/rerank", body)).toMatchObject({
      id: expect.any(String),
      results: [
        { index: 2, relevance_score: 1 },
        { index: 1, relevance_score: 0.8 },
      ],
      meta: { billed_units: { search_units: 1 } },
    });
    const many = { ...body, documents: Array.from({ length: 101 }, (_, i) => `document ${i}`) };
    expect(await ok("/v2/rerank", many)).toMatchObject({ meta: { billed_units: { search_units: 2 } } });
  });

  test.each([
    ["/v1/rerank", { query: "a", documents: ["a"] }],
    ["/v1/rerank", { model: "m", documents: ["a"] }],
    ["/voyage/v1/rerank", { model: "m", query: "a", documents: [] }],
    ["/v2/rerank", { model: "m", query: "a", documents: [1] }],
    ["/v2/rerank", { model: "m", query: "a", documents: ["a"], top_n: 0 }],
  ])("at %s refuses %j", async (path, body) => {
    expect((await post(path, body)).status).toBe(400);
  });
});
