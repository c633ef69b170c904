/**
 * Where a client of `GET /v1/live` is, as one word: `<settling of the last call, microseconds>.<its id>.<id of the last org event>`. The
 * two ids may be empty: a stream that has sent nothing yet begins at an instant. It holds nothing that its reader may not know.
 */
import { firstIdAt, madeAtMs } from "../../base/ids.ts";
import type { TailPosition } from "../tail/tail-history.ts";

export interface LivePosition {
  readonly call: TailPosition;
  /** Events with a greater id are later ones. */
  readonly eventId: string;
}

const PREFIX = "evt_";
export const POSITION =
  /^(\d{1,15}|[1-8]\d{15})\.([0-9A-HJKMNP-TV-Z]{26})?\.(evt_[0-9A-HJKMNP-TV-Z]{10,26})$/;

/** @param ms wall clock */
export const positionAt = (ms: number): LivePosition => ({
  call: { settledAtUs: ms * 1000, requestId: "" },
  eventId: firstIdAt("evt", ms),
});

export const positionText = ({ call, eventId }: LivePosition): string =>
  `${call.settledAtUs}.${call.requestId}.${eventId}`;

/** Undefined where the text is no position. */
export function readPosition(text: string): LivePosition | undefined {
  const [, us, requestId = "", eventId] = POSITION.exec(text) ?? [];
  if (us === undefined || eventId === undefined) return undefined;
  return { call: { settledAtUs: Number(us), requestId }, eventId };
}

/** When the last event of a position was made; wall clock, milliseconds. */
export const eventMadeAtMs = ({ eventId }: LivePosition): number => madeAtMs(eventId.slice(PREFIX.length));
