/** Images that a model made reach clients whose format has a place for them, and go back with the next turn; of others there is a warning. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { eventFrame } from "../../support/wire/converse.fixtures.ts";
import { asked, type Client, type Target, told } from "./media.fixtures.ts";

let field: Field;

beforeAll(async () => {
  field = await startField({ model: { modalities: { in: ["text", "image"], out: ["text", "image"] } } });
});
afterAll(() => field.stop());

const PNG = Buffer.from(`\x89PNG\r\n\x1a\n${"p".repeat(200)}`, "latin1").toString("base64");
const URL = `data:image/png;base64,${PNG}`;

const events = (...all: readonly object[]): Scripted => ({
  headers: { "content-type": "text/event-stream" },
  body: `${all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`,
});
const json = (body: object): Scripted => ({ body: JSON.stringify(body) });

const CHAT = { id: "c", created: 1, model: "m" };
const CHAT_USAGE = { prompt_tokens: 3, completion_tokens: 1290, total_tokens: 1293 };
const IMAGES = [{ type: "image_url", image_url: { url: URL }, index: 0 }];
const GEMINI_USAGE = { promptTokenCount: 3, candidatesTokenCount: 1290, totalTokenCount: 1293 };
const gemini = (parts: object[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
  usageMetadata: GEMINI_USAGE,
});
const INLINE = { inlineData: { mimeType: "image/png", data: PNG }, thoughtSignature: "c2ln" };
const DRAFT = { inlineData: { mimeType: "image/png", data: "AAAA" }, thought: true };
const ITEM = {
  id: "ig_1",
  type: "image_generation_call",
  status: "completed",
  output_format: "png",
  result: PNG,
};
const SAID = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Here", annotations: [] }],
};
const RESPONSE = {
  id: "r",
  object: "response",
  status: "completed",
  output: [ITEM, SAID],
  usage: { input_tokens: 3, output_tokens: 1290, total_tokens: 1293 },
};
const CONVERSE_USAGE = { inputTokens: 3, outputTokens: 1290, totalTokens: 1293 };
const frames = (...all: readonly (readonly [string, Readonly<Record<string, unknown>>])[]): Scripted => ({
  headers: { "content-type": "application/vnd.amazon.eventstream" },
  parts: all.map(([event, payload]) => Buffer.from(eventFrame({ event, payload }), "latin1")),
});

/** A text and an image, whole and streamed. */
const UPSTREAMS: Partial<Readonly<Record<Target, readonly [whole: Scripted, streamed: Scripted]>>> = {
  chat: [
    json({
      ...CHAT,
      object: "chat.completion",
      choices: [
        { index: 0, message: { role: "assistant", content: "Here", images: IMAGES }, finish_reason: "stop" },
      ],
      usage: CHAT_USAGE,
    }),
    events(
      {
        ...CHAT,
        choices: [{ index: 0, delta: { role: "assistant", content: "Here" }, finish_reason: null }],
      },
      { ...CHAT, choices: [{ index: 0, delta: { images: IMAGES }, finish_reason: null }] },
      { ...CHAT, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...CHAT, choices: [], usage: CHAT_USAGE },
    ),
  ],
  gemini: [
    json(gemini([DRAFT, { text: "Here" }, INLINE], "STOP")),
    events(gemini([DRAFT]), gemini([{ text: "Here" }]), gemini([INLINE]), gemini([], "STOP")),
  ],
  responses: [
    json(RESPONSE),
    events(
      { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { ...ITEM, status: "in_progress", result: null },
      },
      { type: "response.image_generation_call.partial_image", output_index: 0, partial_image_b64: "AAAA" },
      { type: "response.output_item.done", output_index: 0, item: ITEM },
      { type: "response.output_item.done", output_index: 1, item: SAID },
      { type: "response.completed", response: RESPONSE },
    ),
  ],
  converse: [
    json({
      output: {
        message: {
          role: "assistant",
          content: [{ text: "Here" }, { image: { format: "png", source: { bytes: PNG } } }],
        },
      },
      stopReason: "end_turn",
      usage: CONVERSE_USAGE,
    }),
    frames(
      ["messageStart", { role: "assistant" }],
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Here" } }],
      ["contentBlockStop", { contentBlockIndex: 0 }],
      ["contentBlockStart", { contentBlockIndex: 1, start: { image: { format: "png" } } }],
      [
        "contentBlockDelta",
        { contentBlockIndex: 1, delta: { image: { source: { bytes: PNG.slice(0, 40) } } } },
      ],
      ["contentBlockDelta", { contentBlockIndex: 1, delta: { image: { source: { bytes: PNG.slice(40) } } } }],
      ["contentBlockStop", { contentBlockIndex: 1 }],
      ["messageStop", { stopReason: "end_turn" }],
      ["metadata", { usage: CONVERSE_USAGE }],
    ),
  ],
};

/** The image's data URL and the text as the client hears them. */
const HEARD: Readonly<
  Record<Client, { whole(body: Json): unknown[]; streamed(events: readonly Json[]): unknown[] }>
> = {
  chat: {
    whole: ({ choices: [{ message }] }) => [message.content, message.images?.[0].image_url.url],
    streamed: (chunks) => {
      const deltas: Json[] = chunks.flatMap(({ choices }) => choices.map(({ delta }: Json) => delta));
      const images = deltas.flatMap(({ images: given = [] }) => given);
      return [deltas.map(({ content }) => content ?? "").join(""), images[0]?.image_url.url];
    },
  },
  generate: {
    whole: ({ candidates: [{ content }] }) => [textOf(content), imageOf(content)],
    streamed: (all) => [
      all.map(({ type, text }) => (type === "content.delta" ? (text ?? "") : "")).join(""),
      imageOf(all.flatMap(({ media }) => media ?? [])),
    ],
  },
  responses: {
    whole: ({ output }) => [
      textOf(output.flatMap(({ content = [] }: Json) => content)),
      itemOf(output.find(({ type }: Json) => type === "image_generation_call")),
    ],
    streamed: (all) => {
      const { response }: Json = all.at(-1);
      const done = all.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
      expect(response.output.map(({ id }: Json) => id).sort()).toEqual(done.map(({ id }) => id).sort());
      return HEARD.responses.whole(response);
    },
  },
  messages: {
    whole: ({ content }) => [textOf(content), undefined],
    streamed: (all) => [all.map(({ delta }) => delta?.text ?? "").join(""), undefined],
  },
};

const textOf = (parts: Json[]): string => parts.map(({ text = "" }) => text).join("");
const imageOf = (parts: Json[]): string | undefined => {
  const image = parts.find(({ type }) => type === "image");
  return image && `data:${image.media_type};base64,${image.data}`;
};
const itemOf = (item: Json): string | undefined =>
  item && `data:image/${item.output_format};base64,${item.result}`;

const CLIENTS = Object.keys(HEARD) as Client[];

describe.each(Object.keys(UPSTREAMS) as Target[])("an image that %s made", (to) => {
  describe.each([false, true])("streamed: %s", (stream) => {
    const script = () => field.up.script((UPSTREAMS[to] as readonly Scripted[])[stream ? 1 : 0] as Scripted);
    it.each(CLIENTS.filter((client) => client !== to))("reaches %s, or is told of", async (client) => {
      script();
      const question =
        client === "responses" ? { input: "q" } : { messages: [{ role: "user", content: "q" }] };
      const body = client === "messages" ? { max_tokens: 2000, ...question } : question;
      const got = await field.send(client, to, body, { stream });
      expect(got.status, got.text).toBe(200);
      const heard = stream ? HEARD[client].streamed(got.events) : HEARD[client].whole(got.json);
      const hasPlace = client !== "messages";
      expect(heard).toEqual(["Here", hasPlace ? URL : undefined]);
      // Gemini's draft has no place in any format.
      expect(got.text.includes("answer_dropped: image")).toBe(!hasPlace || to === "gemini");
      expect(got.text).not.toContain("AAAA");
      expect(got.text).toContain("1290");
    });

    it("is told of to completions", async () => {
      script();
      const got = await field.send("completions", to, { prompt: "q" }, { stream });
      expect(got.status, got.text).toBe(200);
      expect(got.text).toContain("answer_dropped: image");
    });
  });
});

describe("an image that goes back in the model's turn", () => {
  it.each(["chat", "generate"] as const)("is Gemini's again, with its signature, by %s", async (client) => {
    field.up.script(UPSTREAMS.gemini?.[0] as Scripted);
    const first = await field.send(client, "gemini", { messages: [{ role: "user", content: "q" }] });
    const answer =
      client === "chat"
        ? first.json.choices[0].message
        : { role: "assistant", content: first.json.candidates[0].content };
    field.up.script(UPSTREAMS.gemini?.[0] as Scripted);
    const messages = [{ role: "user", content: "q" }, answer, { role: "user", content: "and?" }];
    const next = await field.send(client, "gemini", { messages });
    expect(next.status, next.text).toBe(200);
    expect(field.up.last.json.contents[1]).toEqual({ role: "model", parts: [{ text: "Here" }, INLINE] });
  });

  it("of responses is seen in a message of the user's", async () => {
    field.up.script(UPSTREAMS.chat?.[0] as Scripted);
    const input = [{ role: "user", content: "q" }, ITEM, SAID, { role: "user", content: "and?" }];
    await field.send("responses", "chat", { input });
    expect(told("chat", field.up.last.json)).toContainEqual({ as: "image", type: "image/png", data: PNG });
    expect(asked("chat", { as: "image", type: "image/png", data: PNG }, "user")).toBeDefined();
  });
});

describe("sound in an answer", () => {
  const audio = { id: "a", data: "AAAA", transcript: "Hi", expires_at: 1 };
  it.each([false, true])("is told of, streamed: %s", async (stream) => {
    const delta = { role: "assistant", content: "Hi", audio };
    field.up.script(
      stream
        ? events({ ...CHAT, choices: [{ index: 0, delta, finish_reason: "stop" }], usage: CHAT_USAGE })
        : json({
            ...CHAT,
            choices: [{ index: 0, message: delta, finish_reason: "stop" }],
            usage: CHAT_USAGE,
          }),
    );
    const got = await field.send(
      "messages",
      "chat",
      { max_tokens: 2000, messages: [{ role: "user", content: "q" }] },
      { stream },
    );
    expect(got.status, got.text).toBe(200);
    expect(got.text).toContain("answer_dropped: audio");
  });
});
