/**
 * The simulated Gemini: its answers whole and streamed, what it counts, what it refuses, and its errors.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { GeminiClient, GOOGLE, partsOf, textOf, user, withPath } from "./gemini.fixtures.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const google = new GeminiClient(() => simulator.url);

describe("an answer", () => {
  test("is of the API's shape", async () => {
    expect(await google.whole(user("What is a weir?"))).toEqual({
      candidates: [
        {
          content: { parts: [{ text: expect.stringMatching(/^\S+( \S+){15}$/) }], role: "model" },
          finishReason: "STOP",
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: 4,
        candidatesTokenCount: 16,
        totalTokenCount: 20,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 4 }],
      },
      modelVersion: "gemini-sim",
      responseId: expect.stringMatching(/^[0-9a-f]{24}$/),
    });
  });

  test("streamed is the same as whole, usage growing with each event", async () => {
    const body = user("Hi [[sim reasoning=3 tokens=4 prompt_tokens=100 cached_tokens=60]]", {
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    });
    const reply = await google.whole(body);
    const events = await google.streamed(body);
    const parts = events.flatMap(partsOf);
    expect(textOf(parts)).toBe(textOf(partsOf(reply)));
    expect(textOf(parts, true)).toBe(textOf(partsOf(reply), true));
    expect(textOf(parts, true).split(" ")).toHaveLength(3);
    expect(events.at(-1)?.usageMetadata).toEqual(reply.usageMetadata);
    expect(reply.usageMetadata).toMatchObject({
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 4,
      thoughtsTokenCount: 3,
      totalTokenCount: 107,
    });
    const totals = events.map((event) => event.usageMetadata?.totalTokenCount);
    expect(totals).toEqual([101, 102, 103, 104, 105, 106, 107, 107]);
    // The signature of the text comes last, on a part without text.
    expect(parts.at(-1)).toEqual({ text: "", thoughtSignature: partsOf(reply).at(-1)?.thoughtSignature });
    expect(parts.at(-1)?.thoughtSignature).toMatch(/^(?=.*\+)(?=.*\/).*=$/);
  });

  test("counts thoughts that it was not asked to show", async () => {
    const reply = await google.whole(user("Hi [[sim reasoning=3 tokens=2]]"));
    expect(textOf(partsOf(reply), true)).toBe("");
    expect(reply.usageMetadata).toMatchObject({ candidatesTokenCount: 2, thoughtsTokenCount: 3 });
  });

  test("ends at its bound with MAX_TOKENS, and when withheld with SAFETY and no content", async () => {
    const cut = await google.whole(user("Hi", { generationConfig: { maxOutputTokens: 3 } }));
    expect(cut.candidates?.[0]).toMatchObject({ finishReason: "MAX_TOKENS" });
    const withheld = user('[[sim refuse="I cannot."]]');
    const reply = await google.whole(withheld);
    expect(reply.candidates?.[0]).toMatchObject({ finishReason: "SAFETY", finishMessage: "I cannot." });
    expect(reply.candidates?.[0]).not.toHaveProperty("content");
    expect((await google.streamed(withheld)).map((event) => event.candidates)).toEqual([reply.candidates]);
  });

  test("comes several times where candidates are asked for", async () => {
    const body = user("Hi [[sim tokens=2]]", { generationConfig: { candidateCount: 2 } });
    const reply = await google.whole(body);
    expect(reply.candidates?.map(({ index }) => index)).toEqual([0, 1]);
    const second = (await google.streamed(body)).filter((event) => event.candidates?.[0]?.index === 1);
    expect(textOf(second.flatMap(partsOf))).toBe(reply.candidates?.[1]?.content?.parts[0]?.text);
  });

  test.each([
    ["responseSchema", { type: "OBJECT", properties: { depth: { type: "INTEGER" } } }],
    ["responseJsonSchema", { type: "object", properties: { depth: { type: "integer" } } }],
  ])("fits %s", async (name, schema) => {
    const generationConfig = { responseMimeType: "application/json", [name]: schema };
    expect(JSON.parse(textOf(partsOf(await google.whole(user("Hi", { generationConfig })))))).toEqual({
      depth: 7,
    });
  });

  test("has the size that it was told to have", async () => {
    const body = user("Hi [[sim bytes=4000]]");
    expect((await (await google.post(body)).arrayBuffer()).byteLength).toBe(4000);
    const text = await (await google.post(body, "streamGenerateContent?alt=sse")).text();
    const sizes = text.split(/(?<=\r\n\r\n)/).map((event) => Buffer.byteLength(event));
    expect(new Set(sizes)).toEqual(new Set([4000]));
    const bulk = await google.post(
      user("Hi [[sim total_bytes=50000 event_bytes=1000]]"),
      "streamGenerateContent?alt=sse",
    );
    expect((await bulk.text()).split(/(?<=\r\n\r\n)/).filter((event) => event.length === 1000)).toHaveLength(
      50,
    );
  });

  test.each([
    ["none", 0],
    ["with_last", 1],
    ["split", 1],
    ["every", 4],
  ])("reports usage %s on %i events", async (usage, count) => {
    const events = await google.streamed(user("Hi"), withPath({ tokens: 3, usage }));
    const reporting = events.filter((event) => event.usageMetadata !== undefined);
    expect(reporting).toHaveLength(count);
    expect(events.at(-1)?.candidates === undefined).toBe(usage === "split");
  });
});

test.each<[object, string]>([
  [user("Hi", { max_tokens: 5 }), 'Unknown name "max_tokens": Cannot find field.'],
  [user("Hi", { generationConfig: { maxTokens: 5 } }), "Unknown name \"maxTokens\" at 'generation_config'"],
  [{ contents: [{ role: "assistant", parts: [{ text: "Hi" }] }] }, "Please use a valid role: user, model."],
  [{ contents: [{ role: "user", parts: [] }] }, "parts must not be empty"],
  [
    { contents: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }] },
    "Unknown name \"type\" at 'contents[0].parts[0]'",
  ],
  [{ contents: [] }, "contents is not specified"],
  [user("Hi", { generationConfig: { temperature: 2.5 } }), "temperature"],
  [user("Hi", { generationConfig: { responseSchema: { type: "OBJECT" } } }), "response_mime_type"],
  [
    user("Hi", {
      tools: [
        {
          functionDeclarations: [{ name: "f", parameters: { type: "object", additionalProperties: false } }],
        },
      ],
    }),
    "Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters'",
  ],
  [user("Hi", { toolConfig: { functionCallingConfig: { mode: "ANY" } } }), "without function_declarations"],
])("refuses %j", async (body, message) => {
  expect(await google.refused(body)).toContain(message);
});

test("takes media, system instruction, safety settings and cached content", async () => {
  const body = {
    contents: [
      {
        role: "user",
        parts: [
          { text: "What is this?" },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          { fileData: { mimeType: "application/pdf", fileUri: "https://example.com/a.pdf" } },
        ],
      },
    ],
    systemInstruction: { parts: [{ text: "Be brief." }] },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    cachedContent: "cachedContents/a",
    generationConfig: { temperature: 1, topP: 0.5, topK: 40, seed: 7, stopSequences: ["END"] },
  };
  expect((await google.whole(body)).usageMetadata?.promptTokenCount).toBe(6);
});

test("counts tokens of contents, and of a request", async () => {
  const count = async (body: unknown) =>
    (await (await google.post(body, "countTokens")).json()) as { totalTokens: number };
  expect((await count(user("What is a weir?"))).totalTokens).toBe(4);
  const generateContentRequest = {
    model: "models/gemini-sim",
    ...user("What is a weir?", { systemInstruction: { parts: [{ text: "Be brief." }] } }),
  };
  expect((await count({ generateContentRequest })).totalTokens).toBe(7);
  expect(await google.refused({ prompt: "Hi" }, "countTokens")).toContain('Unknown name "prompt"');
});

test("tells errors as a google.rpc.Status, before a stream and within it", async () => {
  const busy = await google.post(
    user("Hi"),
    "generateContent",
    withPath({ status: 429, error_code: "RATE_LIMIT_EXCEEDED" }),
  );
  expect(busy.status).toBe(429);
  expect(await busy.json()).toMatchObject({
    error: {
      code: 429,
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "RATE_LIMIT_EXCEEDED" }],
    },
  });
  const events = (await google.streamed(user("Hi"), withPath({ fault: "error_mid", after: 2 }))) as unknown[];
  expect(events).toHaveLength(3);
  expect(events[2]).toMatchObject({ error: { code: 500, status: "INTERNAL" } });
});

test("refuses a wrong key with 400, as a wrong argument", async () => {
  const url = `${simulator.url}${GOOGLE}:generateContent`;
  const headers = { "x-goog-api-key": "invalid" };
  const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(user("Hi")) });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({
    error: { message: expect.stringMatching(/^API key not valid/), status: "INVALID_ARGUMENT" },
  });
});
