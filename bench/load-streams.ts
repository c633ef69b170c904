/**
 * A minimal HTTP/1.1 client for many slow streams. autocannon measures only complete answers and parses in JavaScript
 * as they arrive; here a chunk costs one array push, and each stream is decoded and compared once, when it has ended.
 */
import { connect, type Socket } from "node:net";
import { isIntact } from "./fidelity.ts";
import { FORMATS } from "./formats.ts";
import { type LoadResult, percentiles, type StreamsJob } from "./load-job.ts";

interface Tally {
  readonly latencies: number[];
  readonly firsts: number[];
  intact: number;
  fault: string;
  lastAnswer: number;
}

/** Runs as many streams of the job as the deadline allows. Failed streams are counted, never thrown. */
export async function runStreams(job: StreamsJob): Promise<LoadResult> {
  const tally: Tally = { latencies: [], firsts: [], intact: 0, fault: "", lastAnswer: 0 };
  const sockets = new Set<Socket>();
  const started = performance.now();
  const deadline = setTimeout(() => {
    tally.fault ||= `not finished after ${job.timeoutMs} ms`;
    for (const socket of sockets) socket.destroy();
  }, job.timeoutMs);
  const stepMs = job.rampMs / job.connections;
  await Promise.all(
    Array.from({ length: job.connections }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * stepMs));
      if (performance.now() - started < job.timeoutMs) await runConnection(job, tally, sockets);
    }),
  );
  clearTimeout(deadline);
  return {
    calls: tally.latencies.length,
    intact: tally.intact,
    failed: job.connections * job.callsEach - tally.latencies.length,
    seconds: (tally.lastAnswer - started) / 1000,
    latencyMs: percentiles(tally.latencies),
    firstMs: percentiles(tally.firsts),
    fault: tally.fault,
  };
}

/** One keep-alive connection, one stream after the other. Resolves when done, closed or failed. */
function runConnection(job: StreamsJob, tally: Tally, sockets: Set<Socket>): Promise<void> {
  const url = new URL(job.url);
  const request = requestBytes(url, job);
  const socket = connect(Number(url.port), url.hostname);
  sockets.add(socket);
  socket.setNoDelay(true);
  return new Promise((resolve) => {
    let parts: Buffer[] = [];
    let sentAt = 0;
    let firstMs = -1;
    let left = job.callsEach;
    const key = Buffer.from(FORMATS[job.format].deltaKey);

    const send = (): void => {
      parts = [];
      firstMs = -1;
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on("connect", send);
    socket.on("data", (part) => {
      parts.push(part);
      if (firstMs < 0 && hasContent(part, key)) firstMs = performance.now() - sentAt;
      if (!endsMessage(part, parts)) return;
      tally.lastAnswer = performance.now();
      tally.latencies.push(tally.lastAnswer - sentAt);
      if (firstMs >= 0) tally.firsts.push(firstMs);
      const answer = Buffer.concat(parts);
      if (isIntact(decodeAnswer(answer), job.expected, job.format)) tally.intact += 1;
      else tally.fault ||= `unexpected answer: ${answer.toString("latin1").slice(0, 500)}`;
      left -= 1;
      if (left > 0) send();
      else socket.end();
    });
    socket.on("error", (error) => {
      tally.fault ||= error.message;
    });
    socket.on("close", () => {
      sockets.delete(socket);
      resolve();
    });
  });
}

function requestBytes(url: URL, job: StreamsJob): Buffer {
  const headers = { ...job.headers, host: url.host, "content-length": String(Buffer.byteLength(job.body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join("")}\r\n${job.body}`);
}

const QUOTE = 0x22;

/** True when an event of this read has text; a first event with only the role does not count. */
function hasContent(part: Buffer, key: Buffer): boolean {
  for (let at = part.indexOf(key); at !== -1; at = part.indexOf(key, at + 1)) {
    if (part[at + key.length] !== QUOTE) return true;
  }
  return false;
}

const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * True when the message is complete. A chunked message ends with the empty chunk: no event of these streams ends in
 * `0`, so its bytes are unambiguous. A message with a length is an error answer, and short.
 */
function endsMessage(part: Buffer, parts: readonly Buffer[]): boolean {
  const tail = part.length >= LAST_CHUNK.length ? part : Buffer.concat(parts.slice(-3));
  if (tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return true;
  if (parts.length > 4) return false;
  const whole = Buffer.concat(parts);
  const head = whole.indexOf(HEAD_END);
  if (head === -1) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(whole.toString("latin1", 0, head))?.[1];
  return length !== undefined && whole.length >= head + HEAD_END.length + Number(length);
}

/** The body's text, de-chunked if necessary. */
export function decodeAnswer(answer: Buffer): string {
  const head = answer.indexOf(HEAD_END);
  const body = answer.subarray(head + HEAD_END.length);
  if (!/\r\ntransfer-encoding: *chunked/i.test(answer.toString("latin1", 0, head))) return body.toString();
  const chunks: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    const lineEnd = body.indexOf("\r\n", at);
    if (lineEnd === -1) break;
    const size = Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) break;
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(chunks).toString();
}
