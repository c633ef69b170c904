/**
 * Media as clients label and place them: by their right names, told by their first bytes, a PDF as a document wherever it stands. A
 * model that never saw the picture does not answer.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, type Got, startField, TARGETS } from "../../support/field/field.ts";
import { asked, type Client, type Medium, type Place, type Target, told } from "./media.fixtures.ts";

const TO: readonly Target[] = ["chat", "responses", "messages", "gemini", "converse"];
const CLIENTS: readonly Client[] = ["chat", "responses", "messages", "generate"];
const MODES = [false, true];

let field: Field;

beforeAll(async () => {
  field = await startField({
    model: {
      modalities: { in: ["text", "image", "audio", "video"], out: ["text"] },
    },
  });
});
afterAll(() => field.stop());

async function send(client: Client, to: Target, body: object, stream: boolean): Promise<Got> {
  field.up.script(answerOf(TARGETS[to].dialect, { text: "ok" }, stream));
  return field.send(client, to, client === "messages" ? { max_tokens: 100, ...body } : body, { stream });
}

const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");

const JPEG = base64(`\xff\xd8\xff\xe0${"j".repeat(200)}`);
const LONG_JPEG = base64(`\xff\xd8\xff${"\xfb\xff\xbe".repeat(3000)}j`);
const PNG = base64(`\x89PNG\r\n\x1a\n${"p".repeat(200)}`);
const LONG_PNG = base64(`\x89PNG\r\n\x1a\n${"p".repeat(20_000)}`);
const WEBP = base64(`RIFF\x01\x02\x03\x04WEBPVP8 ${"w".repeat(60)}`);
const GIF = base64(`GIF89a${"g".repeat(90)}`);
const PDF = base64(`%PDF-1.7\n${"d".repeat(90)}`);
const WAV = base64(`RIFF\x01\x02\x03\x04WAVEfmt ${"w".repeat(60)}`);
const MP3 = base64(`ID3\x04${"m".repeat(89)}`);
const CSV = Buffer.from("städte,21\n").toString("base64");

/** What each client says is told to every dialect as the right kind, of the right type. */
const KINDS: readonly (readonly [string, Medium, Medium])[] = [
  [
    "image/jpg",
    { as: "image", type: "image/jpg", data: JPEG },
    { as: "image", type: "image/jpeg", data: JPEG },
  ],
  [
    "image/pjpeg",
    { as: "image", type: "image/pjpeg", data: JPEG },
    { as: "image", type: "image/jpeg", data: JPEG },
  ],
  [
    "IMAGE/X-PNG",
    { as: "image", type: "IMAGE/X-PNG", data: PNG },
    { as: "image", type: "image/png", data: PNG },
  ],
  ["no label", { as: "image", type: "", data: PNG }, { as: "image", type: "image/png", data: PNG }],
  [
    "a label of any file",
    { as: "image", type: "application/octet-stream", data: GIF },
    { as: "image", type: "image/gif", data: GIF },
  ],
  [
    "a label of any image",
    { as: "image", type: "image/*", data: WEBP },
    { as: "image", type: "image/webp", data: WEBP },
  ],
  [
    "a PNG that is called a JPEG",
    { as: "image", type: "image/jpeg", data: PNG },
    { as: "image", type: "image/png", data: PNG },
  ],
  [
    "a long PNG that is called a JPEG",
    { as: "image", type: "image/jpg", data: LONG_PNG },
    { as: "image", type: "image/png", data: LONG_PNG },
  ],
  [
    "a type with a parameter",
    { as: "image", type: "image/png;charset=utf-8", data: PNG },
    { as: "image", type: "image/png", data: PNG },
  ],
  [
    "a PDF as an image",
    { as: "image", type: "application/pdf", data: PDF },
    { as: "document", type: "application/pdf", data: PDF },
  ],
  [
    "a PDF that is called a PNG",
    { as: "image", type: "image/png", data: PDF },
    { as: "document", type: "application/pdf", data: PDF },
  ],
  [
    "an image as a document",
    { as: "document", type: "image/jpg", data: JPEG },
    { as: "image", type: "image/jpeg", data: JPEG },
  ],
  [
    "application/x-pdf",
    { as: "document", type: "application/x-pdf", data: PDF },
    { as: "document", type: "application/pdf", data: PDF },
  ],
  ["a table", { as: "document", type: "text/csv", data: CSV }, { as: "text", type: "", data: "städte,21\n" }],
  [
    "text as an image",
    { as: "image", type: "text/plain", data: CSV },
    { as: "text", type: "", data: "städte,21\n" },
  ],
  [
    "text without a label",
    { as: "document", type: "application/octet-stream", data: CSV },
    { as: "text", type: "", data: "städte,21\n" },
  ],
  [
    "lines of MIME",
    { as: "image", type: "image/png", data: PNG.replace(/.{76}/g, "$&\r\n") },
    { as: "image", type: "image/png", data: PNG },
  ],
  [
    "base64 for URLs, without its padding",
    {
      as: "image",
      type: "image/jpeg",
      data: JPEG.replace(/\//g, "_").replace(/\+/g, "-").replace(/=+$/, ""),
    },
    { as: "image", type: "image/jpeg", data: JPEG },
  ],
  ...[JPEG, LONG_JPEG].map((data): readonly [string, Medium, Medium] => [
    `a data URL with ${data.length} letters percent-encoded`,
    { as: "image", type: "image/jpeg", data: `data:image/jpeg;base64,${encodeURIComponent(data)}` },
    { as: "image", type: "image/jpeg", data },
  ]),
  [
    "a data URL in place of data",
    { as: "image", type: "image/jpeg", data: `data:image/png;base64,${PNG}` },
    { as: "image", type: "image/png", data: PNG },
  ],
];

const PLACES: readonly Place[] = ["user", "result", "assistant"];

for (const place of PLACES) {
  describe(`media of the ${place}`, () => {
    for (const [name, said, right] of KINDS) {
      it.each(CLIENTS)(`${name}, by %s`, async (client) => {
        const body = asked(client, said, place);
        if (body === undefined) return;
        for (const to of TO) {
          if (TARGETS[to].dialect === client) continue;
          for (const stream of place === "user" ? MODES : [place === "result"]) {
            const got = await send(client, to, body, stream);
            expect(got.status, `${to}: ${got.text}`).toBe(200);
            expect(told(to, field.up.last.json), `${to} ${stream}`).toEqual([right]);
          }
        }
      });
    }
  });
}

describe("sound", () => {
  it.each([
    ["generate", "audio/mp3", MP3, "audio/mpeg"],
    ["generate", "audio/x-wav", WAV, "audio/wav"],
    ["generate", "", MP3, "audio/mpeg"],
    ["chat", "mp3", MP3, "audio/mpeg"],
    ["chat", "wav", MP3, "audio/mpeg"],
  ] as const)("of %s labelled %j", async (client, type, data, right) => {
    const part =
      client === "chat"
        ? { type: "input_audio", input_audio: { data, format: type } }
        : { type: "audio", data, media_type: type };
    for (const to of ["gemini", "converse", ...(client === "chat" ? [] : ["chat" as const])] as const) {
      for (const stream of MODES) {
        const got = await send(client, to, { messages: [{ role: "user", content: [part] }] }, stream);
        expect(got.status, got.text).toBe(200);
        expect(told(to, field.up.last.json), to).toEqual([{ as: "audio", type: right, data }]);
      }
    }
  });
});

const IMAGE_URL = "https://example.com/a.png";
const TEXT = { type: "text", text: "q" };

interface Refused {
  readonly name: string;
  readonly client: Client;
  readonly to: readonly Target[];
  readonly body: object;
  readonly param: string;
}

const user = (...content: object[]) => ({ messages: [{ role: "user", content }] });
const input = (...content: object[]) => ({ input: [{ type: "message", role: "user", content }] });

const REFUSED: readonly Refused[] = [
  {
    name: "an image by its address",
    client: "chat",
    to: ["converse"],
    body: user(TEXT, { type: "image_url", image_url: { url: IMAGE_URL } }),
    param: "/messages/0/content/1",
  },
  {
    name: "an image by its address",
    client: "responses",
    to: ["converse"],
    body: input({ type: "input_text", text: "q" }, { type: "input_image", image_url: IMAGE_URL }),
    param: "/input/0/content/1",
  },
  {
    name: "an image by its address",
    client: "messages",
    to: ["converse"],
    body: user(TEXT, { type: "image", source: { type: "url", url: IMAGE_URL } }),
    param: "/messages/0/content/1",
  },
  {
    name: "an image by its address",
    client: "generate",
    to: ["converse"],
    body: user(TEXT, { type: "image", url: IMAGE_URL }),
    param: "/messages/0/content/1",
  },
  {
    name: "an image by its address in a result",
    client: "messages",
    to: ["converse"],
    body: {
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t1",
              content: [TEXT, { type: "image", source: { type: "url", url: IMAGE_URL } }],
            },
          ],
        },
      ],
    },
    param: "/messages/2/content/0/content/1",
  },
  {
    name: "an image of a provider's store",
    client: "messages",
    to: ["chat", "converse"],
    body: user(TEXT, { type: "image", source: { type: "file", file_id: "file_1" } }),
    param: "/messages/0/content/1",
  },
  {
    name: "a document by its address",
    client: "responses",
    to: ["chat", "converse"],
    body: input({ type: "input_text", text: "q" }, { type: "input_file", file_url: "https://e.com/a.pdf" }),
    param: "/input/0/content/1",
  },
  {
    name: "a PDF by its address as an image",
    client: "messages",
    to: ["chat", "converse"],
    body: user(TEXT, { type: "image", source: { type: "url", url: "https://e.com/a.pdf?x=1" } }),
    param: "/messages/0/content/1",
  },
  ...["gs://bucket/a.png", "s3://bucket/a.png", "file:///a.png", `DATA:image/png;base64,${PNG}`].flatMap(
    (url): Refused[] => [
      {
        name: `an image by ${url.slice(0, 5)}`,
        client: "chat",
        to: ["responses", "messages"],
        body: user(TEXT, { type: "image_url", image_url: { url } }),
        param: "/messages/0/content/1",
      },
      {
        name: `a document by ${url.slice(0, 5)}`,
        client: "generate",
        to: ["responses", "messages"],
        body: user(TEXT, { type: "document", url: url.replace("png", "pdf") }),
        param: "/messages/0/content/1",
      },
    ],
  ),
  {
    name: "sound",
    client: "chat",
    to: ["responses", "messages"],
    body: user(TEXT, { type: "input_audio", input_audio: { data: WAV, format: "wav" } }),
    param: "/messages/0/content/1",
  },
  {
    name: "video",
    client: "chat",
    to: ["responses", "messages"],
    body: user(TEXT, { type: "video_url", video_url: { url: "https://e.com/a.mp4" } }),
    param: "/messages/0/content/1",
  },
  {
    name: "an office document",
    client: "chat",
    to: ["messages"],
    body: user(TEXT, { type: "file", file: { filename: "a.docx", file_data: base64("PK\x03\x04\xff\xfe") } }),
    param: "/messages/0/content/1",
  },
  {
    name: "an image of a type that the provider does not take",
    client: "chat",
    to: ["messages", "converse"],
    body: user(TEXT, {
      type: "image_url",
      image_url: { url: `data:image/jpeg;base64,${base64(`\0\0\0\x18ftypheic${"h".repeat(60)}`)}` },
    }),
    param: "/messages/0/content/1",
  },
  {
    name: "an image among the instructions",
    client: "chat",
    to: ["messages", "gemini", "converse"],
    body: {
      messages: [
        {
          role: "system",
          content: [TEXT, { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
        },
        { role: "user", content: "q" },
      ],
    },
    param: "/messages/0/content/1",
  },
  {
    name: "a part of another format",
    client: "chat",
    to: ["responses", "messages", "gemini", "converse"],
    body: user(TEXT, { type: "input_image", image_url: IMAGE_URL }),
    param: "/messages/0/content/1",
  },
  {
    name: "a part of another format",
    client: "responses",
    to: ["chat", "messages", "gemini", "converse"],
    body: input(
      { type: "input_text", text: "q" },
      { type: "input_audio", input_audio: { data: WAV, format: "wav" } },
    ),
    param: "/input/0/content/1",
  },
  {
    name: "a screenshot of a computer that the provider's own tool uses",
    client: "responses",
    to: ["chat", "messages", "gemini", "converse"],
    body: {
      input: [
        { role: "user", content: "q" },
        {
          type: "computer_call",
          id: "c",
          call_id: "c1",
          action: { type: "screenshot" },
          status: "completed",
        },
        {
          type: "computer_call_output",
          call_id: "c1",
          output: { type: "computer_screenshot", image_url: `data:image/png;base64,${PNG}` },
        },
      ],
    },
    param: "/input/2",
  },
];

describe("what a dialect cannot carry is refused, and the model is not asked", () => {
  for (const { name, client, to, body, param } of REFUSED) {
    it(`${name}: ${client}`, async () => {
      for (const target of to) {
        for (const stream of MODES) {
          const got = await send(client, target, body, stream);
          const error: Json = got.json?.error ?? {};
          expect([target, got.status, error.code, error.param], got.text).toEqual([
            target,
            400,
            "capability_not_supported",
            param,
          ]);
          expect(field.up.arrived).toEqual([]);
        }
      }
    });
  }
});
