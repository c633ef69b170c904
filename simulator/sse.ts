/**
 * Server-sent events in the format of the simulated providers, with the variations of an instruction. Format:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { EventContent } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";

export const SSE_TYPE = "text/event-stream; charset=utf-8";

/** One event, with CRLF line ends or a preceding comment if instructed. */
export function sseFrame(event: EventContent, instruction: Instruction): Buffer {
  const end = instruction.crlf === true ? "\r\n" : "\n";
  const comment = instruction.comments === true ? `: simulated comment${end}${end}` : "";
  const name = event.name === undefined ? "" : `event: ${event.name}${end}`;
  return Buffer.from(`${comment}${name}data: ${event.data}${end}${end}`);
}

/** Bytes that framing adds to the data of an event of that name. */
export function sseFrameBytes(instruction: Instruction, name?: string): number {
  return sseFrame({ data: "", ...(name === undefined ? {} : { name }) }, instruction).length;
}
