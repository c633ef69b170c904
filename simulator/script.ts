/**
 * Turns a reply into a script of socket writes: HTTP framing, delays, splits, and the faults that cut it short.
 * Everything is computed in advance, so that playing a cached reply costs only its writes.
 */
import { gzipSync } from "node:zlib";
import { STATUS_CODES } from "../src/base/network/node-http.ts";
import type { EventContent, Headers, SimulatedDialect, StreamEvent } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { AT_ONCE, type Ending, NEXT_TURN, type Script, type Step } from "./playback.ts";

export interface WholeReply {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A stream's events and their framing. */
export interface StreamReply {
  readonly dialect: Pick<SimulatedDialect, "streamType" | "frame">;
  readonly headers: Headers;
  readonly events: readonly StreamEvent[];
  /** The error event sent after `sent` events, if the instruction makes the stream fail. */
  error(sent: number): EventContent;
}

/** A run of body bytes that belong together: an event, or a whole JSON body. */
interface Piece {
  readonly bytes: Buffer;
  readonly times: number;
  readonly late?: true;
}

/** How much of a body is sent, and what happens then. */
interface Course {
  readonly pieces: readonly Piece[];
  readonly ending: Ending;
  /** False: the HTTP message is left unfinished. */
  readonly complete: boolean;
}

const NO_BYTES = Buffer.alloc(0);
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const ENDLESS = Buffer.alloc(16_384, "x");
/** Events sent before a mid-stream fault: the role and two tokens. */
const DEFAULT_AFTER = 3;
/** Delay that makes "split" usage arrive in a separate read even on a stream without gaps. */
const LATE_MS = 10;

/** A reply of one body, with `Content-Length`. */
export function wholeScript(reply: WholeReply, instruction: Instruction): Script {
  const early = beforeHead(instruction);
  if (early !== undefined) return early;
  if (instruction.fault === "no_newline_ever") return endlessScript(reply.contentType, instruction);
  let body = Buffer.from(reply.body);
  if (instruction.fault === "empty_body") body = NO_BYTES;
  if (instruction.fault === "malformed") body = body.subarray(0, -1);
  if (instruction.gzip === true) body = gzipSync(body);
  const head = headBytes(reply.status, {
    "content-type": reply.contentType,
    "content-length": String(body.length),
    ...(instruction.gzip === true ? { "content-encoding": "gzip" } : {}),
    ...reply.headers,
  });
  const ending = WHOLE_ENDINGS[instruction.fault ?? ""] ?? "keep";
  const sent = ending === "keep" ? body : body.subarray(0, Math.floor(body.length / 2));
  const course: Course = { pieces: [{ bytes: sent, times: 1 }], ending, complete: ending === "keep" };
  return layOut(head, course, instruction, (bytes) => bytes);
}

/** Faults that truncate a non-streamed body: half of it is sent. */
const WHOLE_ENDINGS: Readonly<Record<string, Ending>> = Object.freeze({
  half_json: "close",
  close_mid: "close",
  cut_mid: "close",
  reset_mid: "reset",
  stall: "silence",
});

/** A chunked stream of events: one HTTP chunk per event or piece. */
export function streamScript(reply: StreamReply, instruction: Instruction): Script {
  const early = beforeHead(instruction);
  if (early !== undefined) return early;
  const contentType = reply.dialect.streamType;
  if (instruction.fault === "no_newline_ever") return endlessScript(contentType, instruction);
  let course = courseOf(reply, instruction);
  if (instruction.gzip === true) {
    course = { ...course, pieces: [{ bytes: gzipSync(joined(course.pieces)), times: 1 }] };
  }
  const head = headBytes(200, {
    "content-type": contentType,
    "cache-control": "no-cache",
    "transfer-encoding": "chunked",
    ...(instruction.gzip === true ? { "content-encoding": "gzip" } : {}),
    ...reply.headers,
  });
  return layOut(head, course, instruction, chunkBytes, LAST_CHUNK);
}

function beforeHead(instruction: Instruction): Script | undefined {
  if (instruction.fault !== "reset" && instruction.fault !== "hang") return undefined;
  const wait: Step = { bytes: NO_BYTES, times: 1, waitMs: instruction.first_ms ?? AT_ONCE };
  return { steps: [wait], ending: instruction.fault === "reset" ? "reset" : "silence" };
}

function endlessScript(contentType: string, instruction: Instruction): Script {
  const head = headBytes(200, { "content-type": contentType, "transfer-encoding": "chunked" });
  const start: Piece = { bytes: Buffer.from('data: {"choices":"'), times: 1 };
  const rest: Piece = { bytes: ENDLESS, times: Number.POSITIVE_INFINITY };
  const { split: _, split_every: __, one_write: ___, ...paced } = instruction;
  return layOut(head, { pieces: [start, rest], ending: "keep", complete: false }, paced, chunkBytes);
}

function courseOf({ dialect, events, ...reply }: StreamReply, instruction: Instruction): Course {
  const bytesOf = (event: EventContent) => dialect.frame(event, instruction);
  const pieces: Piece[] = events.map((event) => ({
    bytes: bytesOf(event),
    times: event.times,
    ...(event.late === true ? { late: true } : {}),
  }));
  const error = (sent: number): Piece => ({ bytes: bytesOf(reply.error(sent)), times: 1 });
  const after = instruction.after ?? DEFAULT_AFTER;
  const whole = (sent: readonly Piece[]): Course => ({ pieces: sent, ending: "keep", complete: true });
  switch (instruction.fault) {
    case "reset_mid":
      return { pieces: take(pieces, after), ending: "reset", complete: false };
    case "cut_mid":
      return { pieces: take(pieces, after), ending: "close", complete: false };
    case "stall":
      return { pieces: take(pieces, after), ending: "silence", complete: false };
    case "close_mid":
      return whole(take(pieces, after));
    case "error_first":
      return whole([error(0)]);
    case "error_mid":
    case "failed": {
      const sent = take(pieces, after);
      return whole([...sent, error(sent.reduce((sum, piece) => sum + piece.times, 0))]);
    }
    case "empty_body":
      return whole([]);
    case "malformed": {
      const reached = take(pieces, after);
      const victim = events[reached.length];
      if (victim === undefined) return whole(reached);
      const bytes = bytesOf({ ...victim, data: victim.data.slice(0, victim.data.length / 2) });
      return whole([...reached, { bytes, times: 1 }, ...pieces.slice(reached.length + 1)]);
    }
    case "no_final_newline": {
      const last = pieces.at(-1);
      return whole(last === undefined ? [] : [...pieces.slice(0, -1), unended(last, dialect.streamType)]);
    }
    default:
      return whole(pieces);
  }
}

/** The first `count` events; an event that repeats counts each time. */
function take(pieces: readonly Piece[], count: number): Piece[] {
  const taken: Piece[] = [];
  let left = count;
  for (const piece of pieces) {
    if (left <= 0) break;
    const times = Math.min(left, piece.times);
    taken.push({ ...piece, times });
    left -= times;
  }
  return taken;
}

/** A text event without its final line ends. */
function unended(piece: Piece, contentType: string): Piece {
  if (!contentType.startsWith("text/")) return piece;
  return { ...piece, bytes: Buffer.from(piece.bytes.toString().trimEnd()) };
}

const joined = (pieces: readonly Piece[]): Buffer => Buffer.concat(pieces.map((piece) => piece.bytes));

function headBytes(status: number, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Status"}\r\n${lines.join("")}\r\n`,
    "latin1",
  );
}

const chunkBytes = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

/** Splits the pieces as instructed, frames them, and gives each its delay. */
function layOut(
  head: Buffer,
  course: Course,
  instruction: Instruction,
  frame: (bytes: Buffer) => Buffer,
  end: Buffer = NO_BYTES,
): Script {
  const isSplit = instruction.split !== undefined || instruction.split_every !== undefined;
  let pieces = course.pieces.filter((piece) => piece.bytes.length > 0);
  if (instruction.one_write === true)
    pieces = pieces.length === 0 ? [] : [{ bytes: joined(pieces), times: 1 }];
  else if (isSplit) pieces = cut(joined(pieces), instruction);
  const gap = instruction.burst === true ? 0 : (instruction.gap_ms ?? 0);
  const between = gap > 0 ? gap : isSplit ? NEXT_TURN : AT_ONCE;
  const first = instruction.header_then_ms ?? (isSplit ? NEXT_TURN : AT_ONCE);
  const steps: Step[] = pieces.map((piece, i) => ({
    bytes: frame(piece.bytes),
    times: piece.times,
    waitMs: piece.late === true ? Math.max(gap, LATE_MS) : i === 0 ? first : between,
  }));
  if (course.complete && end.length > 0) appendEnd(steps, end, first);
  return { steps: withHead(head, steps, instruction.first_ms ?? AT_ONCE), ending: course.ending };
}

/** The end of the message is sent with the last event, as servers do that end a stream with it. */
function appendEnd(steps: Step[], end: Buffer, waitMs: number): void {
  const last = steps.at(-1);
  if (last?.times === 1) steps[steps.length - 1] = { ...last, bytes: Buffer.concat([last.bytes, end]) };
  else steps.push({ bytes: end, times: 1, waitMs });
}

function withHead(head: Buffer, steps: readonly Step[], waitMs: number): Step[] {
  const [first, ...rest] = steps;
  if (first?.times === 1 && first.waitMs === AT_ONCE) {
    return [{ bytes: Buffer.concat([head, first.bytes]), times: 1, waitMs }, ...rest];
  }
  return [{ bytes: head, times: 1, waitMs }, ...steps];
}

/** Pieces between the offsets of `split`, or of `split_every` bytes. */
function cut(bytes: Buffer, instruction: Instruction): Piece[] {
  const offsets = new Set(instruction.split);
  const every = instruction.split_every ?? 0;
  if (every > 0) for (let at = every; at < bytes.length; at += every) offsets.add(at);
  const bounds = [...offsets].filter((at) => at < bytes.length).sort((a, b) => a - b);
  return [0, ...bounds].map((from, i) => ({
    bytes: bytes.subarray(from, bounds[i] ?? bytes.length),
    times: 1,
  }));
}
