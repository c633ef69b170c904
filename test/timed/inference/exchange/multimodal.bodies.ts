/** Requests with images and documents in each client format, of any size: the same conversation in four ways to say it. */
import { request } from "node:http";
import { rest } from "../../../support/pace.ts";

type Json = Readonly<Record<string, unknown>>;

/** What a format calls things. */
interface Format {
  readonly path: string;
  text(text: string): Json;
  image(data: string): Json;
  document(data: string): Json;
  /** Turns in which a tool was called and answered with these parts. */
  toolTurns(parts: readonly Json[]): readonly Json[];
  body(turns: readonly Json[], provider: string): Json;
}

const PNG = "image/png";
const PDF = "application/pdf";
const MODEL = "test/model";
const only = (provider: string) => ({ route: { providers: { only: [provider] } } });
const NO_PARAMETERS = { type: "object", properties: {} };

export const FORMATS: Readonly<Record<"chat" | "messages" | "responses" | "generate", Format>> = {
  chat: {
    path: "/v1/chat/completions",
    text: (text) => ({ type: "text", text }),
    image: (data) => ({ type: "image_url", image_url: { url: `data:${PNG};base64,${data}` } }),
    document: (data) => ({
      type: "file",
      file: { filename: "a.pdf", file_data: `data:${PDF};base64,${data}` },
    }),
    toolTurns: (content) => [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_1", content },
    ],
    body: (messages, provider) => ({
      model: MODEL,
      messages,
      tools: [{ type: "function", function: { name: "look", parameters: NO_PARAMETERS } }],
      svc: only(provider),
    }),
  },
  messages: {
    path: "/v1/messages",
    text: (text) => ({ type: "text", text }),
    image: (data) => ({ type: "image", source: { type: "base64", media_type: PNG, data } }),
    document: (data) => ({ type: "document", source: { type: "base64", media_type: PDF, data } }),
    toolTurns: (content) => [
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content }] },
    ],
    body: (messages, provider) => ({
      model: MODEL,
      max_tokens: 100,
      messages,
      tools: [{ name: "look", input_schema: NO_PARAMETERS }],
      svc: only(provider),
    }),
  },
  responses: {
    path: "/v1/responses",
    text: (text) => ({ type: "input_text", text }),
    image: (data) => ({ type: "input_image", detail: "auto", image_url: `data:${PNG};base64,${data}` }),
    document: (data) => ({
      type: "input_file",
      filename: "a.pdf",
      file_data: `data:${PDF};base64,${data}`,
    }),
    toolTurns: (output) => [
      { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output },
    ],
    body: (input, provider) => ({
      model: MODEL,
      input,
      tools: [{ type: "function", name: "look", parameters: NO_PARAMETERS, strict: false }],
      svc: only(provider),
    }),
  },
  generate: {
    path: "/v1/svc/generate",
    text: (text) => ({ type: "text", text }),
    image: (data) => ({ type: "image", media_type: PNG, data }),
    document: (data) => ({ type: "document", media_type: PDF, data, name: "a.pdf" }),
    toolTurns: (content) => [
      { role: "assistant", content: [{ type: "tool_call", id: "call_1", name: "look", arguments: "{}" }] },
      { role: "user", content: [{ type: "tool_result", id: "call_1", content }] },
    ],
    body: (messages, provider) => ({
      model: MODEL,
      messages,
      tools: [{ name: "look", parameters: NO_PARAMETERS }],
      ...only(provider),
    }),
  },
};

export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

export const userSays = (...content: readonly Json[]): Json => ({ role: "user", content });

const RUN = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919 + (i >> 3)) & 255)).toString(
  "base64",
);

/** Base64 of so many characters that no other name has; a multiple of four. */
export function base64(name: string, length: number): string {
  const head = Buffer.from(name.padEnd(30)).toString("base64");
  return (head + RUN.repeat(Math.ceil(length / RUN.length))).slice(0, length - (length % 4));
}

/**
 * A body as JSON. Long strings, which here need no escapes, are put in behind `JSON.stringify`: it would look at each of their
 * characters, which took most of the time of these tests' own process.
 */
export function bytesOf(body: object): Buffer {
  const long: string[] = [];
  const short = JSON.stringify(body, (_, value) => {
    if (typeof value !== "string" || value.length < LONG) return value;
    long.push(value);
    return PLACE;
  });
  const pieces = short.split(PLACE).flatMap((piece, index) => [piece, long[index] ?? ""]);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

const LONG = 1000;
const PLACE = "<a long string>";

/**
 * Sends a body as a network does: in pieces with time between them. On loopback a server gets to read all of it in one turn of
 * its event loop, which would be measured along.
 */
export function sendInPieces(
  url: string,
  key: string,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": body.length,
        ...headers,
      },
    });
    sent.on("error", reject);
    sent.on("response", (answer) => {
      let text = "";
      answer.on("data", (data: Buffer) => (text += data.toString()));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on("error", reject);
    });
    const next = (at: number): void => {
      if (at >= body.length) sent.end();
      // As a network brings them: not all at once into one turn of the gateway.
      else sent.write(body.subarray(at, at + PIECE_BYTES), () => rest(1).then(() => next(at + PIECE_BYTES)));
    };
    next(0);
  });
}

const PIECE_BYTES = 500_000;
