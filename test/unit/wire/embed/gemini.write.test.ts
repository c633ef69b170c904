/** Requests to Google's models, written from neutral terms. */
import { describe, expect, test } from "vitest";
import type { GeminiRequestBody } from "../../../../src/wire/gemini/body.ts";
import { geminiDialect } from "../../../../src/wire/gemini/dialect.ts";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import type {
  NeutralMessage,
  NeutralOptions,
  NeutralRequest,
  Part,
  Reasoning,
} from "../../../../src/wire/neutral/neutral.ts";
import { carried, parsedBody } from "../../../support/wire/carried.ts";
import { assembled, eventsOf } from "../assembled.ts";
import { endpointOf, hello, latin1Of, message, requestOf, said } from "../gemini.fixtures.ts";

const NEW = "gemini-3-flash-preview";
const OLD = "gemini-2.5-flash";

const written = (request: NeutralRequest, model = OLD) => {
  const { body, dropped } = geminiDialect.writeRequest(request, endpointOf(model));
  return { body: parsedBody(body as GeminiRequestBody), dropped };
};
const contents = (messages: readonly NeutralMessage[], model = OLD) =>
  written(requestOf(messages), model).body.contents;
const parts = (...given: Part[]) => contents([message("user", "/messages/0", ...given)])[0]?.parts;
const config = (options: NeutralOptions, model = OLD) => {
  const { body, dropped } = written(requestOf([hello], options), model);
  return { config: body.generationConfig, dropped };
};

const call = (id: string, name = "f", args = '{"a":1}'): Part => ({
  type: "tool_call",
  id,
  name,
  arguments: args,
});
const result = (id: string, text: string, isError = false): Part => ({
  type: "tool_result",
  id,
  name: "f",
  parts: [{ type: "text", text }],
  isError,
});

describe("a conversation", () => {
  test("has its instructions apart, and its sides by turns", () => {
    const { body } = written(
      requestOf([
        message("system", "/messages/0", { type: "text", text: "Be brief." }),
        message("system", "/messages/1", { type: "text", text: "Be kind." }),
        message("user", "/messages/2", { type: "text", text: "A" }),
        message("user", "/messages/3", { type: "text", text: "B" }),
        message("assistant", "/messages/4", { type: "text", text: "C" }, { type: "refusal", text: "No." }),
      ]),
    );
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
      contents: [
        { role: "user", parts: [{ text: "A" }, { text: "B" }] },
        { role: "model", parts: [{ text: "C" }, { text: "No." }] },
      ],
    });
  });

  test("of instructions only is refused, by its place", () => {
    const request = requestOf([message("system", "/input/0", { type: "text", text: "x" })]);
    expect(() => written(request)).toThrow(
      expect.objectContaining({ kind: "invalid_value", param: "/input/0" }),
    );
  });

  test("has no empty texts, nor messages of nothing else", () => {
    expect(contents([hello, message("assistant", "/messages/1", { type: "text", text: "" }), hello])).toEqual(
      [{ role: "user", parts: [{ text: "Hello" }, { text: "Hello" }] }],
    );
  });

  test("carries images, documents, sound and video, inline or by address", () => {
    const data = { kind: "data", mediaType: "image/png", data: "AAAA" } as const;
    expect(
      parts(
        { type: "image", source: data, at: "/part" },
        { type: "image", source: { kind: "url", url: "https://x.example/a.JPG?sig=b.png" }, at: "/part" },
        {
          type: "document",
          source: { kind: "url", url: "https://x.example/a", mediaType: "application/pdf" },
          at: "/part",
        },
        { type: "document", source: { kind: "text", text: "plain" }, at: "/part" },
        { type: "audio", source: { ...data, mediaType: "audio/wav" }, at: "/part" },
        { type: "video", source: { kind: "file", id: "https://g.example/v1beta/files/1" }, at: "/part" },
      ),
    ).toEqual([
      { inlineData: { mimeType: "image/png", data: "AAAA" } },
      { fileData: { fileUri: "https://x.example/a.JPG?sig=b.png", mimeType: "image/jpeg" } },
      { fileData: { fileUri: "https://x.example/a", mimeType: "application/pdf" } },
      { text: "plain" },
      { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
      { fileData: { fileUri: "https://g.example/v1beta/files/1" } },
    ]);
  });

  test("says where what it cannot carry stood; cache marks are none of it", () => {
    const image: Part = { type: "image", source: { kind: "url", url: "u" }, detail: "high", at: "/part" };
    const document: Part = {
      type: "document",
      source: { kind: "text", text: "t" },
      citations: true,
      at: "/part",
    };
    const sealed: Part = { type: "reasoning", text: "hm", seal: { by: "anthropic", data: "S" } };
    const { body, dropped } = written(
      requestOf(
        [
          message("user", "/messages/0", image),
          message("user", "/messages/1", document),
          message("user", "/messages/2", { type: "text", text: "x", cache: { ttl: "1h" } }),
          message("assistant", "/messages/3", sealed),
        ],
        {},
        { dropped: ["/unknown"] },
      ),
    );
    expect(dropped).toEqual(["/unknown", "/messages/0", "/messages/1"]);
    expect(JSON.stringify(body)).not.toContain('"S"');
    expect(body.contents[1]?.parts).toEqual([{ text: "hm", thought: true }]);
  });
});

describe("a tool loop", () => {
  const loop = (...answer: Part[]) => [
    hello,
    message("assistant", "/messages/1", ...answer),
    message("user", "/messages/2", result("c1", '{"ok":true}')),
    message("user", "/messages/3", result("c2", "fine")),
  ];

  test("T48: every signature goes back on the very part it came on", () => {
    for (const name of ["thinking-tools", "signed-text"]) {
      const [choice] = assembled(eventsOf(geminiDialect.streamReader(1 << 20), [latin1Of(name)])).choices;
      const [, back] = contents(
        [
          hello,
          message(
            "assistant",
            "/messages/1",
            ...(choice?.parts ?? []).filter((part) => part.type !== "media"),
          ),
        ],
        NEW,
      );
      const signed = back?.parts.map(({ thoughtSignature, ...part }) => [
        Object.keys(part)[0],
        thoughtSignature,
      ]);
      expect(signed).toEqual(
        name === "signed-text"
          ? [
              ["text", undefined],
              ["text", "Ep4CCpsCAb4="],
            ]
          : [
              ["text", undefined],
              ["text", undefined],
              ["functionCall", "EvwBCvkBAXLI2nyW+/a=="],
              ["functionCall", undefined],
            ],
      );
    }
  });

  test("answers all calls of a turn in one content, objects as they are", () => {
    expect(contents(loop(call("c1"), call("c2")))).toEqual([
      { role: "user", parts: [{ text: "Hello" }] },
      {
        role: "model",
        parts: [
          { functionCall: { id: "c1", name: "f", args: { a: 1 } } },
          { functionCall: { id: "c2", name: "f", args: { a: 1 } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "f", response: { ok: true } } },
          { functionResponse: { id: "c2", name: "f", response: { result: "fine" } } },
        ],
      },
    ]);
  });

  test("a call of another model's has the documented stand-in for a signature where one is asked for", () => {
    const [, turn] = contents(loop(call("c1"), call("c2")), NEW);
    expect(turn?.parts.map((part) => part.thoughtSignature)).toEqual([
      "skip_thought_signature_validator",
      undefined,
    ]);
  });

  test.each([
    ["plain", false, { result: "plain" }],
    ["plain", true, { error: "plain" }],
    ["[1]", false, { result: "[1]" }],
    ["{broken", false, { result: "{broken" }],
    [' {"a":{}}', false, { a: {} }],
    ['{"a":1}', true, { error: { a: 1 } }],
    ["", false, { result: "" }],
  ])("the result %j (error: %j) is an object", (text, isError, response) => {
    expect(parts(result("c", text, isError))).toEqual([
      { functionResponse: { id: "c", name: "f", response } },
    ]);
  });

  test("T50: images and documents in results reach the model, inside them where it takes that", () => {
    const rich: Part = {
      type: "tool_result",
      id: "c",
      name: "shot",
      isError: false,
      parts: [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
        { type: "image", source: { kind: "data", mediaType: "image/png", data: "AAAA" }, at: "/part" },
        { type: "document", source: { kind: "text", text: "three" }, at: "/part" },
      ],
    };
    const response = { result: "one\ntwo\nthree" };
    const image = { inlineData: { mimeType: "image/png", data: "AAAA" } };
    const turn = [message("user", "/messages/0", rich)];
    expect(contents(turn, OLD)[0]?.parts).toEqual([
      { functionResponse: { id: "c", name: "shot", response } },
      image,
    ]);
    expect(contents(turn, NEW)[0]?.parts).toEqual([
      { functionResponse: { id: "c", name: "shot", response, parts: [image] } },
    ]);
  });

  test.each(["[1]", "{x", "7", '"x"'])("arguments %j are told as invalid", (args) => {
    const turn = [hello, message("assistant", "/messages/1", call("c", "f", args))];
    expect(contents(turn)[1]?.parts).toEqual([
      { functionCall: { id: "c", name: "f", args: { INVALID_JSON: args } } },
    ]);
  });

  test.each(["", " \n", "null"])("arguments %j are none", (args) => {
    expect(contents([message("assistant", "/m", call("c", "f", args))])[0]?.parts).toEqual([
      { functionCall: { id: "c", name: "f", args: {} } },
    ]);
  });
});

describe("options", () => {
  test("all that the provider knows are carried in its words, and none is added", () => {
    const options: NeutralOptions = {
      maxTokens: said(10),
      temperature: said(0),
      topP: said(0.5),
      topK: said(3),
      stop: said(["a", "b"]),
      seed: said(7),
      frequencyPenalty: said(0.1),
      presencePenalty: said(0.2),
      logprobs: said({ top: 2 }),
      choices: said(2),
      parallelTools: said(true),
      serviceTier: said("default"),
    };
    const { body, dropped } = written(requestOf([hello], options));
    expect(dropped).toEqual([]);
    expect(body).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      generationConfig: {
        maxOutputTokens: 10,
        temperature: 0,
        topP: 0.5,
        topK: 3,
        stopSequences: ["a", "b"],
        seed: 7,
        frequencyPenalty: 0.1,
        presencePenalty: 0.2,
        responseLogprobs: true,
        logprobs: 2,
        candidateCount: 2,
      },
      serviceTier: "standard",
    });
    expect(written(requestOf([hello])).body).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    });
  });

  test("those it does not know are named", () => {
    const options: NeutralOptions = {
      logitBias: said({ "1": 1 }, "/logit_bias"),
      verbosity: said("low", "/verbosity"),
      user: said("u", "/user"),
      cacheKey: said("k", "/prompt_cache_key"),
      metadata: said({ a: "b" }, "/metadata"),
      serviceTier: said("scale", "/service_tier"),
    };
    expect(written(requestOf([hello], options)).dropped.toSorted()).toEqual(
      Object.values(options)
        .map(({ at }) => at)
        .toSorted(),
    );
  });

  test("tools are declared with their JSON schemas as they are", () => {
    const parameters = {
      type: "object",
      properties: { a: { $ref: "#/$defs/x" } },
      additionalProperties: false,
    };
    const tools = [
      { name: "f", description: "does", parameters: carried(parameters), strict: true },
      { name: "g", parameters: carried(parameters) },
    ];
    const { body, dropped } = written(requestOf([hello], { toolChoice: said({ name: "f" }) }, { tools }));
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          { name: "f", description: "does", parametersJsonSchema: parameters },
          { name: "g", parametersJsonSchema: parameters },
        ],
      },
    ]);
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } });
    expect(dropped).toEqual(["/tools/0"]);
  });

  test.each([
    ["auto", "AUTO"],
    ["none", "NONE"],
    ["required", "ANY"],
  ] as const)("the tool choice %s is %s", (choice, mode) => {
    const tools = [{ name: "f", parameters: new JsonText("{}") }];
    const { body } = written(requestOf([hello], { toolChoice: said(choice) }, { tools }));
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode } });
  });

  test("output formats", () => {
    const schema = { type: "object" };
    expect(config({ format: said({ type: "text" }) }).config).toBeUndefined();
    expect(config({ format: said({ type: "json" }) }).config).toEqual({
      responseMimeType: "application/json",
    });
    expect(
      config({ format: said({ type: "json_schema", name: "n", schema: carried(schema), strict: true }) }),
    ).toEqual({
      config: { responseMimeType: "application/json", responseJsonSchema: schema },
      dropped: [],
    });
    expect(
      config({ format: said({ type: "json_schema", schema: carried(schema), description: "d" }) }).config
        ?.responseJsonSchema,
    ).toEqual({ description: "d", type: "object" });
  });

  test.each<[string, Reasoning, object | undefined, boolean]>([
    [OLD, { effort: "low" }, { thinkingBudget: 1024 }, false],
    [OLD, { effort: "medium", show: true }, { thinkingBudget: 8192, includeThoughts: true }, false],
    [OLD, { effort: "high", show: false }, { thinkingBudget: 24576, includeThoughts: false }, false],
    [OLD, { effort: "none" }, { thinkingBudget: 0 }, false],
    [OLD, { budgetTokens: 99, effort: "high" }, { thinkingBudget: 99, includeThoughts: true }, false],
    [OLD, { isAdaptive: true }, { thinkingBudget: -1, includeThoughts: true }, false],
    [OLD, { summary: "auto" }, { includeThoughts: true }, false],
    ["gemini-2.5-pro", { effort: "none" }, undefined, true],
    [NEW, { effort: "none" }, { thinkingLevel: "MINIMAL" }, false],
    [NEW, { effort: "medium" }, { thinkingLevel: "MEDIUM" }, false],
    [NEW, { effort: "max" }, { thinkingLevel: "HIGH" }, false],
    [NEW, { budgetTokens: 99 }, { thinkingBudget: 99, includeThoughts: true }, false],
    ["gemini-3.1-pro-preview", { effort: "minimal" }, { thinkingLevel: "LOW" }, false],
    ["gemini-3.1-pro-preview", { effort: "none", show: true }, { includeThoughts: true }, true],
    ["gemini-5-ultra", { effort: "low" }, { thinkingLevel: "LOW" }, false],
  ])("%s is told %j", (model, reasoning, thinkingConfig, isDropped) => {
    const { config: written, dropped } = config({ reasoning: said(reasoning, "/reasoning") }, model);
    expect(written?.thinkingConfig).toEqual(thinkingConfig);
    expect(dropped).toEqual(isDropped ? ["/reasoning"] : []);
  });

  test("a model that does not reason is told nothing of it", () => {
    const told = (effort: "low" | "none") => {
      const endpoint = {
        ...endpointOf(OLD),
        capabilities: { ...endpointOf(OLD).capabilities, reasoning: false },
      };
      return geminiDialect.writeRequest(
        requestOf([hello], { reasoning: said({ effort }, "/reasoning") }),
        endpoint,
      );
    };
    expect(told("low").dropped).toEqual(["/reasoning"]);
    expect(told("none").dropped).toEqual([]);
    expect(told("low").body).toEqual(told("none").body);
  });
});
