/** Requests of every format in canonical form: the native format says the same, and says it of itself. */
import { describe, expect, it } from "vitest";
import { canonicalRequest } from "../../../src/wire/canonical.ts";
import { embedRequestSchema } from "../../../src/wire/embed/schema.ts";
import type { FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { generateRequestSchema } from "../../../src/wire/generate/schema.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { rerankRequestSchema } from "../../../src/wire/rerank/schema.ts";
import { ANSWERS } from "../../support/conformance/cases.ts";
import { answersOf, CLIENTS } from "../../support/conformance/pairs.ts";

const bytesOf = (body: unknown): Buffer => Buffer.from(JSON.stringify(body));
const canonical = (format: FormatName, body: unknown) => canonicalRequest(format, bytesOf(body));

const withoutPlaces = (parts: unknown): unknown =>
  JSON.parse(JSON.stringify(parts, (key, value) => (key === "at" ? undefined : value)));

/** What a body asks for, without where it was said and what only this format has. */
function asked(format: FormatName, body: unknown) {
  const bytes = bytesOf(body);
  const request = FORMATS[format].read(bytes);
  const neutral = FORMATS[format].generation?.neutral(request, new Source(bytes, []));
  if (neutral === undefined) throw new Error(`${format} asks for no generation`);
  const { messages, tools, options, stream } = neutral;
  const { user: _, metadata: __, reasoning, ...said } = options;
  const { summary, ...thinking } = reasoning?.value ?? {};
  return {
    stream,
    tools,
    messages: messages.map(({ role, parts }) => ({ role, parts: withoutPlaces(parts) })),
    thinking,
    options: Object.fromEntries(Object.entries(said).map(([name, option]) => [name, option.value])),
  };
}

describe.each(Object.values(CLIENTS))("O27: the canonical form of a $name request", (client) => {
  it.each(answersOf(client).map((one) => [one.name, one.ask] as const))("%s", (_name, ask) => {
    for (const stream of [false, true]) {
      const body = client.request(ask, "test/model", stream);
      const found = canonical(client.name, body);
      expect(generateRequestSchema.parse(found)).toEqual(found);
      expect(found?.model).toBe("test/model");
      expect(asked("generate", found)).toEqual(asked(client.name, body));
      expect(canonical("generate", found)).toEqual(found);
    }
  });
});

it("O27: clients of all formats that ask the same have the same canonical request", () => {
  const plain = ANSWERS.find(({ needs }) => needs.length === 0);
  expect(plain).toBeDefined();
  const said = Object.values(CLIENTS).map((client) => {
    const { messages } = canonical(client.name, client.request(plain?.ask as never, "m", false)) ?? {};
    return messages;
  });
  expect(new Set(said.map((messages) => JSON.stringify(messages))).size).toBe(1);
});

it.each([
  { prompt: "a", suffix: "b", max_tokens: 3 },
  { prompt: [[1, 2], [3]], echo: true },
  { prompt: ["a", "ü"], best_of: 2 },
])("O27: what only a model that continues texts can be asked is shown as it was: %j", (body) => {
  const said = { model: "m", ...body, user: "u", svc: { metadata: { app: "x" } } };
  expect(canonical("completions", said)).toEqual({
    model: "m",
    ...body,
    metadata: { app: "x", user_id: "u" },
  });
});

describe("O27: the canonical form", () => {
  const messages = [{ role: "user", content: "Hello" }];
  const route = { sort: "price" };

  it("has our options at its top, and the end user among them", () => {
    const svc = { route, metadata: { app: "a" }, compat: { strict: true } };
    expect(canonical("chat", { model: "m", messages, user: "u-1", svc })).toEqual({
      model: "m",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      route,
      compat: { strict: true },
      metadata: { app: "a", user_id: "u-1" },
    });
    const own = { ...svc, metadata: { user_id: "ours" } };
    expect(canonical("chat", { model: "m", messages, user: "u-1", svc: own })?.metadata).toEqual({
      user_id: "ours",
    });
    expect(canonical("generate", { model: "m", messages, route })?.route).toEqual(route);
  });

  it("shows strings of any length as they are", () => {
    const content = "long ".repeat(200_000);
    expect(canonical("chat", { model: "m", messages: [{ role: "user", content }] })?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: content }] },
    ]);
  });

  it("of embeddings and of a ranking is what the native routes take", () => {
    const found = canonical("embeddings", {
      model: "m",
      input: "one",
      dimensions: 8,
      encoding_format: "base64",
      user: "u",
      svc: { route },
    });
    expect(found).toEqual({ model: "m", input: ["one"], dimensions: 8, route, metadata: { user_id: "u" } });
    expect(embedRequestSchema.parse(found)).toEqual(found);
    expect(canonical("embed", found)).toEqual(found);
    const embed = { model: "m", input: ["a", "b"], input_type: "search_query", route };
    expect(canonical("embed", embed)).toEqual({ ...embed, input_type: "query" });
    expect(canonical("embeddings", { model: "m", input: [1, 2] })?.input).toEqual([[1, 2]]);
    const ranking = { model: "m", query: "q", documents: ["a"], top_n: 1, route };
    expect(canonical("rerank", ranking)).toEqual(ranking);
    expect(rerankRequestSchema.parse(ranking)).toEqual(ranking);
  });

  it("leaves out names of items that are kept elsewhere", () => {
    const input = [
      { type: "item_reference", id: "msg_1" },
      { role: "user", content: "Go on – é😀" },
    ];
    expect(canonical("responses", { model: "m", input, previous_response_id: "resp_1" })?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Go on – é😀" }] },
    ]);
  });

  it("does not exist of what cannot be read", () => {
    for (const [name, text] of [
      ["chat", ""],
      ["chat", '{"model":"m","messages":[{"role":"us'],
      ["chat", '{"model":"m"}'],
      ["messages", "[1]"],
      ["embed", '{"model":"m","input":[1]}'],
      ["rerank", "\u0000"],
    ] as const) {
      expect([name, text, canonicalRequest(name, Buffer.from(text))]).toEqual([name, text, undefined]);
    }
  });
});
