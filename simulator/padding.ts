/**
 * How an answer gets a size it was told to have: content filled in, or JSON that white space makes longer.
 * The white space is what providers themselves hide the length of their events with.
 */
import type { Instruction } from "./instruction.ts";

const DEFAULT_EVENT_BYTES = 16_384;

/** Words as in the answers, so that padded bodies compress and scan like real ones. */
function filler(bytes: number): string {
  const length = Math.max(0, bytes);
  return " weir".repeat(Math.ceil(length / 5)).slice(0, length);
}

/**
 * The JSON that `build` makes, with as much filler as makes it `bytes` or `total_bytes` long; without any if that was
 * not told or is too short for it.
 */
export function filled(instruction: Instruction, build: (filler: string) => string): string {
  const plain = build("");
  const target = instruction.total_bytes ?? instruction.bytes;
  if (target === undefined) return plain;
  // Measured with one byte of filler, because an answer without content has another shape.
  const lacking = target - Buffer.byteLength(build(filler(1)));
  return lacking < 0 ? plain : build(filler(lacking + 1));
}

/** An event's JSON object, with white space before its end so that with `frameBytes` it is `bytes` long if told. */
export function padded(json: string, frameBytes: number, instruction: Instruction): string {
  if (instruction.bytes === undefined) return json;
  const lacking = instruction.bytes - frameBytes - Buffer.byteLength(json);
  return lacking <= 0 ? json : `${json.slice(0, -1)}${" ".repeat(lacking)}}`;
}

/** As many equal content events of `event_bytes` as fit into `totalBytes`. `bareBytes`: of such an event without text. */
export function bulk(
  totalBytes: number,
  instruction: Instruction,
  bareBytes: number,
): { readonly text: string; readonly times: number } {
  const eventBytes = Math.min(instruction.event_bytes ?? DEFAULT_EVENT_BYTES, totalBytes);
  return { text: filler(eventBytes - bareBytes), times: Math.floor(totalBytes / eventBytes) };
}
