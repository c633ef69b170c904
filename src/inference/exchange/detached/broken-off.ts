/** The end of a call whose process was killed while it ran, or whose cell was retired. */
import { FORMATS } from "../../../wire/formats.ts";
import { EventNumbers } from "../../../wire/neutral/event-numbers.ts";
import { BROKEN_OFF, type Broken } from "../errors/broken-off.ts";
import type { LoggedCall, WholeBody } from "./call-log.ts";
import type { Part } from "./event-log.ts";

type Ended = Pick<LoggedCall, "id" | "format">;

/** The error event of the call's format. @param next its number */
export function brokenOffEvent({ id, format }: Ended, next: number, how: Broken): Part {
  const numbers = new EventNumbers(next);
  const bytes = numbers.numbered(Buffer.from(FORMATS[format].errorEvent(BROKEN_OFF[how], id, next)));
  return { first: next, end: numbers.next, bytes };
}

/** The answer of a call that is no stream. */
export const wholeBrokenOff = ({ id, format }: Ended, how: Broken): WholeBody => ({
  status: BROKEN_OFF[how].status,
  body: Buffer.from(FORMATS[format].errorBody(BROKEN_OFF[how], id)),
});
