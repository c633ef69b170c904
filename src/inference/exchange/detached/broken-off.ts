/** The end of a call whose process was killed while it ran, or whose cell was retired. */
import { FORMATS } from "../../../wire/formats.ts";
import { EventNumbers } from "../../../wire/neutral/event-numbers.ts";
import { BROKEN_OFF, type Broken } from "../errors/broken-off.ts";
import type { BrokenEnd, LoggedCall, WholeBody } from "./call-log.ts";
import type { Part } from "./event-log.ts";

type Ended = Pick<LoggedCall, "id" | "format">;

/**
 * The last events of the call's stream: the error, and before it, in a background response's stream, the event with the failed response.
 * @param next number of the first
 */
export function brokenOffEvents({ id, format }: Ended, next: number, { how, response }: BrokenEnd): Part {
  const { background, errorEvent } = FORMATS[format];
  const ended = response === undefined ? "" : (background?.endedEvent(response, next) ?? "");
  const text = ended + errorEvent(BROKEN_OFF[how], id, ended === "" ? next : next + 1);
  const numbers = new EventNumbers(next);
  const bytes = numbers.numbered(Buffer.from(text));
  return { first: next, end: numbers.next, bytes };
}

/** The answer of a call that is no stream. */
export const wholeBrokenOff = ({ id, format }: Ended, how: Broken): WholeBody => ({
  status: BROKEN_OFF[how].status,
  body: Buffer.from(FORMATS[format].errorBody(BROKEN_OFF[how], id)),
});
