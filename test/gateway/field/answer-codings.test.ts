/**
 * Answers that came compressed although none was asked for so, with and without the right header: the client hears what it hears of
 * plain ones, event by event (epam/ai-dial-core#1646, preset-io/agor#1104, ai-ecoverse/slicc#3037).
 */
import { randomBytes } from "node:crypto";
import * as zlib from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { until } from "../../support/wait.ts";
import { bytesOf, DIALECTS, heardOf, requestOf, SAID, TEXT } from "./answer-forms.fixtures.ts";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

type Encode = (bytes: Buffer) => Buffer;
const plain: Encode = (bytes) => bytes;
const {
  gzipSync: gzip,
  deflateSync: deflate,
  deflateRawSync: raw,
  brotliCompressSync: br,
  zstdCompressSync: zstd,
} = zlib;
const twice: Encode = (bytes) => gzip(gzip(bytes));

interface Coding {
  /** The header; undefined: none. */
  readonly header: string | undefined;
  readonly name: string;
  readonly encode: Encode;
}

const CODINGS: readonly Coding[] = [
  { header: "gzip", name: "gzip", encode: gzip },
  { header: "X-GZIP", name: "gzip", encode: gzip },
  { header: "deflate", name: "deflate", encode: deflate },
  { header: "deflate", name: "deflate without a header", encode: raw },
  { header: "br", name: "br", encode: br },
  { header: "zstd", name: "zstd", encode: zstd },
  { header: "gzip, gzip", name: "gzip in gzip", encode: twice },
  { header: "gzip, identity, br", name: "gzip in br", encode: (bytes) => br(gzip(bytes)) },
  { header: "gzip, gzip", name: "gzip once", encode: gzip },
  { header: undefined, name: "gzip", encode: gzip },
  { header: "identity", name: "gzip", encode: gzip },
  { header: undefined, name: "zstd", encode: zstd },
  { header: "br", name: "gzip", encode: gzip },
  { header: "gzip", name: "nothing", encode: plain },
  { header: "deflate", name: "nothing", encode: plain },
  { header: "br", name: "nothing", encode: plain },
  { header: "zstd", name: "nothing", encode: plain },
  { header: "utf-8", name: "nothing", encode: plain },
  { header: "aws-chunked", name: "nothing", encode: plain },
  { header: "gzip, aws-chunked", name: "gzip", encode: gzip },
  { header: "identity, GZIP;q=1", name: "gzip", encode: gzip },
  { header: "gzip, gzip, gzip, gzip", name: "gzip once", encode: gzip },
  { header: "gzip", name: "gzip in gzip", encode: twice },
  { header: undefined, name: "gzip in gzip", encode: twice },
  { header: "gzip", name: "gzip without its end", encode: (bytes) => gzip(bytes).subarray(0, -8) },
  { header: "br", name: "nothing behind a blank line", encode: (bytes) => blankFirst(bytes) },
  { header: "deflate", name: "nothing behind a blank line", encode: (bytes) => blankFirst(bytes) },
  { header: "br", name: "pretty JSON", encode: (bytes) => pretty(bytes) },
  { header: "deflate", name: "pretty JSON", encode: (bytes) => pretty(bytes) },
];

const FRAMES = 0;
const blankFirst: Encode = (bytes) =>
  bytes[0] === FRAMES ? bytes : Buffer.concat([Buffer.from("\r\n"), bytes]);
const pretty: Encode = (bytes) =>
  bytes[0] === 0x7b ? Buffer.from(JSON.stringify(JSON.parse(bytes.toString()), null, 8)) : bytes;

const coded = (
  scripted: Scripted,
  { header, encode }: Coding,
  split = Number.POSITIVE_INFINITY,
): Scripted => {
  const bytes = encode(bytesOf(scripted));
  return {
    ...(scripted.status !== undefined && { status: scripted.status }),
    headers: { ...scripted.headers, ...(header !== undefined && { "content-encoding": header }) },
    parts: split < bytes.length ? [bytes.subarray(0, split), bytes.subarray(split)] : [bytes],
  };
};

/** Hex digits: content that no coding makes a line of. */
const randomText = (length: number): string => randomBytes(length / 2).toString("hex");

const damaged: Encode = (bytes) => {
  const copy = Buffer.from(bytes);
  copy.fill(0xff, 12, 40);
  return copy;
};

describe.each(CODINGS)("$name labelled $header", (coding) => {
  for (const dialect of DIALECTS) {
    test.each([false, true])(`from ${dialect}, streamed %s`, async (isStream) => {
      const scripted = answerOf(dialect, SAID, isStream);
      const right = await heardOf(field, "chat", dialect, scripted, isStream);
      const heard = await heardOf(field, "chat", dialect, coded(scripted, coding), isStream);
      expect(heard).toEqual(right);
    });
  }

  test("cut at any byte", async () => {
    const scripted = answerOf("messages", { text: "ok" }, true);
    const right = await heardOf(field, "chat", "messages", scripted, true);
    const { length } = coding.encode(bytesOf(scripted));
    for (let split = 1; split < Math.min(length, 24); split++) {
      const heard = await heardOf(field, "chat", "messages", coded(scripted, coding, split), true);
      expect(heard, `split at ${split}`).toEqual(right);
    }
  });

  test("an error's reason", async () => {
    const body = JSON.stringify({
      error: { message: "the prompt has a hole", type: "invalid_request_error" },
    });
    field.up.script(coded({ status: 400, headers: { "content-type": "application/json" }, body }, coding));
    const got = await field.send("chat", "chat", requestOf("chat", "chat", false));
    expect(got.status).toBe(400);
    expect(got.text).toContain("the prompt has a hole");
  });
});

/** A compressor whose output so far can be taken. */
const STREAMS = {
  gzip: [zlib.createGzip, zlib.constants.Z_SYNC_FLUSH],
  deflate: [zlib.createDeflate, zlib.constants.Z_SYNC_FLUSH],
  br: [zlib.createBrotliCompress, zlib.constants.BROTLI_OPERATION_FLUSH],
  zstd: [zlib.createZstdCompress, zlib.constants.ZSTD_e_flush],
} as const;

test.each(Object.keys(STREAMS) as (keyof typeof STREAMS)[])(
  "each event comes at once in %s",
  async (name) => {
    const [make, flush] = STREAMS[name];
    const encoder = make();
    const out: Buffer[] = [];
    encoder.on("data", (chunk: Buffer) => out.push(chunk));
    const flushed = async (event: string): Promise<Buffer> => {
      out.length = 0;
      encoder.write(event);
      await new Promise<void>((resolve) => encoder.flush(flush, () => resolve()));
      return Buffer.concat(out);
    };
    const chunk = (choice: object) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;
    const first = await flushed(chunk({ delta: { role: "assistant", content: "first" } }));
    const last = await flushed(`${chunk({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`);
    let goOn = () => {};
    const gap = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    field.up.script({
      headers: { "content-type": "text/event-stream", "content-encoding": name },
      parts: [first, () => gap, last],
    });
    const response = await fetch(`${field.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${field.gateway.liveKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "test/chat", stream: true, messages: [{ role: "user", content: "x" }] }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("first")) text += Buffer.from((await reader.read()).value ?? []).toString();
    goOn();
    for (let read = await reader.read(); !read.done; read = await reader.read())
      text += Buffer.from(read.value).toString();
    expect(text).toContain("[DONE]");
  },
);

describe("what cannot be decoded", () => {
  const chat = (isStream: boolean) => answerOf("chat", TEXT, isStream);
  const sent = async (scripted: Scripted, stream: boolean) => {
    field.up.script(scripted);
    const before = await field.gateway.balance();
    const got = await field.send("chat", "chat", requestOf("chat", "chat", stream), { stream });
    await until("nothing is held", async () => (await field.gateway.balance()).held === 0);
    return { got, isCharged: (await field.gateway.balance()).available !== before.available };
  };
  const stream = { "content-type": "text/event-stream" };

  test.each([
    [
      "damaged gzip",
      false,
      { headers: { "content-encoding": "gzip" }, parts: [damaged(gzip(bytesOf(chat(false))))] },
    ],
    [
      "damaged gzip",
      true,
      { headers: { ...stream, "content-encoding": "gzip" }, parts: [damaged(gzip(bytesOf(chat(true))))] },
    ],
    [
      "cut gzip",
      false,
      { headers: { "content-encoding": "gzip" }, parts: [gzip(bytesOf(chat(false))).subarray(0, -30)] },
    ],
    [
      "garbage in br",
      false,
      { headers: { "content-encoding": "br" }, body: "\u0001\u0002 no brotli at all" },
    ],
    [
      "an unknown coding",
      false,
      { headers: { "content-encoding": "compress" }, parts: [Buffer.from([0x1f, 0x9d, 1, 2, 3, 4, 5])] },
    ],
    [
      "too many codings",
      false,
      {
        headers: { "content-encoding": "gzip, gzip, gzip" },
        parts: [twice(twice(gzip(bytesOf(chat(false)))))],
      },
    ],
    [
      "a bomb",
      false,
      { headers: { "content-encoding": "br" }, parts: [br(Buffer.alloc(256 * 1024 * 1024, 32))] },
    ],
    [
      "a bomb",
      true,
      {
        headers: { ...stream, "content-encoding": "gzip" },
        parts: [gzip(Buffer.alloc(256 * 1024 * 1024, ":\n\n"))],
      },
    ],
    [
      "a bomb within",
      true,
      {
        headers: { ...stream, "content-encoding": "gzip, gzip" },
        parts: [gzip(gzip(Buffer.alloc(256 * 1024 * 1024, ":\n\n")))],
      },
    ],
  ] as const)("%s, streamed %s", async (_, isStream, scripted) => {
    const { got, isCharged } = await sent(scripted, isStream);
    expect(got.status, got.text).toBe(502);
    expect(got.json.error.code).toBe("upstream_invalid_response");
    expect(isCharged).toBe(false);
  });
});

describe("a refusal keeps its status and its reason, whatever its body is in", () => {
  const JSON_BODY = JSON.stringify({
    error: { message: "the prompt has a hole", type: "invalid_request_error" },
  });
  const PLAIN_BODY = "upstream says: the prompt has a hole";
  const REASON = "the prompt has a hole";
  const labels = ["br", "gzip", "deflate", "zstd", "br, gzip", "compress"];
  const bodies: readonly (readonly [what: string, body: Buffer, reason: string])[] = [
    ["JSON", Buffer.from(JSON_BODY), REASON],
    ["pretty JSON", pretty(Buffer.from(JSON_BODY)), REASON],
    ["words", Buffer.from(PLAIN_BODY), REASON],
    ["short words", Buffer.from("hole"), "hole"],
    ["a page", Buffer.from("<html><head><title>400 the prompt has a hole</title></head></html>"), REASON],
    ["nothing", Buffer.alloc(0), ""],
    ["garbage", Buffer.from("\u0001\u0002\u00ff no text at all"), ""],
    ["zeros", Buffer.alloc(400), ""],
    ["half of gzip", gzip(`hole ${randomText(4_000)}`).subarray(0, 2_000), "hole"],
    ["gzip without its end", gzip(JSON_BODY).subarray(0, -8), REASON],
    ["gzip that breaks", damaged(gzip(randomText(4_000))), ""],
    ["a bomb", gzip(Buffer.alloc(64 * 1024 * 1024)), ""],
  ];
  const cases = labels.flatMap((label) => bodies.map((body) => [label, ...body] as const));

  test.each(cases)("labelled %s: %s", async (label, _, body, reason) => {
    const headers = { "content-type": "application/json", "content-encoding": label };
    for (const isStream of [false, true]) {
      field.up.script({ status: 422, headers, parts: [body] });
      const got = await field.send("chat", "chat", requestOf("chat", "chat", isStream), { stream: isStream });
      expect(got.status, got.text).toBe(422);
      expect(got.json.error.code).toBe("upstream_rejected");
      expect(got.json.error.message).toContain(reason || "The provider refused this request.");
    }
  });
});
