/** Embeddings at every upstream dialect: what it is sent, and what the client gets of its answer. */
import * as fc from "fast-check";
import OpenAI from "openai";
import type { CreateEmbeddingResponse } from "openai/resources/embeddings";
import { describe, expect, expectTypeOf, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import type { Dialect } from "../../../src/base/endpoint.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { embeddingsFormat, embedFormat } from "../../../src/wire/embed/format.ts";
import { embedPassage } from "../../../src/wire/embed/passages.ts";
import { embeddingsSplice } from "../../../src/wire/embed/splice.ts";
import { base64Of, floatsOf } from "../../../src/wire/embed/vectors.ts";
import type { embeddingsAnswer } from "../../../src/wire/embed/write-reply.ts";
import { rounds } from "../../support/effort.ts";
import {
  A,
  A64,
  answered,
  B,
  B64,
  bytesOf,
  DIALECTS,
  IDENTITY,
  openAiReply,
  passageTo,
  REPLIES,
  read,
  refusal,
  sent,
  UPSTREAM,
} from "../../support/wire/embeddings.fixtures.ts";
import { type Json, SVC, usage } from "../../support/wire/fixtures.ts";

describe("another dialect", () => {
  const said = { input: ["a", "b"], input_type: "query", dimensions: 3 };

  test.each<[Dialect, Json, string[]]>([
    ["openai_embeddings", { model: "up", input: ["a", "b"], dimensions: 3 }, ["/input_type"]],
    [
      "gemini_embeddings",
      {
        requests: ["a", "b"].map((text) => ({
          model: "models/up",
          content: { parts: [{ text }] },
          taskType: "RETRIEVAL_QUERY",
          outputDimensionality: 3,
        })),
      },
      [],
    ],
    [
      "cohere",
      {
        model: "up",
        texts: ["a", "b"],
        input_type: "search_query",
        embedding_types: ["float"],
        truncate: "NONE",
        output_dimension: 3,
      },
      [],
    ],
    ["jina", { model: "up", input: ["a", "b"], task: "retrieval.query", dimensions: 3 }, []],
    [
      "voyage",
      { model: "up", input: ["a", "b"], input_type: "query", truncation: false, output_dimension: 3 },
      [],
    ],
  ])("%s is told all that it has a word for", (dialect, body, dropped) => {
    expect(sent(said, dialect, embedFormat)).toEqual({ body, dropped });
  });

  test("cohere wants an input type: of a client who says none, documents", () => {
    expect(sent({ input: "a" }, "cohere").body).toMatchObject({
      texts: ["a"],
      input_type: "search_document",
    });
  });

  test("what a dialect has no word for is named, not lost", () => {
    const body = { input: "a", user: "u", input_type: "similarity", "x/y": 1, metadata: {}, svc: {} };
    expect(sent(body, "cohere").dropped).toEqual(["/x~1y", "/metadata", "/input_type", "/user"]);
    expect(sent(body, "jina").dropped).toEqual(["/x~1y", "/metadata", "/user"]);
    expect(sent({ input: "a", input_type: "poem" }, "jina").dropped).toEqual(["/input_type"]);
  });

  test("nothing is said that the client did not say (T53)", () => {
    expect(sent({ input: "a" }, "jina").body).toEqual({ model: "up", input: ["a"] });
    expect(
      sent({ input: ["a"], input_type: null, dimensions: null }, "gemini_embeddings", embedFormat),
    ).toEqual({
      body: { requests: [{ model: "models/up", content: { parts: [{ text: "a" }] } }] },
      dropped: [],
    });
  });

  test.each(["gemini_embeddings", "cohere", "jina", "voyage"] as const)(
    "%s takes no token ids",
    (dialect) => {
      for (const input of [
        [1, 2],
        [[1], [2]],
      ]) {
        expect(refusal(() => sent({ input }, dialect))).toEqual({
          kind: "capability_not_supported",
          param: "/input",
        });
      }
    },
  );

  test("T57: a long text goes over as the bytes that it came in", () => {
    const text = `é"\\${"x".repeat(9000)}😀`;
    const request = read({ input: [text, "b"] });
    const { parts } = passageTo("voyage").write(request, UPSTREAM);
    expect((JSON.parse(Buffer.concat(parts).toString()) as Json).input).toEqual([text, "b"]);
    expect(parts.some((part) => part.buffer === request.bytes.buffer && part.length > 9000)).toBe(true);
  });

  test("base64 is asked for where it is wanted and the dialect has it", () => {
    const body = { input: "a", encoding_format: "base64" };
    expect(sent(body, "cohere").body.embedding_types).toEqual(["base64"]);
    expect(sent(body, "jina").body.embedding_type).toBe("base64");
    expect(sent(body, "voyage").body.encoding_format).toBe("base64");
  });

  test("these answers are not streamed", () => {
    for (const dialect of DIALECTS) {
      const stream = () => passageTo(dialect).stream(read({ input: "a" }), IDENTITY);
      expect(refusal(stream)).toEqual({ kind: "unsupported_option", param: "/stream" });
    }
  });

  test("no way where there is none", () => {
    expect(embedPassage("embeddings", "chat")).toBeUndefined();
    expect(embedPassage("chat", "cohere")).toBeUndefined();
  });
});

describe.each(DIALECTS)("an answer of %s", (dialect) => {
  const { float, base64, tokens } = REPLIES[dialect] as NonNullable<(typeof REPLIES)[Dialect]>;
  const used = { prompt_tokens: tokens ?? 11, total_tokens: tokens ?? 11 };

  test("becomes OpenAI's, with numbers", () => {
    const { json, facts } = answered({ input: ["a", "b"] }, float, dialect);
    expect(json).toEqual({ ...openAiReply(A, B, used), model: IDENTITY.model, svc: SVC });
    expect(facts.usage).toEqual(tokens === undefined ? undefined : usage(tokens, 0));
  });

  test("becomes OpenAI's, with base64 where the client asked for it, whatever came", () => {
    const body = { input: ["a", "b"], encoding_format: "base64" };
    for (const reply of [float, base64]) {
      expect(answered(body, reply, dialect).json.data).toEqual(openAiReply(A64, B64).data);
    }
  });

  test("becomes the native one, with the source of the counts", () => {
    for (const reply of [float, base64]) {
      expect(answered({ input: ["a", "b"] }, reply, dialect, embedFormat).json).toEqual({
        object: "list",
        id: IDENTITY.id,
        model: IDENTITY.model,
        data: [
          { index: 0, embedding: A, dimensions: 3 },
          { index: 1, embedding: B, dimensions: 3 },
        ],
        usage: {
          input_tokens: tokens ?? 11,
          total_tokens: tokens ?? 11,
          source: tokens === undefined ? "estimated" : "provider",
        },
        resolved: { provider: SVC.provider, endpoint_id: SVC.endpoint_id },
        cost: SVC.cost,
        warnings: [],
      });
    }
  });

  test("is refused where it is not a vector an input", () => {
    for (const input of [["a"], ["a", "b", "c"]]) {
      const act = () => answered({ input }, float, dialect, embedFormat);
      expect(refusal(act).kind).toBe("upstream_invalid_response");
    }
  });

  test("the SDK reads what it asked for, base64 by default", async () => {
    const client = new OpenAI({
      apiKey: "k",
      baseURL: "http://127.0.0.1:9/v1",
      maxRetries: 0,
      fetch: async (_, init) => {
        const request = embeddingsFormat.read(Buffer.from(String(init?.body)));
        const reply = request.encoding === "base64" ? base64 : float;
        const whole = passageTo(dialect).whole(bytesOf(reply), request, IDENTITY);
        return new Response(new Uint8Array(whole.write(usage(4, 0), SVC)), {
          headers: { "content-type": "application/json" },
        });
      },
    });
    for (const encoding of [undefined, "float"] as const) {
      const { data } = await client.embeddings.create({
        model: "m",
        input: ["a", "b"],
        ...(encoding !== undefined && { encoding_format: encoding }),
      });
      expect(data.map(({ embedding }) => Array.from(embedding))).toEqual([A, B]);
    }
  });
});

describe("what upstreams may send", () => {
  test("vectors out of order are put in order; a place said twice or beyond the list is refused", () => {
    const at = (...places: unknown[]) => ({
      data: places.map((index, i) => ({ index, embedding: i === 0 ? A : B })),
    });
    const vectors = (reply: unknown) =>
      (answered({ input: ["a", "b"] }, reply, "voyage").json.data as Json[]).map(
        ({ embedding }) => embedding,
      );
    expect(vectors(at(1, 0))).toEqual([B, A]);
    expect(vectors(at(undefined, undefined))).toEqual([A, B]);
    for (const wrong of [at(0, 0), at(0, 2), at(-1, 0), at("0", "1"), at(0.5, 0)]) {
      expect(refusal(() => vectors(wrong)).kind).toBe("upstream_invalid_response");
    }
  });

  test("numbers that are none never leave as null", () => {
    const nan = Buffer.from(Float32Array.of(Number.NaN).buffer).toString("base64");
    for (const vector of ["AAAA", nan]) {
      const reply = bytesOf({ data: [{ embedding: vector }] });
      // Before the call is settled, so that another endpoint may answer.
      const act = () => passageTo("jina").whole(reply, read({ input: ["a"] }), IDENTITY);
      expect(refusal(act).kind).toBe("upstream_invalid_response");
    }
    const big = Buffer.from('{"data":[{"embedding":[1e999]}]}');
    const act = () => passageTo("jina").whole(big, read({ input: "a" }), IDENTITY);
    expect(refusal(act).kind).toBe("upstream_invalid_response");
  });

  test("an error with status 200", () => {
    for (const dialect of DIALECTS) {
      const { error, facts } = answered({ input: "a" }, { error: { message: "no" } }, dialect);
      expect(error?.message).toBe("no");
      expect(facts.outputBytes).toBe(0);
    }
  });

  test("O25: base64 of bytes passes where no encoding was asked for, and is read as numbers where they were", () => {
    const bytes = Int8Array.from({ length: 256 }, (_, i) => ((i * 37) % 200) - 100);
    const embedding = Buffer.from(bytes.buffer).toString("base64");
    const reply = {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding }],
      usage: { prompt_tokens: 4 },
    };
    const vectorOf = (more: Json, dialect?: "jina") => {
      const request = read({ input: ["a"], ...more });
      const passage = dialect === undefined ? embeddingsSplice : passageTo(dialect);
      const whole = passage.whole(bytesOf(reply), request, IDENTITY);
      return JSON.parse(whole.write(usage(4, 0), SVC).toString()).data[0].embedding;
    };
    expect(vectorOf({})).toBe(embedding);
    expect(vectorOf({ encoding_format: "base64" })).toBe(embedding);
    expect(vectorOf({ encoding_format: "float" })).toEqual([...bytes]);
    expect(vectorOf({}, "jina")).toEqual([...bytes]);
    const floats = Array.from({ length: 64 }, (_, i) => Math.fround(Math.sin(i) / 8));
    expect(floatsOf(base64Of(floats))).toEqual(floats);
  });

  test("vectors of 32-bit floats survive both encodings to the bit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        (vector) => {
          expect(floatsOf(base64Of(vector))).toEqual(vector);
        },
      ),
      { seed: 7 },
    );
  });
});

test("the answer is what the SDK's types say", () => {
  type Answer = ReturnType<typeof embeddingsAnswer>;
  type Item = Answer["data"][number];
  type Numbers = Extract<Item["embedding"], readonly number[]>;
  type WithNumbers = Omit<Answer, "data"> & { data: (Omit<Item, "embedding"> & { embedding: Numbers })[] };
  expectTypeOf<WithNumbers>().toExtend<CreateEmbeddingResponse>();
  const { json } = answered({ input: ["a", "b"] }, openAiReply(A, B), "openai_embeddings");
  const answer = json as unknown as CreateEmbeddingResponse;
  expect(answer.data[1]?.embedding).toEqual(B);
});

describe("T12: damaged input", () => {
  const ROUNDS = rounds(1500);
  const PIECES = [
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "-1",
    "1e999",
    '"index":',
    '"data":',
    '""',
  ];

  function damage(bytes: Buffer, random: () => number): Buffer {
    let out = bytes;
    for (let i = 1 + Math.floor(random() * 3); i > 0; i--) {
      const at = Math.floor(random() * out.length);
      const to = random() < 0.5 ? at : Math.min(out.length, at + Math.floor(random() * 30));
      const piece = Buffer.from(PIECES[Math.floor(random() * PIECES.length)] ?? "");
      out = Buffer.concat([out.subarray(0, at), random() < 0.7 ? piece : Buffer.alloc(0), out.subarray(to)]);
    }
    return out;
  }

  const typed = <T>(act: () => T): T | undefined => {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof WeirError) || error.kind === "internal") throw error;
      return undefined;
    }
  };

  test.each(DIALECTS)("%s: requests and answers are refused as they should be, or give JSON", (dialect) => {
    const random = seededRandom(DIALECTS.indexOf(dialect) + 1);
    const { float, base64 } = REPLIES[dialect] as NonNullable<(typeof REPLIES)[Dialect]>;
    const body = bytesOf({
      model: "v/m",
      input: ["a", "é"],
      dimensions: 3,
      user: "u",
      svc: { metadata: {} },
    });
    let requests = 0;
    let answers = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const request = typed(() => embeddingsFormat.read(damage(body, random)));
      const out = request && typed(() => passageTo(dialect).write(request, UPSTREAM));
      if (out !== undefined) {
        JSON.parse(Buffer.concat(out.parts).toString());
        requests++;
      }
      for (const format of [embeddingsFormat, embedFormat]) {
        const asked = read({ input: ["a", "b"] }, format);
        const reply = damage(bytesOf(i % 2 === 0 ? float : base64), random);
        const whole = typed(() => passageTo(dialect, format).whole(reply, asked, IDENTITY));
        const written = whole && whole.error === undefined && typed(() => whole.write(usage(1, 0), SVC));
        if (!written) continue;
        expect(JSON.parse(written.toString())).toMatchObject({ model: IDENTITY.model });
        answers++;
      }
    }
    expect(requests).toBeGreaterThan(ROUNDS / 50);
    expect(answers).toBeGreaterThan(ROUNDS / 50);
  });
});
