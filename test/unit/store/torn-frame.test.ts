/** What a kill leaves of a frame that was being written over the tail of the frame before: never a sign of later frames. */
import { expect, test } from "vitest";
import {
  frameNumber,
  HEAD_BYTES,
  HEADER_BYTES,
  newSegment,
  readSegment,
  sealFrame,
  TAIL_BYTES,
  tailUnit,
} from "../../../src/store/journal/segment.ts";
import { CUT_STEP } from "../../support/effort.ts";

/** Bytes of a tail's unit: how the next frame's tail lies over the one before depends on its length by this. */
const UNIT = 16;
const SIZE = 10_000;
const PAGE = 4096;
const SALTS = [0x1234_5678, 0x9abc_def0, 7];
/** From here to the next one every byte of the number but its highest two changes. */
const BASES = [0, 510, 619];

/** A frame of this many bytes of payload, with its tail. */
function frameOf(payload: number, number: number, salt: number): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + payload + TAIL_BYTES, "x");
  frame.writeDoubleLE(number, HEAD_BYTES);
  sealFrame(frame, salt, tailUnit(salt, number), number);
  return frame;
}

/**
 * Where a write of so many bytes is cut. Within its payload and two units of its tail, and at its end, everywhere; in between, where a
 * tail repeats its unit, at a distance that comes by each byte of a unit, and everywhere in a thorough run.
 */
function cutsOf(length: number): number[] {
  const repeatsFrom = length - TAIL_BYTES + 2 * UNIT;
  const all = Array.from({ length: length + 1 }, (_, cut) => cut);
  return all.filter((cut) => cut < repeatsFrom || cut > length - 2 * UNIT || cut % CUT_STEP === 0);
}

test.each(Array.from({ length: UNIT }, (_, phase) => phase))(
  "O1: cut at any byte, %i bytes off the tail before it, it is dropped or whole",
  (phase) => {
    const salt = SALTS[phase % SALTS.length] as number;
    const base = BASES[phase % BASES.length] as number;
    const before = Buffer.alloc(SIZE);
    newSegment({ salt, number: 1, base, size: SIZE }).copy(before);
    const first = frameOf(200, base + 1, salt);
    first.copy(before, HEADER_BYTES);
    const last = frameOf(100 + phase, base + 2, salt);
    const at = HEADER_BYTES + first.length - TAIL_BYTES;
    const wrong: string[] = [];
    for (const cut of cutsOf(last.length)) {
      const bytes = Buffer.from(before);
      last.copy(bytes, at, 0, cut);
      const content = readSegment(bytes);
      const newest = content?.frames.at(-1);
      const reached = content?.bad?.reached ?? base + 1;
      const isWhole = cut >= last.length - TAIL_BYTES;
      const number = newest === undefined ? 0 : frameNumber(newest);
      if (number !== base + (isWhole ? 2 : 1) || reached > number)
        wrong.push(`${cut}: frame ${number}, ${reached}`);
    }
    expect(wrong).toEqual([]);
  },
);

test("O1: the tail of a frame that is lost tells of it, whichever page of the tail is lost too", () => {
  const frame = frameOf(100, 1, 7);
  const tailAt = HEADER_BYTES + frame.length - TAIL_BYTES;
  for (let lost = 0; lost <= TAIL_BYTES - PAGE; lost++) {
    const bytes = Buffer.alloc(SIZE);
    newSegment({ salt: 7, number: 1, base: 0, size: SIZE }).copy(bytes);
    frame.copy(bytes, HEADER_BYTES);
    bytes[HEADER_BYTES + HEAD_BYTES + 50] = 0;
    bytes.fill(0, tailAt + lost, tailAt + lost + PAGE);
    expect(readSegment(bytes)?.bad?.reached).toBe(1);
  }
});
