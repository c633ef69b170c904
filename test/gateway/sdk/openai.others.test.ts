/** The official `openai` client's completions, embeddings and models through the gateway. */
import type OpenAI from "openai";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import type { completionBody } from "../../../src/wire/completions/write-reply.ts";
import { sharedGateway } from "../../support/shared-gateway.ts";
import { clientsOf, collect, DIALECTS, modelOf, seenUpstream } from "./fixtures.ts";

const gateway = sharedGateway();
let client: OpenAI;
beforeAll(() => {
  client = clientsOf(gateway).openai;
});

describe.each(DIALECTS)("completions to %s", (dialect) => {
  const model = modelOf(dialect);

  test("T2: whole and streamed, with usage", async () => {
    const request = { model, prompt: "Once upon a time [[sim tokens=9 unicode]]", max_tokens: 50 };
    const { data: whole, request_id } = await client.completions.create(request).withResponse();
    expect(whole).toMatchObject({
      id: `cmpl-${request_id}`,
      object: "text_completion",
      model,
      choices: [{ index: 0, finish_reason: "stop", logprobs: null }],
      usage: { completion_tokens: 9 },
      svc: { request_id },
    });
    const chunks = await collect(await client.completions.create({ ...request, stream: true }));
    expect(chunks.map(({ choices }) => choices[0]?.text ?? "").join("")).toBe(whole.choices[0]?.text);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage ?? {} });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    const reasons = chunks.flatMap(({ choices }) =>
      choices.map(({ finish_reason }) => finish_reason ?? null),
    );
    expect(reasons.filter((reason) => reason !== null)).toEqual(["stop"]);
  });

  test("the length bound", async () => {
    const cut = await client.completions.create({
      model,
      prompt: "Go on [[sim tokens=400]]",
      max_tokens: 16,
    });
    expect(cut).toMatchObject({ choices: [{ finish_reason: "length" }], usage: { completion_tokens: 16 } });
  });
});

/** Held by the type-checker: what we write is what the SDK reads. */
test("types of what we emit fit the SDK's", () => {
  expectTypeOf<ReturnType<typeof completionBody>>().toExtend<OpenAI.Completion>();
});

describe("embeddings", () => {
  const model = "weir/sim-embed";

  test("asked for as base64, which the client does by itself, they are what floats are", async () => {
    const input = ["upstream", "downstream"];
    const made = await client.embeddings.create({ model, input });
    expect(seenUpstream(gateway)).toMatchObject({ input, encoding_format: "base64" });
    const floats = await client.embeddings.create({ model, input, encoding_format: "float" });
    expect(made.data.map(({ index }) => index)).toEqual([0, 1]);
    expect(made.data.map(({ embedding }) => embedding)).toEqual(
      floats.data.map(({ embedding }) => embedding.map(Math.fround)),
    );
    expect(made).toMatchObject({ object: "list", model, usage: { prompt_tokens: expect.any(Number) } });
    expect(made.usage).toEqual(floats.usage);
    const text = await client.embeddings.create({ model, input: "upstream" });
    expect(text.data[0]?.embedding).toEqual(made.data[0]?.embedding);
  });

  test("of a size asked for, and of tokens", async () => {
    const small = await client.embeddings.create({ model, input: "upstream", dimensions: 8 });
    expect(small.data[0]?.embedding).toHaveLength(8);
    const tokens = await client.embeddings.create({ model, input: [[1, 2, 3], [4]] });
    expect(tokens.data).toHaveLength(2);
    expect(seenUpstream(gateway).input).toEqual([[1, 2, 3], [4]]);
  });
});

test("models of every kind are listed and found", async () => {
  const { data } = await client.models.list();
  const ids = data.map(({ id }) => id);
  for (const id of [...DIALECTS.map(modelOf), "weir/sim-embed", "weir/sim-rerank"]) expect(ids).toContain(id);
  expect(await client.models.retrieve("weir/sim-embed")).toMatchObject({ object: "model", owned_by: "weir" });
});
