/** Money: a PDF or a text in an image part may cost any number of tokens, and is held for as such. */
import { describe, expect, test } from "vitest";
import { FORMATS } from "../../../../src/wire/formats.ts";

type Client = "chat" | "responses" | "messages" | "generate";

const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");
const PNG = base64(`\x89PNG\r\n\x1a\n${"p".repeat(400)}`);
const LONG_PNG = base64(`\x89PNG\r\n\x1a\n${"p".repeat(9000)}`);
const PDF = base64(`%PDF-1.7${"p".repeat(400)}`);
const LONG_PDF = base64(`%PDF-1.7${"p".repeat(9000)}`);
const LONG_TEXT = base64("word ".repeat(2000));

const BODIES: Readonly<Record<Client, (type: string, data: string) => object>> = {
  chat: (type, data) => ({
    messages: [
      { role: "user", content: [{ type: "image_url", image_url: { url: `data:${type};base64,${data}` } }] },
    ],
  }),
  responses: (type, data) => ({
    input: [{ role: "user", content: [{ type: "input_image", image_url: `data:${type};base64,${data}` }] }],
  }),
  messages: (type, data) => ({
    max_tokens: 9,
    messages: [
      { role: "user", content: [{ type: "image", source: { type: "base64", media_type: type, data } }] },
    ],
  }),
  generate: (type, data) => ({
    messages: [{ role: "user", content: [{ type: "image", media_type: type, data }] }],
  }),
};

const factsOf = (client: Client, body: object) =>
  FORMATS[client].read(Buffer.from(JSON.stringify({ model: "v/m", ...body }))).facts;

for (const client of Object.keys(BODIES) as Client[]) {
  test.each([
    ["a PNG", "image/png", PNG, false],
    ["a long PNG", "image/png", LONG_PNG, false],
    ["an image of unknown bytes", "image/png", base64("x".repeat(900)), false],
    ["any file that is a PNG", "application/octet-stream", PNG, false],
    ["a PDF", "application/pdf", PDF, true],
    ["a long PDF", "application/pdf", LONG_PDF, true],
    ["a PDF that is called a PNG", "image/png", PDF, true],
    ["a long PDF that is called a PNG", "image/png", LONG_PDF, true],
    ["a text", "text/plain", LONG_TEXT, true],
  ])(`${client}: %s as an image`, (_, type, data, hasUncounted) => {
    expect(factsOf(client, BODIES[client](type, data))).toMatchObject({ imageCount: 1, hasUncounted });
  });
}

const ADDRESSED: Readonly<Record<Client, (url: string) => object>> = {
  chat: (url) => ({ messages: [{ role: "user", content: [{ type: "image_url", image_url: url }] }] }),
  responses: (url) => ({ input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }),
  messages: (url) => ({
    max_tokens: 9,
    messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }],
  }),
  generate: (url) => ({ messages: [{ role: "user", content: [{ type: "image", url }] }] }),
};

for (const client of Object.keys(ADDRESSED) as Client[]) {
  test.each([
    ["https://e.com/a.pdf", true],
    ["https://e.com/a.MP4?x=1", true],
    ["gs://bucket/a.mov", true],
    ["https://e.com/a.mp3#t", true],
    ["https://www.youtube.com/watch?v=1", true],
    ["https://youtu.be/1", true],
    ["https://e.com/a.png", false],
    ["https://e.com/youtube.com/", false],
    ["https://e.com/a", false],
  ])(`${client}: the address %s as an image`, (url, hasUncounted) => {
    expect(factsOf(client, ADDRESSED[client](url))).toMatchObject({ imageCount: 1, hasUncounted });
  });
}

test.each([
  [
    "responses",
    { input: [{ role: "user", content: [{ type: "input_image", file_id: "https://youtu.be/1" }] }] },
  ],
  [
    "messages",
    {
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "file", file_id: "https://e.com/a.mp4" } }],
        },
      ],
    },
  ],
  ["generate", { messages: [{ role: "user", content: [{ type: "image", file_id: "https://youtu.be/1" }] }] }],
] as const)("%s: the address of a video as an image's file id", (client, body) => {
  expect(factsOf(client, body)).toMatchObject({ imageCount: 1, hasUncounted: true });
});

test("images of earlier answers count as images", () => {
  const images = [{ type: "image_url", image_url: { url: `data:image/png;base64,${LONG_PNG}` } }];
  const chat = { messages: [{ role: "assistant", content: "a", images }] };
  expect(factsOf("chat", chat)).toMatchObject({ imageCount: 1, hasUncounted: false });
  const input = [{ type: "image_generation_call", id: "ig", status: "completed", result: LONG_PNG }];
  const facts = factsOf("responses", { input });
  expect(facts).toMatchObject({ imageCount: 1, hasUncounted: false });
  expect(facts.promptTokens).toBeLessThan(LONG_PNG.length / 3);
});

/** A messages body with this in place of an image's data, as JSON that is not written by `JSON.stringify`. */
const written = (label: string, data: string): string =>
  `{"model":"v/m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"${label}","data":"${data}"}}]}]}`;

const WRITTEN: readonly (readonly [way: string, by: (base64: string) => string])[] = [
  ["plainly", (text) => text],
  ["with escaped slashes", (text) => text.replaceAll("/", "\\/")],
  ["with its first letters escaped", (text) => text.replace(/^..../, escapedLetters)],
  ["in lines of 76", (text) => text.replace(/.{76}/g, "$&\\n")],
  ["in lines of 64", (text) => text.replace(/.{64}/g, "$&\\r\\n")],
  ["in a data URL", (text) => `data:image/png;base64,${text}`],
  ["behind a line end in a data URL", (text) => `data:image/png;base64,\\n${text}`],
  ["behind many line ends in a data URL", (text) => `data:image/png;base64,${"\\n".repeat(70)}${text}`],
  ["percent-encoded in a data URL", (text) => `data:image/png;base64,${text.replace(/^.../, percented)}`],
  ["in a data URL in a data URL", (text) => `data:image/png;base64,data:image/png;base64,${text}`],
];

const escapedLetters = (text: string): string =>
  text.replace(/./g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
const percented = (text: string): string =>
  text.replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

describe.each(WRITTEN)("data that are written %s", (_, by) => {
  const SLASHES = `\x89PNG\r\n\x1a\n${"\xff\xff\xfe".repeat(400)}`;

  test.each([400, 9000])("are held for as a PDF: %i bytes", (length) => {
    const body = Buffer.from(written("image/png", by(base64(`%PDF-1.7${"p".repeat(length)}`))));
    expect(FORMATS.messages.read(body).facts).toMatchObject({ imageCount: 1, hasUncounted: true });
  });

  test("are no text", () => {
    const { promptTokens } = FORMATS.messages.read(
      Buffer.from(written("image/png", by(base64(SLASHES)))),
    ).facts;
    const one = FORMATS.messages.read(Buffer.from(written("image/png", base64(SLASHES)))).facts.promptTokens;
    expect(promptTokens).toBeLessThanOrEqual(one);
  });
});

test("a PDF that a data URL has percent-encoded is held for as one", () => {
  const url = `data:image/png,%25PDF-1.7${"p".repeat(400)}`;
  const body = { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] };
  expect(factsOf("chat", body)).toMatchObject({ imageCount: 1, hasUncounted: true });
});
