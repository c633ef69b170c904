/** Content that is decoded as it arrives: a reader that pauses pauses what it comes from, and nothing is told behind a stop. */
import { randomBytes } from "node:crypto";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { Decoding } from "../../../../src/inference/upstream/decoding.ts";
import { until } from "../../../support/wait.ts";

/** What one read brings. */
const READ_BYTES = 16 * 1024;
const MOST_HELD_BYTES = 256 * 1024;

const BODY = Buffer.from(randomBytes(2 * 1024 * 1024).toString("hex"));

/** Sends content read by read while it is not paused, and takes what comes out. */
function started(codings: readonly string[], content: Buffer) {
  const state = { sent: 0, isPaused: false, got: 0, ended: 0, failed: 0 };
  const parts: Buffer[] = [];
  const send = () => {
    while (!state.isPaused && state.sent < content.length) {
      const end = Math.min(content.length, state.sent + READ_BYTES);
      const read = content.subarray(state.sent, end);
      state.sent = end;
      decoding.push(read);
      if (end === content.length) decoding.end();
    }
  };
  const source = {
    pause: () => {
      state.isPaused = true;
    },
    resume: () => {
      state.isPaused = false;
      send();
    },
  };
  const decoding = new Decoding({ codings, mayBeText: false }, source, {
    onData: (chunk) => {
      state.got += chunk.length;
      parts.push(Buffer.from(chunk));
    },
    onEnd: () => state.ended++,
    onUndecoded: () => state.failed++,
  });
  return { state, decoding, send, text: () => Buffer.concat(parts) };
}

test.each([
  ["gzip", ["gzip"], gzipSync],
  ["deflate", ["deflate"], deflateSync],
  ["br", ["br"], brotliCompressSync],
  ["zstd", ["zstd"], zstdCompressSync],
  ["gzip in gzip", ["gzip", "gzip"], (body: Buffer) => gzipSync(gzipSync(body))],
  ["nothing", ["gzip"], (body: Buffer) => body],
] as const)("%s: a pause reaches the source, and all comes once it is over", async (_, codings, encode) => {
  const content = encode(BODY);
  const { state, decoding, send, text } = started(codings, content);
  decoding.pause();
  send();
  await until("the source is paused", () => state.isPaused);
  expect(state.sent).toBeLessThan(MOST_HELD_BYTES);
  expect(state.got).toBeLessThan(MOST_HELD_BYTES);
  expect(state.ended).toBe(0);
  decoding.resume();
  send();
  await until("the content has ended", () => state.ended === 1);
  expect(text().equals(BODY)).toBe(true);
  expect(state.failed).toBe(0);
});

test("behind a stop nothing is told", async () => {
  const { state, decoding, send } = started(["gzip"], gzipSync(BODY));
  send();
  await until("some content came", () => state.got > 0);
  decoding.stop();
  const { got } = state;
  const other = started(["gzip"], gzipSync(BODY));
  other.send();
  await until("another one has ended", () => other.state.ended === 1);
  expect(state).toMatchObject({ got, ended: 0, failed: 0 });
});

test("content that stands for far too much is refused, once", async () => {
  const { state, send } = started(["gzip"], gzipSync(Buffer.alloc(64 * 1024 * 1024)));
  send();
  await until("it is refused", () => state.failed === 1);
  expect(state.ended).toBe(0);
  expect(state.got).toBeLessThan(32 * 1024 * 1024);
});
