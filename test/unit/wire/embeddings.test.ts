/** Embedding requests as they are read, and OpenAI's format spliced to its own dialect. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { embeddingsFormat, embedFormat } from "../../../src/wire/embed/format.ts";
import { sketch } from "../../../src/wire/embed/sketch.ts";
import { memberOf, skim } from "../../../src/wire/json/json.ts";
import { leastProcessorMs } from "../../support/processor-time.fixtures.ts";
import {
  A,
  A64,
  answered,
  B,
  bytesOf,
  IDENTITY,
  openAiReply,
  passageTo,
  read,
  refusal,
  sent,
  UPSTREAM,
} from "../../support/wire/embeddings.fixtures.ts";
import { type Json, SVC, usage } from "../../support/wire/fixtures.ts";

describe("a request is read", () => {
  test("each shape of input, with how many vectors it wants and what it weighs", () => {
    const facts = (input: unknown) => {
      const { inputs, facts, hasOpaque } = read({ input });
      return [inputs, facts.longestTokens, facts.promptTokens, hasOpaque];
    };
    expect(facts("12345678")).toEqual([1, 2, 4, false]);
    expect(facts(["12345678", "1234"])).toEqual([2, 2, 7, false]);
    expect(facts([101, 102, 103])).toEqual([1, 3, 3, true]);
    expect(
      facts([
        [1, 2],
        [3, 4, 5],
      ]),
    ).toEqual([2, 3, 5, true]);
  });

  test("nothing is generated: one choice, no output, no stream", () => {
    expect(read({ input: "a" }).facts).toMatchObject({
      choices: 1,
      maxTokens: 0,
      stream: false,
      searchUnits: 0,
    });
  });

  test("a long text counts, though it is not built", () => {
    const { facts, elided } = read({ input: ["x".repeat(8000), "y"] });
    expect(elided).toHaveLength(1);
    expect(facts.longestTokens).toBe(2000);
    expect(facts.promptTokens).toBeGreaterThan(2000);
  });

  test.each([
    [{ input: "a", stream: true }, "unsupported_option", "/stream"],
    [{}, "invalid_value", "/input"],
    [{ input: [] }, "invalid_value", "/input"],
    [{ input: 7 }, "invalid_value", "/input"],
    [{ input: "a", model: "" }, "invalid_value", "/model"],
    [{ input: "a", models: ["x"] }, "unsupported_option", "/models"],
    [{ input: "a", svc: { routes: {} } }, "invalid_value", "/svc/routes"],
  ])("refuses %j", (body, kind, param) => {
    expect(refusal(() => read(body))).toEqual({ kind, param });
  });

  test.each([
    [{ input: "a" }, "invalid_value", "/input"],
    [{ input: ["a"], input_type: "poem" }, "invalid_value", "/input_type"],
    [{ input: ["a"], encoding_format: "float" }, "invalid_value", "/encoding_format"],
    [{ input: ["a"], stream: true }, "unsupported_option", "/stream"],
  ])("the native format refuses %j", (body, kind, param) => {
    expect(refusal(() => read(body, embedFormat))).toEqual({ kind, param });
  });

  test("the native format has our options at its top", () => {
    const body = { input: ["ä"], route: { sort: "price" }, metadata: { app: "é" }, stream: false };
    expect(read(body, embedFormat).svc).toMatchObject({ route: { sort: "price" }, app: "é" });
  });

  test("is plain data, so that it can cross to another thread", () => {
    const { bytes: _, ...request } = read({ input: ["a"], svc: { metadata: { app: "x" } } });
    expect(structuredClone(request)).toEqual(request);
  });

  test("what a tokenizer reads is the input and what we do not know, nothing else", () => {
    const request = read({ input: ["ä"], user: "u", prefix: "p", dimensions: 3 });
    expect(embeddingsFormat.promptTexts(request)).toEqual(['["ä"]', '"p"']);
  });
});

describe("the same dialect", () => {
  test("T53: every byte passes but `model` and `svc`; what we do not know passes too", () => {
    const body =
      '{ "model" : "vendor/m","input":[ "a\\u0062 ü" , "" ],"svc":{"route":{}}, "encoding_format":"base64","x": 1.0 }';
    const { parts, dropped } = passageTo("openai_embeddings").write(
      embeddingsFormat.read(Buffer.from(body)),
      UPSTREAM,
    );
    expect(Buffer.concat(parts).toString()).toBe(
      '{ "model" : "up","input":[ "a\\u0062 ü" , "" ],"encoding_format":"base64","x": 1.0 }',
    );
    expect(dropped).toEqual([]);
  });

  test("options for the provider go to it", () => {
    const provider_options = { "p-e": { truncate: "END" }, other: { no: 1 } };
    expect(sent({ input: "a", svc: { provider_options } }, "openai_embeddings").body).toEqual({
      model: "up",
      input: "a",
      truncate: "END",
    });
  });

  test("the answer's bytes pass but `model`, and `svc` is added", () => {
    const reply = Buffer.from(
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0, -2e-3]}],\n "model":"up-é","usage":{"prompt_tokens":3,"total_tokens":3},"x":"ü"}',
    );
    const whole = passageTo("openai_embeddings").whole(reply, read({ input: "a" }), IDENTITY);
    const out = whole.write(usage(3, 0), SVC).toString();
    expect(out).toContain('"embedding":[1.0, -2e-3]}],\n "model":"vendor/mod');
    expect(JSON.parse(out)).toEqual({ ...JSON.parse(reply.toString()), model: IDENTITY.model, svc: SVC });
    expect(whole.facts.usage).toEqual(usage(3, 0));
  });

  test("usage that the upstream left out is written as metered", () => {
    for (const used of [
      "-",
      null,
      {},
      { prompt_tokens: -1 },
      { total_tokens: "0" },
      { prompt_tokens: 1e12 },
    ]) {
      const { json, facts } = answered({ input: ["a", "b"] }, openAiReply(A, B, used), "openai_embeddings");
      expect(json.usage).toEqual({ prompt_tokens: 11, total_tokens: 11 });
      expect(facts.usage).toBeUndefined();
      // What makes the call estimated rather than free, and none of it output.
      expect(facts.outputBytes).toBeGreaterThan(0);
      expect(facts.unreportedBytes).toBe(0);
    }
  });

  test.each([
    ["numbers", A, undefined],
    ["base64", A64, "base64"],
    ["numbers where base64 was asked for", A, "base64"],
    ["base64 where numbers were asked for", A64, "float"],
  ])("a reported usage of 0 stays 0: %s", (_, embedding, encoding_format) => {
    const used = { prompt_tokens: 0, total_tokens: 0 };
    const reply = {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding }],
      model: "m",
      usage: used,
    };
    const asked = { input: "a", ...(encoding_format && { encoding_format }) };
    const whole = passageTo("openai_embeddings").whole(
      Buffer.from(JSON.stringify(reply)),
      read(asked),
      IDENTITY,
    );
    expect(whole.facts).toMatchObject({ usage: usage(0, 0), outputBytes: 0 });
    expect(JSON.parse(whole.write(usage(0, 0), SVC).toString()).usage).toEqual(used);
  });

  test("an error with status 200 is told as one", () => {
    const { error } = answered({ input: "a" }, { error: { message: "no", code: "c" } }, "openai_embeddings");
    expect(error).toEqual({ code: "c", type: "", message: "no" });
  });

  test.each(["", "[]", "{}", '{"data":{}}', '{"data":[', '{"data":[],"data":[]}', "nonsense"])(
    "no answer: %j",
    (body) => {
      const whole = () =>
        passageTo("openai_embeddings").whole(Buffer.from(body), read({ input: "a" }), IDENTITY);
      expect(refusal(whole).kind).toBe("upstream_invalid_response");
    },
  );

  test("T56: an answer of 20 MB is patched by position, not built", () => {
    const vector = Array.from({ length: 1536 }, (_, i) => (i / 3e4).toFixed(9)).join(",");
    const items = Array.from({ length: 1100 }, (_, i) => `{"index":${i},"embedding":[${vector}]}`);
    const body = Buffer.from(
      `{"object":"list","data":[${items.join(",")}],"model":"m","usage":{"prompt_tokens":1}}`,
    );
    expect(body.length).toBeGreaterThan(20e6);
    const request = read({ input: "a" });
    let out: Buffer = Buffer.alloc(0);
    const spliced = leastProcessorMs(() => {
      out = passageTo("openai_embeddings").whole(body, request, IDENTITY).write(usage(1, 0), SVC);
    });
    expect(JSON.parse(out.toString())).toMatchObject({ model: IDENTITY.model, svc: SVC });
    // The copy that leaves included, it takes less time than one look at every character.
    expect(spliced).toBeLessThan(leastProcessorMs(() => skim(body.toString("latin1"))));
  });

  test("a sketch names the same places as a look at every character", () => {
    const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    const value = fc.oneof(
      fc.array(number, { maxLength: 60 }),
      fc.array(fc.array(number, { maxLength: 60 })),
      fc.string({ unit: fc.constantFrom('"', "[", "]", "{", "\\", "é", "1", ",", "aaaaaaaaaaaaaaaaaaaa") }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.constantFrom(0, 2), (object, indent) => {
        const json = Buffer.from(JSON.stringify(object, undefined, indent)).toString("latin1");
        const { members, skeleton } = sketch(Buffer.from(json, "latin1"));
        const places = ({ members }: Pick<ReturnType<typeof skim>, "members">) =>
          members.map(({ key, start, keyEnd, valueStart, valueEnd }) => [
            key,
            start,
            keyEnd,
            valueStart,
            valueEnd,
          ]);
        expect(places({ members })).toEqual(places(skim(json)));
        expect(Object.keys(JSON.parse(skeleton) as Json)).toEqual(Object.keys(JSON.parse(json) as Json));
      }),
      { numRuns: 500, seed: 5 },
    );
  });

  test.each([10, 100, 70_000, 200_000])(
    "a string that is no JSON is found between brackets that look like a long list: %i characters",
    (length) => {
      const half = "x".repeat(length / 2);
      const answer = (middle: string) => {
        const more = `"[${half}${middle}${half}]"`;
        const body = `{"object":"list","model":"m","data":[{"index":0,"embedding":[0.5]}],"more":${more}}`;
        return passageTo("openai_embeddings").whole(Buffer.from(body), read({ input: "a" }), IDENTITY);
      };
      for (const right of ["", "\\u00E9\\n\\/", "\\\\", "é"])
        expect(() => JSON.parse(answer(right).write(usage(1, 0), SVC).toString())).not.toThrow();
      for (const wrong of ["\\q", "\\u12", "\\]", "\n", "\t", "\u0001"])
        expect(refusal(() => answer(wrong)).kind).toBe("upstream_invalid_response");
    },
  );

  test.each(["\n", "\r\n", "\t", "\n\t "])("numbers between white space are a list: %j", (space) => {
    const vector = Array(1000).fill("0.123456").join(`,${space}`);
    const body = Buffer.from(`{"data":[{"embedding":[${space}${vector}${space}]}],"usage":{"a":1}}`);
    const { members, skeleton } = sketch(body);
    expect(JSON.parse(skeleton)).toEqual({ data: [{ embedding: [] }], usage: { a: 1 } });
    const found = memberOf(members, "usage");
    expect(body.toString("latin1", found?.valueStart, found?.valueEnd)).toBe('{"a":1}');
  });

  test("lists of numbers are left out of a sketch", () => {
    const body = bytesOf({
      data: [{ embedding: Array(1000).fill(0.123456) }, { embedding: [] }],
      usage: { a: 1 },
    });
    const { members, skeleton } = sketch(body);
    expect(JSON.parse(skeleton)).toEqual({ data: [{ embedding: [] }, { embedding: [] }], usage: { a: 1 } });
    const found = memberOf(members, "usage");
    expect(body.toString("latin1", found?.valueStart, found?.valueEnd)).toBe('{"a":1}');
  });
});
