/** Requests to Bedrock's Converse, written from neutral terms. */
import { describe, expect, test } from "vitest";
import type { ConverseRequestBody } from "../../../src/wire/converse/body.ts";
import { converseDialect } from "../../../src/wire/converse/dialect.ts";
import type { NeutralMessage, NeutralRequest, Part } from "../../../src/wire/neutral/neutral.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { carried, parsedBody } from "../../support/wire/carried.ts";
import { latin1Of } from "../../support/wire/converse.fixtures.ts";
import { assembled, eventsOf } from "./assembled.ts";
import { endpointOf, hello, message, requestOf } from "./gemini.fixtures.ts";

const CLAUDE = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "amazon.nova-pro-v1:0";

const written = (request: NeutralRequest, model = CLAUDE, cache = true) => {
  const { body, dropped } = converseDialect.writeRequest(request, endpointOf(model, cache));
  return { body: parsedBody(body as ConverseRequestBody), dropped };
};
const messages = (given: readonly NeutralMessage[], model = CLAUDE) =>
  written(requestOf(given), model).body.messages;
const blocks = (...parts: Part[]) => {
  const { body, dropped } = written(
    requestOf([
      hello,
      message("assistant", "/messages/0", { type: "text", text: "Yes?" }),
      message("user", "/messages/1", ...parts),
    ]),
  );
  return { blocks: body.messages[2]?.content ?? [], dropped };
};

const png = { kind: "data", mediaType: "image/png", data: "AAAA" } as const;
const at = "/messages/1/content/0";
const question: Part = { type: "text", text: "q" };
const pdf = { kind: "data", mediaType: "application/pdf", data: "JVBE" } as const;

describe("a conversation", () => {
  test("has its instructions apart, and its sides by turns", () => {
    const { body } = written(
      requestOf([
        message("system", "/system", { type: "text", text: "Be brief." }),
        message("user", "/messages/0", { type: "text", text: "A" }),
        message("user", "/messages/1", { type: "text", text: "B" }, { type: "text", text: "" }),
        message("assistant", "/messages/2", { type: "text", text: "" }),
        message("user", "/messages/3", { type: "text", text: "C" }),
        message("assistant", "/messages/4", { type: "refusal", text: "No." }),
      ]),
    );
    expect(body).toEqual({
      system: [{ text: "Be brief." }],
      messages: [
        { role: "user", content: [{ text: "A" }, { text: "B" }, { text: "C" }] },
        { role: "assistant", content: [{ text: "No." }] },
      ],
    });
  });

  test("of instructions only is refused, by its place", () => {
    const request = requestOf([message("system", "/system", { type: "text", text: "x" })]);
    expect(() => written(request)).toThrow(
      expect.objectContaining({ kind: "invalid_value", param: "/system" }),
    );
  });

  test("carries images, documents, sound and video by their formats, and refuses what it cannot", () => {
    const s3 = { kind: "url", url: "s3://bucket/film.mkv" } as const;
    const { blocks: content, dropped } = blocks(
      { type: "image", source: { ...png, mediaType: "image/jpeg" }, at },
      { type: "document", source: pdf, name: "a", at },
      { type: "audio", source: { ...png, mediaType: "audio/mpeg" }, at },
      { type: "video", source: s3, at },
    );
    expect(content).toEqual([
      { image: { format: "jpeg", source: { bytes: "AAAA" } } },
      { text: "(empty)" },
      { document: { format: "pdf", name: "a", source: { bytes: "JVBE" } } },
      { audio: { format: "mp3", source: { bytes: "AAAA" } } },
      { video: { format: "mkv", source: { s3Location: { uri: "s3://bucket/film.mkv" } } } },
    ]);
    expect(dropped).toEqual([]);
    for (const part of [
      { type: "image", source: { kind: "url", url: "https://x.example/a.png" }, at },
      { type: "image", source: { ...png, mediaType: "image/tiff" }, at },
      { type: "document", source: { kind: "file", id: "file-1" }, at },
    ] satisfies Part[]) {
      expect(() => blocks(part)).toThrow(
        expect.objectContaining({ kind: "capability_not_supported", param: at }),
      );
    }
  });

  test("documents have names that the provider takes, none twice", () => {
    const named = (name?: string): Part => ({
      type: "document",
      source: pdf,
      at,
      ...(name !== undefined && { name }),
    });
    const { blocks: content } = blocks(
      ...["rates.v1.pdf", "rates v1.pdf", "rates.v1.pdf", "  a   b  ", "größe [1] (2)", "…"].map(named),
      named(),
      named("x".repeat(500)),
    );
    const names = content.flatMap((block) => ("document" in block ? block.document.name : []));
    expect(names).toEqual([
      "rates-v1-pdf",
      "rates v1-pdf",
      "rates-v1-pdf (2)",
      "a b",
      "gr-e [1] (2)",
      "document",
      "document (2)",
      "x".repeat(180),
    ]);
  });

  test("a name that stands for a longer one is not shown to the provider", () => {
    const body = Buffer.from(JSON.stringify({ name: "n".repeat(9) }));
    const { value } = new Source(body, [{ start: 9, end: 18 }]);
    const { name } = value as { name: string };
    const { blocks: content } = blocks(question, { type: "document", source: pdf, name, at });
    expect(content.slice(1)).toEqual([
      { document: { format: "pdf", name: "document", source: { bytes: "JVBE" } } },
    ]);
  });

  test("documents of text keep their context, and are cited where that is asked", () => {
    const source = { kind: "text", text: "plain" } as const;
    const cited: Part = { type: "document", source, name: "n", context: "c", citations: true, at };
    expect(blocks(question, cited).blocks.slice(1)).toEqual([
      {
        document: {
          format: "txt",
          name: "n",
          source: { text: "plain" },
          context: "c",
          citations: { enabled: true },
        },
      },
    ]);
  });

  test("T50: cache marks on every kind of block become cache points behind them", () => {
    const cache = { ttl: "1h" } as const;
    const point = { cachePoint: { type: "default", ttl: "1h" } };
    const text: Part = { type: "text", text: "x", cache: {} };
    const request = requestOf(
      [
        message("system", "/system", { type: "text", text: "S", cache }),
        message(
          "user",
          "/m/0",
          text,
          { type: "image", source: png, cache, at },
          { type: "document", source: pdf, cache, at },
        ),
        message("assistant", "/m/1", { type: "tool_call", id: "c", name: "f", arguments: "{}", cache }),
        message("user", "/m/2", {
          type: "tool_result",
          id: "c",
          name: "f",
          isError: false,
          parts: [{ type: "text", text: "r", cache }],
        }),
      ],
      {},
      { tools: [{ name: "f", parameters: carried({}), cache }] },
    );
    const { body, dropped } = written(request);
    const kinds = (content: readonly object[] = []) => content.map((block) => Object.keys(block)[0]);
    expect(body.system).toEqual([{ text: "S" }, point]);
    expect(body.messages[0]?.content[1]).toEqual({ cachePoint: { type: "default" } });
    expect(kinds(body.messages[0]?.content)).toEqual(
      ["text", "image", "document"].flatMap((kind) => [kind, "cachePoint"]),
    );
    expect(kinds(body.messages[1]?.content)).toEqual(["toolUse", "cachePoint"]);
    expect(kinds(body.messages[2]?.content)).toEqual(["toolResult", "cachePoint"]);
    expect(body.toolConfig?.tools[1]).toEqual(point);
    expect(dropped).toEqual([]);
    expect(JSON.stringify(written(request, NOVA, false).body)).not.toContain("cachePoint");
  });
});

describe("a tool loop", () => {
  test("T47: reasoning goes back byte by byte and in order, to the models that it came from only", () => {
    const [choice] = assembled(
      eventsOf(converseDialect.streamReader(1 << 20), [latin1Of("thinking-tools")]),
    ).choices;
    const turn = [
      hello,
      message("assistant", "/messages/1", ...(choice?.parts ?? []).filter((part) => part.type !== "media")),
    ];
    expect(messages(turn)[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: "Two cities.", signature: "EqoBCkgIBxABGAIqQL8/a==" } } },
      { reasoningContent: { redactedContent: "UkVEQUNURUQ=" } },
      { text: "Checking…" },
      {
        toolUse: {
          toolUseId: "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
          name: "get_weather",
          input: { city: "Zürich\n" },
        },
      },
      { toolUse: { toolUseId: "tooluse_b", name: "now", input: {} } },
    ]);
    const elsewhere = written(requestOf(turn), NOVA);
    expect(JSON.stringify(elsewhere.body)).not.toContain("reasoningContent");
    expect(elsewhere.dropped).toEqual(["/messages/1"]);
  });

  test("reasoning of other makers, or without a seal, is dropped", () => {
    for (const seal of [undefined, { by: "google", data: "S" } as const]) {
      const turn = message("assistant", "/messages/1", {
        type: "reasoning",
        text: "hm",
        ...(seal && { seal }),
      });
      const { body, dropped } = written(requestOf([hello, turn]));
      expect([body.messages.length, dropped]).toEqual([1, ["/messages/1"]]);
    }
  });

  test("T50: results carry texts, images and documents, and whether they are errors", () => {
    const result = (
      isError: boolean,
      ...parts: (Part & { type: "text" | "image" | "document" })[]
    ): Part => ({
      type: "tool_result",
      id: "c",
      name: "f",
      isError,
      parts,
    });
    const rich = result(
      false,
      { type: "text", text: '{"a":1}' },
      { type: "image", source: png, at },
      { type: "document", source: pdf, at },
    );
    expect(blocks(rich, result(true)).blocks).toEqual([
      {
        toolResult: {
          toolUseId: "c",
          content: [
            { text: '{"a":1}' },
            { image: { format: "png", source: { bytes: "AAAA" } } },
            { document: { format: "pdf", name: "document", source: { bytes: "JVBE" } } },
          ],
        },
      },
      { toolResult: { toolUseId: "c", content: [{ json: {} }], status: "error" } },
    ]);
  });

  test.each(["[1]", "{x", "7"])("arguments %j are told as invalid", (args) => {
    const turn = message("assistant", "/messages/1", {
      type: "tool_call",
      id: "c",
      name: "f",
      arguments: args,
    });
    const [, told] = messages([hello, turn]);
    expect(told?.content).toEqual([
      { toolUse: { toolUseId: "c", name: "f", input: { INVALID_JSON: args } } },
    ]);
  });

  test("results of calls come before anything else that is said, their cache points with them", () => {
    const result: Part = { type: "tool_result", id: "c", name: "f", isError: false, parts: [], cache: {} };
    const { blocks: content } = blocks({ type: "text", text: "a" }, result, { type: "text", text: "b" });
    expect(content.map((block) => Object.keys(block)[0])).toEqual([
      "toolResult",
      "cachePoint",
      "text",
      "text",
    ]);
  });
});
