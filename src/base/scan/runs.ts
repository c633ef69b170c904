/**
 * Events of a stream that are alike but for one text, passed on sixteen bytes at a time, in WebAssembly with SIMD (`runs.wat`): V8 looks at
 * each access of a typed array whether its memory is still there. There is one memory, which all streams share for one synchronous moment:
 * sockets read into it, and events are written to clients from it.
 */
import { join } from "node:path";
import { exportsOf } from "../wasm.ts";

/** The most bytes of a text around events. */
export const MOST_AROUND = 2000;

const AROUND_OUT_AT = 2048;
const RESULTS_AT = 4080;
const READ_AT = 4096;
const READ_BYTES = 64 * 1024;
const COPY_AT = READ_AT + READ_BYTES + 1024;
const COPY_BYTES = 64 * 1024;
const TEXT_AT = 139_264;
const TEXT_BYTES = 64 * 1024;
const OUT_AT = 205_824;
const MEMORY_BYTES = 6 * 65_536;

interface Runs {
  readonly memory: { readonly buffer: ArrayBuffer };
  pass(
    at: number,
    to: number,
    tail: number,
    head: number,
    tailOut: number,
    headOut: number,
    out: number,
    most: number,
  ): number;
}

/** What is around the texts of events that are alike. */
export interface Around {
  /** The end of an event and the beginning of the next one, at most {@link MOST_AROUND} bytes. */
  readonly between: Buffer;
  readonly tailLength: number;
  /** The same as they go out. */
  readonly betweenOut: Buffer;
  readonly tailOutLength: number;
}

const { memory, pass } = exportsOf<Runs>(join(import.meta.dirname, "runs.wasm"));
const around = Buffer.from(memory.buffer, 0, READ_AT);
const copies = Buffer.from(memory.buffer, COPY_AT, COPY_BYTES);
const results = new Int32Array(memory.buffer, RESULTS_AT, 3);

/** What connections read into, one after the other. Events are found in any other memory, too, but are copied for it. */
export const reads: Buffer = Buffer.from(memory.buffer, READ_AT, READ_BYTES / 2);
/** Events for the client, behind what others than the caller may have written. */
export const goingOut: Buffer = Buffer.from(memory.buffer, OUT_AT, MEMORY_BYTES - OUT_AT);
/** The texts of the events that {@link passRun} has found, one after the other. */
export const texts: Buffer = Buffer.from(memory.buffer, TEXT_AT, TEXT_BYTES);

/** What {@link passRun} has found: the index behind the events, and where the events for the client and the texts end in their memories. */
export const found = { end: 0, outEnd: 0, textEnd: 0 };

let loaded: Around | undefined;

/**
 * Finds the events from `from` up to `to` whose text has no escape, and writes them to {@link goingOut} from `outAt` on.
 * @returns their number. Beyond it nothing was written
 */
export function passRun(read: Buffer, from: number, to: number, given: Around, outAt: number): number {
  let base = READ_AT;
  if (read !== reads) {
    if (to - from > COPY_BYTES) return 0;
    read.copy(copies, 0, from, to);
    base = COPY_AT - from;
  }
  const { between, tailLength, betweenOut, tailOutLength } = given;
  if (loaded !== given) {
    loaded = given;
    around.set(between, 0);
    around.set(betweenOut, AROUND_OUT_AT);
  }
  const events = pass(
    base + from,
    base + to,
    tailLength,
    between.length - tailLength,
    tailOutLength,
    betweenOut.length - tailOutLength,
    OUT_AT + outAt,
    MEMORY_BYTES,
  );
  if (events === 0) return 0;
  found.end = (results[0] as number) - base;
  found.outEnd = (results[1] as number) - OUT_AT;
  found.textEnd = (results[2] as number) - TEXT_AT;
  return events;
}
