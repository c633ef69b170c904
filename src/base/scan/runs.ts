/**
 * Events of a stream that are alike but for one text, passed on sixteen bytes at a time, in WebAssembly with SIMD (`runs.wat`): V8 looks at
 * each access of a typed array whether its memory is still there. There is one memory, which all streams share for one synchronous moment:
 * sockets read into it, and events are written to clients from it.
 */
import { join } from "node:path";
import { exportsOf } from "../wasm.ts";

/** The most bytes of a text around events. */
export const MOST_AROUND = 2000;

const RESULTS_AT = 4080;
const READ_AT = 4096;
const READ_BYTES = 64 * 1024;
const COPY_AT = READ_AT + READ_BYTES + 1024;
const COPY_BYTES = 64 * 1024;
const TEXT_AT = 139_264;
const TEXT_BYTES = 64 * 1024;
const OUT_AT = 205_824;
const OUT_END = 6 * 65_536;
/**
 * Each stream has a place in the memory for the bytes that surround its texts. They stay there while the stream goes on: to copy them for each
 * event took as long as all other work on the event. If there are more streams than places, the stream that has had its place for longest
 * loses it, and takes another place with its next event.
 */
const PLACES_AT = OUT_END;
const PLACE_BYTES = 1024;
/** The memory has room for one more: WebAssembly reads up to fifteen bytes behind what it copies, and beyond the memory it may read nothing. */
const PLACES = 1023;

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
    around: number,
    aroundOut: number,
  ): number;
}

/** What surrounds the texts of events that are alike, and where it is in the memory. */
export class Around {
  /** The end of an event and the beginning of the next one, latin1, at most {@link MOST_AROUND} bytes. */
  readonly between: string;
  readonly tailLength: number;
  /** The same as they go out. */
  readonly betweenOut: string;
  readonly tailOutLength: number;
  /** Its place, and the number that is in `takenBy` there as long as it is its own. */
  place = 0;
  taken = -1;

  constructor(between: string, tailLength: number, betweenOut: string, tailOutLength: number) {
    this.between = between;
    this.tailLength = tailLength;
    this.betweenOut = betweenOut;
    this.tailOutLength = tailOutLength;
  }

  /** Where the text as it goes out is, behind the other. */
  get outAt(): number {
    return (this.between.length + 15) & ~15;
  }
}

const { memory, pass } = exportsOf<Runs>(join(import.meta.dirname, "runs.wasm"));
const arounds = Buffer.from(memory.buffer);
const copies = Buffer.from(memory.buffer, COPY_AT, COPY_BYTES);
const results = new Int32Array(memory.buffer, RESULTS_AT, 4);

/** What connections read into, one after the other. Events are found in any other memory, too, but are copied for it. */
export const reads: Buffer = Buffer.from(memory.buffer, READ_AT, READ_BYTES / 2);
/** Events for the client, behind what others than the caller may have written. */
export const goingOut: Buffer = Buffer.from(memory.buffer, OUT_AT, OUT_END - OUT_AT);
/** The texts of the events that {@link passRun} has found, one after the other. */
export const texts: Buffer = Buffer.from(memory.buffer, TEXT_AT, TEXT_BYTES);

/**
 * What {@link passRun} has found: the index behind the events, and where the events for the client and the texts end in their memories. Where it
 * found none: whether one begins there at all, whose text has an escape or has not ended.
 */
export const found = { end: 0, outEnd: 0, textEnd: 0, begins: false };

/** By place; that of the long ones, at the beginning of the memory, is the last. */
const takenBy = new Float64Array(PLACES + 1);
let nextPlace = 0;
let lastTaken = 0;

const addressOf = (place: number): number => (place === PLACES ? 0 : PLACES_AT + place * PLACE_BYTES);

function takePlace(given: Around): void {
  const { between, betweenOut, outAt } = given;
  const isLong = outAt + betweenOut.length > PLACE_BYTES;
  given.place = isLong ? PLACES : nextPlace;
  if (!isLong) nextPlace = (nextPlace + 1) % PLACES;
  takenBy[given.place] = given.taken = ++lastTaken;
  const address = addressOf(given.place);
  arounds.write(between, address, "latin1");
  arounds.write(betweenOut, address + outAt, "latin1");
}

/**
 * Finds the events from `from` up to `to` whose text has no escape, and writes them to {@link goingOut} from `outAt` on.
 * @returns their number. Beyond it nothing was written
 */
export function passRun(read: Buffer, from: number, to: number, given: Around, outAt: number): number {
  let base = READ_AT;
  if (read !== reads) {
    found.begins = true;
    if (to - from > COPY_BYTES) return 0;
    read.copy(copies, 0, from, to);
    base = COPY_AT - from;
  }
  if (takenBy[given.place] !== given.taken) takePlace(given);
  const { between, tailLength, betweenOut, tailOutLength } = given;
  const address = addressOf(given.place);
  const events = pass(
    base + from,
    base + to,
    tailLength,
    between.length - tailLength,
    tailOutLength,
    betweenOut.length - tailOutLength,
    OUT_AT + outAt,
    OUT_END,
    address,
    address + given.outAt,
  );
  found.begins = results[3] === 1;
  if (events === 0) return 0;
  found.end = (results[0] as number) - base;
  found.outEnd = (results[1] as number) - OUT_AT;
  found.textEnd = (results[2] as number) - TEXT_AT;
  return events;
}
