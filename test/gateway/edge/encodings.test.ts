/**
 * Compressed bodies: each coding and lists of them, on model calls and on other routes; bombs at any step, cut and damaged ones, and
 * codings that are not taken.
 */
import { connect } from "node:net";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";

const MAX_BODY_BYTES = 256 * 1024;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ settings: { limits: { max_body_bytes: MAX_BODY_BYTES } } });
});
afterAll(async () => {
  await atRest(gateway);
  await gateway.stop();
});

const CHAT = {
  model: "weir/sim-small",
  messages: [{ role: "user", content: "Grüß Gott 世界" }],
  max_tokens: 2,
};
const TEXT = JSON.stringify(CHAT);
const ACCEPTED = "zstd, br, gzip, deflate";

/** A frame for a decoder to skip (RFC 8878, 3.1.2). */
const SKIPPED = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const zstdFrames = (text: string) =>
  Buffer.concat([
    SKIPPED,
    zstdCompressSync(text.slice(0, 40)),
    zstdCompressSync(""),
    zstdCompressSync(text.slice(40)),
  ]);
const zstdWith = (params: Record<number, number>) => (text: string | Buffer) =>
  zstdCompressSync(text, { params });

const CODINGS: Readonly<Record<string, (text: string | Buffer) => Buffer>> = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  GZip: gzipSync,
  deflate: deflateSync,
  "Deflate ": deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  "ZSTD, identity": zstdWith({ [constants.ZSTD_c_checksumFlag]: 1 }),
  "identity, zstd": zstdWith({ [constants.ZSTD_c_compressionLevel]: 19 }),
  ",gzip,": gzipSync,
  identity: (text) => Buffer.from(text),
  "gzip, br": (text) => brotliCompressSync(gzipSync(text)),
  "deflate,zstd": (text) => zstdCompressSync(deflateRawSync(text)),
  "zstd, gzip, deflate": (text) => deflateSync(gzipSync(zstdCompressSync(text))),
  "br, identity, br": (text) => brotliCompressSync(brotliCompressSync(text)),
};

/** @param encoding several: a line of the head each */
async function send(path: string, encoding: string | string[], body: Buffer | string) {
  const answer = await request(gateway.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.liveKey}`,
      "content-type": "application/json",
      "content-encoding": encoding,
    },
    body,
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, accepts: answer.headers["accept-encoding"] };
}
const chat = (encoding: string | string[], body: Buffer | string) =>
  send("/v1/chat/completions", encoding, body);

test("several lines are one list", async () => {
  const body = zstdCompressSync(gzipSync(TEXT));
  expect((await chat(["gzip", "zstd"], body)).status).toBe(200);
  expect((await chat(["identity", "gzip, zstd"], body)).status).toBe(200);
});

describe.each(Object.entries(CODINGS))("%s", (encoding, compress) => {
  test("is read on model calls and on other routes", async () => {
    const answer = await chat(encoding, compress(TEXT));
    expect([answer.status, answer.accepts]).toEqual([200, undefined]);
    const key = await send(
      "/v1/keys",
      encoding,
      compress(JSON.stringify({ name: `Key of ${encoding.trim()}` })),
    );
    expect([key.status, JSON.parse(key.text).name]).toEqual([201, `Key of ${encoding.trim()}`]);
  });

  test("counts what it becomes", async () => {
    const of = (bytes: number) => compress(TEXT + " ".repeat(bytes - Buffer.byteLength(TEXT)));
    expect((await chat(encoding, of(MAX_BODY_BYTES))).status).toBe(200);
    const bomb = await chat(encoding, of(MAX_BODY_BYTES + 1));
    expect([bomb.status, bomb.accepts]).toEqual([413, undefined]);
    const control = await send("/v1/keys", encoding, compress(JSON.stringify({ name: "n".repeat(300_000) })));
    expect(control.status).toBe(413);
  });

  test("cut, and damaged, is refused by name", async ({ skip }) => {
    skip(encoding === "identity", "nothing is encoded");
    const whole = compress(TEXT);
    const outermost = encoding
      .toLowerCase()
      .split(",")
      .findLast((name) => !["", "identity"].includes(name.trim()));
    const name = (outermost ?? "").trim().replace("x-", "");
    for (const bytes of [1, 5, Math.floor(whole.length / 2), whole.length - 1]) {
      const answer = await chat(encoding, whole.subarray(0, bytes));
      expect([bytes, answer.status]).toEqual([bytes, 400]);
      expect(answer.text).toContain(`not valid ${name}`);
    }
    for (const broken of [Buffer.from(TEXT), Buffer.concat([whole, Buffer.from("more than that")])]) {
      const answer = await chat(encoding, broken);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`not valid ${name}`)]);
    }
  });
});

test("several frames of zstd are one body, however many bytes one frame is", async () => {
  expect((await chat("zstd", zstdFrames(TEXT))).status).toBe(200);
  const cut = zstdFrames(TEXT).subarray(0, -2);
  expect((await chat("zstd", cut)).status).toBe(400);
  const many = Buffer.concat(Array.from({ length: 65 }, () => zstdCompressSync(" ")));
  expect((await chat("zstd", many)).status).toBe(400);
  const blocks = Buffer.concat([zstdCompressSync("").subarray(0, 6), Buffer.alloc(250_002)]);
  expect((await chat("zstd", blocks)).status).toBe(400);
});

/** A whole frame of the text, whose header says something else: its window, or a dictionary's id. */
function zstdSaying(said: { readonly windowLog?: number; readonly dictionary?: number }): Buffer {
  const frame = zstdWith({ [constants.ZSTD_c_contentSizeFlag]: 0 })(TEXT);
  const { windowLog, dictionary } = said;
  if (windowLog !== undefined) frame[5] = (windowLog - 10) << 3;
  if (dictionary === undefined) return frame;
  frame[4] = (frame[4] as number) | 1;
  return Buffer.concat([frame.subarray(0, 6), Buffer.from([dictionary]), frame.subarray(6)]);
}

/** A frame of one segment, whose window is its content: so many bytes. */
const zstdOf = (bytes: number): Buffer => {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 1, 0, 0]);
  head.writeUInt32LE(bytes, 5);
  return head;
};

test.each<[string, Buffer, number, string]>([
  ["a window of 8 MB", zstdSaying({ windowLog: 23 }), 200, ""],
  [
    "a window of 16 MB",
    zstdSaying({ windowLog: 24 }),
    400,
    "needs a window of 16777216 bytes: 8388608 at most",
  ],
  ["a window of 2 GB", zstdSaying({ windowLog: 41 }), 400, "needs a window of 2199023255552 bytes"],
  ["one segment of 9 MB", zstdOf(9_000_000), 400, "needs a window of 9000000 bytes"],
  ["a dictionary", zstdSaying({ dictionary: 7 }), 400, "needs a dictionary"],
  ["a dictionary's id of 0, which is none", zstdSaying({ dictionary: 0 }), 200, ""],
  [
    "a wide frame behind another",
    Buffer.concat([zstdCompressSync(""), zstdSaying({ windowLog: 27 })]),
    400,
    "window",
  ],
  ["a header alone", zstdSaying({ windowLog: 27 }).subarray(0, 6), 400, "cut"],
  ["frames to skip alone", SKIPPED, 400, "cut"],
])("zstd with %s", async (_, body, status, message) => {
  const answer = await chat("zstd", body);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});

test("a bomb is refused at whichever step it is one", async () => {
  const zeros = Buffer.alloc(64 * MAX_BODY_BYTES);
  for (const [encoding, bomb] of [
    ["gzip", gzipSync(zeros)],
    ["br, gzip", gzipSync(brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }))],
    ["gzip, zstd", zstdCompressSync(zeros)],
    ["zstd, gzip, deflate", deflateSync(gzipSync(zeros))],
  ] as const) {
    const { status, text } = await chat(encoding, bomb);
    expect([encoding, status, text]).toEqual([encoding, 413, expect.stringContaining("once decompressed")]);
  }
});

test.each([
  "compress",
  "gzip, compress",
  "aws-chunked",
  "constructor",
  "gzip;q=1",
  "gzip gzip",
  "gzip, gzip, gzip, gzip",
  `gzip${",".repeat(1000)}`,
  "x".repeat(5000),
])("%.30s is not taken, and the answer says what is", async (encoding) => {
  for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/svc/embed", "/v1/keys"]) {
    const { status, text, accepts } = await send(path, encoding, gzipSync(TEXT));
    expect([path, status, accepts]).toEqual([path, 415, ACCEPTED]);
    expect(text).toContain(`send ${ACCEPTED} or identity`);
    expect(text.length).toBeLessThan(600);
  }
});

test("another 415 does not speak of encodings, and an empty body has none", async () => {
  const typed = await request(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "text/plain" },
    body: TEXT,
  });
  expect([typed.statusCode, typed.headers["accept-encoding"]]).toEqual([415, undefined]);
  await typed.body.dump();
  const empty = await chat("zstd", "");
  expect([empty.status, empty.text]).toEqual([400, expect.not.stringContaining("zstd")]);
});

test("hundreds at once are read one after the other, and some who leave keep nobody else waiting", async () => {
  const body = gzipSync(JSON.stringify({ ...CHAT, user: "u".repeat(60_000) }));
  const all = Array.from({ length: 300 }, () => chat("gzip", body));
  for (let left = 0; left < 50; left++) {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.liveKey}\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
    await new Promise((resolve) => socket.write(Buffer.concat([Buffer.from(head), body]), resolve));
    socket.destroy();
  }
  expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]));
  await atRest(gateway);
});

test("who leaves while a list is decoded leaves nothing behind", async () => {
  const body = CODINGS["zstd, gzip, deflate"]?.(Buffer.alloc(MAX_BODY_BYTES)) as Buffer;
  for (let round = 0; round < 20; round++) {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.liveKey}\r\ncontent-encoding: zstd, gzip, deflate\r\ncontent-length: ${body.length}\r\n\r\n`;
    await new Promise((resolve) => socket.write(Buffer.concat([Buffer.from(head), body]), resolve));
    socket.destroy();
  }
  await atRest(gateway);
  expect((await gateway.chat(CHAT)).status).toBe(200);
});
