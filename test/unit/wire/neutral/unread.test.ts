/**
 * What a splice leaves to the upstream: shapes that some provider takes although they are in no documentation pass as they
 * came. In front of another dialect they are understood where their meaning is clear, else refused or told, by their place.
 */
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../../src/base/errors.ts";
import type { ClientFormat } from "../../../../src/wire/format.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { passageTo } from "../../../../src/wire/passages.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";

type Body = Readonly<Record<string, unknown>>;

const TOOL = { name: "look_up", description: "d", parameters: { type: "object", properties: {} } };
const USER = { role: "user", content: "Hi" };

interface Shape {
  readonly name: string;
  readonly body: Body;
  /** In front of another dialect: what it is told (default), a warning's pointer, or the pointer of a refusal. */
  readonly dropped?: string;
  readonly refused?: string;
  /** A part of the text that the other dialect must be told. */
  readonly told?: string;
}

interface Kind {
  readonly format: ClientFormat;
  readonly base: Body;
  /** A dialect that the format is translated into. */
  readonly other: "chat" | "messages" | "cohere";
  readonly shapes: readonly Shape[];
}

const chatCall = (fn: object) => ({
  messages: [
    USER,
    { role: "assistant", content: null, tool_calls: [{ id: "c1", function: fn }] },
    { role: "tool", tool_call_id: "c1", content: "4" },
  ],
});

const CHAT: readonly Shape[] = [
  { name: "tools without a type", body: { tools: [{ function: TOOL }] }, told: "look_up" },
  { name: "tools whose type is null", body: { tools: [{ type: null, function: TOOL }] }, told: "look_up" },
  { name: "tools that are bare functions", body: { tools: [TOOL] }, told: "look_up" },
  { name: "tools of a kind of their own", body: { tools: [{ web_search: {} }] }, dropped: "/tools/0" },
  { name: "tools by name", body: { tools: ["web_search"] }, refused: "/tools/0" },
  { name: "null beside tool calls", body: chatCall({ name: "f", arguments: "{}" }), told: "c1" },
  { name: "arguments as an object", body: chatCall({ name: "f", arguments: { x: 7 } }), told: '"x":7' },
  { name: "both bounds", body: { max_tokens: 7, max_completion_tokens: 9 }, told: ":9" },
  {
    name: "an unknown role",
    body: { messages: [{ role: "ipython", content: "4" }] },
    refused: "/messages/0/role",
  },
  { name: "no role", body: { messages: [{ content: "4" }] }, refused: "/messages/0/role" },
  {
    name: "one part by itself",
    body: { messages: [{ role: "user", content: { type: "text", text: "Hi" } }] },
    refused: "/messages/0/content",
  },
  {
    name: "parts that are texts",
    body: { messages: [{ role: "user", content: ["green", { type: "text", text: "Hi" }] }] },
    told: "green",
  },
  {
    name: "parts without a type",
    body: {
      messages: [{ role: "user", content: [{ text: "green" }, { image_url: { url: "https://e/x" } }] }],
    },
    told: "https://e/x",
  },
  {
    name: "parts of a kind of their own",
    body: { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }, { type: 7 }] }] },
    dropped: "/messages/0/content/1",
  },
  { name: "numbers as text", body: { temperature: "0.7" }, refused: "/temperature" },
  { name: "a stop that is a number", body: { stop: 4 }, refused: "/stop" },
  { name: "a format without a type", body: { response_format: { schema: {} } }, dropped: "/response_format" },
  { name: "a user that is a number", body: { user: 12 }, refused: "/user" },
];

const MESSAGES: readonly Shape[] = [
  { name: "tools without a type", body: { tools: [{ name: "f", input_schema: {} }] }, told: '"f"' },
  { name: "tools by name", body: { tools: ["web_search"] }, refused: "/tools/0" },
  {
    name: "content that is null",
    body: { messages: [USER, { role: "assistant", content: null }, USER] },
    told: "Hi",
  },
  {
    name: "one block by itself",
    body: { messages: [{ role: "user", content: { type: "text", text: "Hi" } }] },
    refused: "/messages/0/content",
  },
  {
    name: "blocks that are texts",
    body: { messages: [{ role: "user", content: ["Hi"] }] },
    refused: "/messages/0/content/0",
  },
  {
    name: "an unknown role",
    body: { messages: [{ role: "tool", content: "4" }] },
    refused: "/messages/0/role",
  },
  {
    name: "a choice by its name",
    body: { tools: [{ name: "f", input_schema: {} }], tool_choice: "any" },
    told: "required",
  },
  { name: "an unknown choice", body: { tool_choice: "some" }, dropped: "/tool_choice" },
  { name: "numbers as text", body: { top_p: "0.7" }, refused: "/top_p" },
  { name: "a stop that is no list", body: { stop_sequences: "x" }, refused: "/stop_sequences" },
  { name: "a stop that is a number", body: { stop_sequences: ["x", 1] }, refused: "/stop_sequences/1" },
  { name: "thinking by its name", body: { thinking: "enabled" }, dropped: "/thinking" },
  { name: "metadata as text", body: { metadata: "u" }, dropped: "/metadata" },
  { name: "a config as text", body: { output_config: "json" }, dropped: "/output_config" },
  { name: "a system prompt that is an object", body: { system: { text: "x" } }, refused: "/system" },
];

const RESPONSES: readonly Shape[] = [
  { name: "tools without a type", body: { tools: [TOOL] }, told: "look_up" },
  { name: "tools of a kind of their own", body: { tools: [{ web_search: {} }] }, dropped: "/tools/0" },
  { name: "instructions that are items", body: { instructions: [USER] }, refused: "/instructions" },
  { name: "items whose type is a number", body: { input: [{ type: 1 }] }, refused: "/input/0/type" },
  {
    name: "content that is a number",
    body: { input: [{ role: "user", content: 1 }] },
    refused: "/input/0/content",
  },
  {
    name: "parts that are texts",
    body: { input: [{ role: "user", content: ["x"] }] },
    refused: "/input/0/content/0/type",
  },
  { name: "numbers as text", body: { temperature: "0.7" }, refused: "/temperature" },
  { name: "reasoning by its name", body: { reasoning: "high" }, dropped: "/reasoning" },
  { name: "a format without a type", body: { text: { format: {} } }, dropped: "/text/format" },
];

const EMBEDDINGS: readonly Shape[] = [
  { name: "objects", body: { input: [{ text: "Hi" }, { image: "https://e/x" }] }, refused: "/input" },
  { name: "texts beside objects", body: { input: ["Hi", { image: "https://e/x" }] }, refused: "/input" },
  { name: "texts beside numbers", body: { input: ["a", 1] }, refused: "/input" },
  { name: "numbers that are no ids", body: { input: [1.5] }, refused: "/input" },
  { name: "an empty list among lists", body: { input: [[1], []] }, refused: "/input" },
  { name: "one object", body: { input: { text: "Hi" } }, refused: "/input" },
  { name: "another encoding", body: { encoding_format: "ubinary" }, refused: "/encoding_format" },
  { name: "a user that is a number", body: { user: 12 }, refused: "/user" },
];

const kindOf = (
  name: "chat" | "messages" | "responses" | "embeddings",
  kind: Omit<Kind, "format">,
): Kind => ({
  format: FORMATS[name],
  ...kind,
});

const KINDS: readonly Kind[] = [
  kindOf("chat", { base: { messages: [USER] }, other: "messages", shapes: CHAT }),
  kindOf("messages", { base: { max_tokens: 9, messages: [USER] }, other: "chat", shapes: MESSAGES }),
  kindOf("responses", { base: { input: "Hi" }, other: "chat", shapes: RESPONSES }),
  kindOf("embeddings", { base: { input: "Hi" }, other: "cohere", shapes: EMBEDDINGS }),
];

const CASES = KINDS.flatMap((kind) =>
  kind.shapes.map((shape) => [kind.format.name, shape.name, kind, shape] as const),
);

const textOf = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString();

const written = ({ format }: Kind, body: Body, dialects: Parameters<typeof endpoint>[1]) => {
  const up = endpoint("e", { upstreamModel: "up", ...dialects });
  const way = passageTo(format, up);
  if (way === undefined) throw new Error("no way");
  // On the platform's credential, tools of unknown kinds are left out.
  return way.passage.write(format.read(Buffer.from(JSON.stringify(body))), up, "org");
};

test.each(CASES)("O20: %s: %s pass spliced", (_, __, kind, shape) => {
  const own = kind.format.splice?.dialect;
  if (own === undefined) throw new Error("no splice");
  const body = { model: "v/m", ...kind.base, ...shape.body };
  const { parts, dropped } = written(kind, body, { dialects: [own] });
  expect(textOf(parts)).toBe(JSON.stringify({ ...body, model: "up" }));
  expect(dropped).toEqual([]);
});

test.each(CASES)("O20: %s: %s before another dialect", (_, __, kind, { body, dropped, refused, told }) => {
  const write = () => written(kind, { model: "v/m", ...kind.base, ...body }, { dialects: [kind.other] });
  if (refused === undefined) {
    const outgoing = write();
    expect(outgoing.dropped).toEqual(dropped === undefined ? [] : [dropped]);
    expect(textOf(outgoing.parts)).toContain(told ?? "");
    return;
  }
  const error = caught(write);
  expect([error.kind, error.param]).toEqual(["invalid_value", refused]);
});

function caught(act: () => unknown): WeirError {
  try {
    act();
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

describe("what metering reads is found in such shapes too", () => {
  const factsOf = (name: "chat" | "messages" | "responses" | "embeddings", body: Body) =>
    FORMATS[name].read(Buffer.from(JSON.stringify({ model: "v/m", ...body }))).facts;
  const image = { image_url: { url: "https://e/x.png" } };
  const block = { type: "image", source: { type: "url", url: "https://e/x.png" } };

  test("O20: an image in a part without a type, and in content that is one part", () => {
    const chat = (content: unknown) => factsOf("chat", { messages: [{ content }] }).imageCount;
    expect([chat([image, "text", null, 3]), chat(image), chat([{ type: "image_url", ...image }])]).toEqual([
      1, 1, 1,
    ]);
    const messages = (content: unknown) =>
      factsOf("messages", { max_tokens: 1, messages: [{ content }] }).imageCount;
    expect([messages(block), messages([block, "text", null])]).toEqual([1, 1]);
    const input = [{ content: { type: "input_image" }, output: [null, "x", { type: "input_image" }] }];
    expect(factsOf("responses", { input }).imageCount).toBe(2);
  });

  test("O20: sound and files without a type are uncounted", () => {
    const has = (part: object) => factsOf("chat", { messages: [{ content: [part] }] }).hasUncounted;
    expect([has({ input_audio: {} }), has({ file: {} }), has({ video_url: {} }), has({ text: "x" })]).toEqual(
      [true, true, true, false],
    );
  });

  test("O20: input of another kind is held for as the most, and its base64 is no text", () => {
    const data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(4000);
    const facts = factsOf("embeddings", {
      input: [{ text: "Hi" }, { image_url: { url: `data:image/png;base64,${data}` } }],
    });
    expect(facts.hasUncounted).toBe(true);
    expect(facts.promptTokens).toBeLessThan(100);
    expect(factsOf("embeddings", { input: ["Hi"] }).hasUncounted).toBe(false);
  });

  test.each<[string, "chat" | "messages" | "responses", unknown]>([
    ["a document by its address", "chat", { type: "document_url", document_url: "https://e/x.pdf" }],
    ["sound by its address", "chat", { type: "audio_url", audio_url: { url: "https://e/x.wav" } }],
    ["a kind of a provider's own", "chat", { type: "image", source: { url: "https://e/x" } }],
    ["a file beside an image", "chat", { type: "image_url", image_url: { url: "https://e/x" }, file: {} }],
    ["parts in a list of their own", "chat", [image]],
    ["a source without a type", "messages", { source: { type: "url", url: "https://e/x" } }],
    ["an unknown block with a source", "messages", { type: "file", source: { type: "file", file_id: "f" } }],
    ["blocks in a list of their own", "messages", [block]],
    ["a block of no kind that is known", "messages", { image: "https://e/x" }],
    ["base64 in a text block", "messages", { type: "text", text: "x", data: "A".repeat(999) }],
    ["a file without a type", "responses", { file_id: "f" }],
    ["a file's address without a type", "responses", { file_url: "https://e/x.pdf" }],
    ["parts in a list of their own", "responses", [{ type: "input_image" }]],
    ["base64 in a text part", "responses", { type: "input_text", text: "x", data: "A".repeat(999) }],
  ])("O20: %s of %s is held for as the most", (_, name, part) => {
    const turns = [{ role: "user", content: [{ type: "text", text: "Hi" }, part] }];
    const body = name === "responses" ? { input: turns } : { max_tokens: 1, messages: turns };
    expect(factsOf(name, body).hasUncounted).toBe(true);
  });

  test("O20: images of responses are found without a type, as an item, and in instructions", () => {
    const url = { image_url: "https://e/x.png" };
    const count = (body: Body) => factsOf("responses", body).imageCount;
    expect(count({ input: [{ role: "user", content: [url] }] })).toBe(1);
    expect(count({ input: [{ type: "input_image", ...url }] })).toBe(1);
    expect(count({ input: "Hi", instructions: [{ role: "user", content: [url] }] })).toBe(1);
    const system = [block];
    expect(factsOf("messages", { max_tokens: 1, system, messages: [USER] }).imageCount).toBe(1);
  });

  test("O20: as many answers count as the provider makes", () => {
    const choices = (members: Body) => factsOf("chat", { messages: [USER], ...members }).choices;
    expect([choices({ best_of: 9 }), choices({ n: 2, best_of: 1 }), choices({ best_of: null })]).toEqual([
      9, 2, 1,
    ]);
    expect(caught(() => choices({ best_of: "9" })).param).toBe("/best_of");
  });

  test.each<["chat" | "messages" | "responses", Body]>([
    ["chat", { web_search_options: {} }],
    ["chat", { plugins: [{ id: "web" }] }],
    ["chat", { search_parameters: { mode: "auto" } }],
    ["chat", { enable_search: true }],
    ["chat", { tools: [{ type: "web_search", web_search: { enable: true } }] }],
    ["messages", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
    ["messages", { mcp_servers: [{ type: "url", url: "https://e", name: "e" }] }],
    ["responses", { tools: [{ type: "file_search", vector_store_ids: ["v"] }] }],
    ["responses", { tools: [{ type: "mcp", server_url: "https://e" }] }],
  ])("O20: %s: what a provider looks for by itself is of any length: %j", (name, members) => {
    const turns = name === "responses" ? { input: "Hi" } : { max_tokens: 1, messages: [USER] };
    const asked = (body: Body) =>
      FORMATS[name].read(Buffer.from(JSON.stringify({ model: "v/m", ...turns, ...body }))).extras.asks;
    expect(asked(members)).toMatchObject([{ isRead: true }]);
    expect(asked({ enable_search: false, tools: [TOOL] })).toEqual([]);
  });

  test("O20: each of many inputs of another kind may be a context long", () => {
    const inputs = (input: unknown) => factsOf("embeddings", { input }).separateInputs;
    const picture = { image: "https://e/x" };
    expect([inputs([picture, picture, "Hi"]), inputs({ contents: [picture, picture] })]).toEqual([3, 2]);
    expect([inputs(picture), inputs(["Hi", "Ho"])]).toEqual([1, undefined]);
  });

  test.each([0, "many", 1.5, {}])(
    "O20: embeddings of %j dimensions are refused before a provider is asked",
    (dimensions) => {
      expect(caught(() => factsOf("embeddings", { input: "Hi", dimensions })).param).toBe("/dimensions");
    },
  );

  test.each<[string, Body, string]>([
    ["messages that are no list", { messages: {} }, "/messages"],
    ["a message that is text", { messages: ["Hi"] }, "/messages/0"],
    ["content that is a number", { messages: [{ content: 5 }] }, "/messages/0/content"],
    ["a bound as text", { messages: [USER], max_tokens: "9" }, "/max_tokens"],
    ["a number of answers as text", { messages: [USER], n: "2" }, "/n"],
    ["a stream as text", { messages: [USER], stream: "yes" }, "/stream"],
    ["tools that are no list", { messages: [USER], tools: {} }, "/tools"],
    ["a format as text", { messages: [USER], response_format: "json" }, "/response_format"],
  ])("O20: what it must know is refused all the same: %s", (_, body, pointer) => {
    const error = caught(() => factsOf("chat", body));
    expect([error.kind, error.param]).toEqual(["invalid_value", pointer]);
  });
});
