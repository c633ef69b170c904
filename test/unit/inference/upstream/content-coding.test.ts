/** How content is coded, by its first bytes rather than by its label. */
import * as zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { codingsOf, decoderOf, isShown } from "../../../../src/inference/upstream/content-coding.ts";

describe("a header's codings", () => {
  test.each<readonly [header: string, codings: readonly string[]]>([
    ["gzip", ["gzip"]],
    ["GZIP", ["gzip"]],
    ["x-gzip", ["gzip"]],
    [" gzip ;q=1", ["gzip"]],
    ['"br"', ["br"]],
    ["brotli", ["br"]],
    ["zlib", ["deflate"]],
    ["identity, gzip", ["gzip"]],
    ["gzip,,br,", ["gzip", "br"]],
    ["gzip, aws-chunked", ["gzip"]],
    ["aws-chunked", []],
    ["utf-8", []],
    ["identity", []],
    ["", []],
    ["br, deflate, gzip, zstd", ["deflate", "gzip", "zstd"]],
    [`gzip${",".repeat(9_000)}br`, ["gzip"]],
    ["__proto__, constructor", []],
  ])("%j", (header, codings) => {
    expect(codingsOf(header)).toEqual(codings);
  });
});

/** What is read before the coding is decided. */
function headOf(coding: string, content: Buffer): Buffer {
  for (let length = 1; length < content.length; length++) {
    if (isShown(coding, content.subarray(0, length))) return content.subarray(0, length);
  }
  return content;
}

const decodes = (coding: string, content: Buffer): boolean =>
  decoderOf(coding, headOf(coding, content)) !== undefined;

/** A frame's beginning: lengths, and their checksum. */
function frame(total: number, headers: number): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(total, 0);
  prelude.writeUInt32BE(headers, 4);
  prelude.writeUInt32BE(zlib.crc32(prelude.subarray(0, 8)), 8);
  return Buffer.concat([prelude, Buffer.from("\x0b:event-type\x07")]);
}

const TEXTS = [
  '{"id":"chatcmpl-1","object":"chat.completion"}',
  '{\n    "id": "chatcmpl-1"\n}',
  '{\r\n\t"id": 1}',
  `{${" ".repeat(40)}"id":1}`,
  "{}",
  "{",
  '[{"candidates":[]}]',
  '[\n  {\n    "candidates": []',
  "[[0.25,0.5]]",
  '\ufeff{"id":1}',
  'data: {"id":"chatcmpl-1"}\n\n',
  'data:{"id":1}\n\n',
  "event: message_start\ndata: {}\n\n",
  ": ping\n\n",
  ":\n\ndata: {}\n\n",
  "id: 1\ndata: {}\n\n",
  "retry: 500\n\n",
  '\r\ndata: {"id":1}\n\n',
  "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\ndata: {}",
  "\n\n\n\n\n\n\n\n\n\n\n\n\nda",
  ": 正在处理请求\n\n",
  '{"错误":"正在处理请求"}',
];

describe.each(["br", "deflate"])("said to be %s, and plain", (coding) => {
  test.each(TEXTS)("%j", (text) => {
    expect(decodes(coding, Buffer.from(text))).toBe(false);
  });

  test("frames of AWS's", () => {
    for (let total = 16; total < 4_000; total += 7) {
      for (const headers of [0, 1, 80, 255]) expect(decodes(coding, frame(total, headers))).toBe(false);
    }
  });

  test("nothing at all", () => expect(decodes(coding, Buffer.alloc(0))).toBe(false));
});

describe("coded, whatever it says", () => {
  const { constants } = zlib;
  const bodies = [
    ...TEXTS.map((text) => Buffer.from(text)),
    frame(130, 90),
    Buffer.from(`data: ${"hello ".repeat(3_000)}`),
    // Such a length is written as an opening brace, behind an opening bracket.
    ...[0x22, 0x5b, 0x7b, 0x7d].flatMap((low) =>
      [0x10000, 0x1227b & ~0xff].map((high) =>
        Buffer.from(`{"a":[${"0.125,".repeat(20_000)}`.slice(0, high + low + 1)),
      ),
    ),
  ];

  test("in brotli, by any encoder", () => {
    for (const body of bodies) {
      for (const quality of [0, 1, 4, 9, 11]) {
        for (const window of [10, 16, 22, 24]) {
          const params = {
            [constants.BROTLI_PARAM_QUALITY]: quality,
            [constants.BROTLI_PARAM_LGWIN]: window,
            [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
          };
          const content = zlib.brotliCompressSync(body, { params });
          expect([quality, window, body.length, decodes("br", content)]).toEqual([
            quality,
            window,
            body.length,
            true,
          ]);
        }
      }
    }
  });

  test("in deflate, with a header and without, by any encoder", () => {
    for (const body of bodies) {
      for (const level of [0, 1, 6, 9]) {
        for (const strategy of [constants.Z_DEFAULT_STRATEGY, constants.Z_HUFFMAN_ONLY, constants.Z_FIXED]) {
          for (const encode of [zlib.deflateSync, zlib.deflateRawSync]) {
            const content = encode(body, { level, strategy });
            expect([body.toString().slice(0, 20), level, strategy, decodes("deflate", content)]).toEqual([
              body.toString().slice(0, 20),
              level,
              strategy,
              true,
            ]);
          }
        }
      }
    }
  });

  test.each(["", "gzip", "br", "deflate", "zstd"])("in gzip and zstd, labelled %j", (coding) => {
    for (const body of bodies) {
      expect(decodes(coding, zlib.gzipSync(body))).toBe(true);
      expect(decodes(coding, zlib.zstdCompressSync(body))).toBe(true);
    }
  });

  test.each(["", "gzip", "zstd"])("but not what says %j and has no magic number", (coding) => {
    for (const text of TEXTS) expect(decodes(coding, Buffer.from(text))).toBe(false);
    expect(decodes(coding, Buffer.from("(plain text)"))).toBe(false);
  });
});
