/**
 * Pads an answer to an instructed size: with filler text, or with white space in the JSON, as providers do to hide the
 * length of events.
 */
import type { Instruction } from "./instruction.ts";

const DEFAULT_EVENT_BYTES = 16_384;

/** Words as in the answers, so that padded bodies compress and scan like real ones. */
function filler(bytes: number): string {
  const length = Math.max(0, bytes);
  return " weir".repeat(Math.ceil(length / 5)).slice(0, length);
}

/**
 * Calls `build` with the filler that makes its JSON `bytes` or `total_bytes` long; without filler if no size is
 * instructed or it is too short.
 */
export function filled(instruction: Instruction, build: (filler: string) => string): string {
  const plain = build("");
  const target = instruction.total_bytes ?? instruction.bytes;
  if (target === undefined) return plain;
  // Measured with one byte of filler, because an answer without content has another structure.
  const lacking = target - Buffer.byteLength(build(filler(1)));
  return lacking < 0 ? plain : build(filler(lacking + 1));
}

/** Pads an event's JSON object with white space so that with `frameBytes` it is `bytes` long, if instructed. */
export function padded(json: string, frameBytes: number, instruction: Instruction): string {
  if (instruction.bytes === undefined) return json;
  const lacking = instruction.bytes - frameBytes - Buffer.byteLength(json);
  return lacking <= 0 ? json : `${json.slice(0, -1)}${" ".repeat(lacking)}}`;
}

/**
 * As many equal content events of `event_bytes` as fit into `totalBytes`. `bareBytes`: size of such an event without
 * text.
 */
export function bulk(
  totalBytes: number,
  instruction: Instruction,
  bareBytes: number,
): { readonly text: string; readonly times: number } {
  const eventBytes = Math.min(instruction.event_bytes ?? DEFAULT_EVENT_BYTES, totalBytes);
  return { text: filler(eventBytes - bareBytes), times: Math.floor(totalBytes / eventBytes) };
}
