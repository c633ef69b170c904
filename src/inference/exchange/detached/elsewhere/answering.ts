/** Answers other cells whose readers want a call of this one. */
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../../../base/clock.ts";
import { brokenOffEvents } from "../broken-off.ts";
import type { CallLog } from "../call-log.ts";
import { behindEnd } from "../read-log.ts";
import {
  CANCEL,
  EVENTS,
  type EventsSaid,
  FIND,
  type OtherCells,
  PIECE_BYTES,
  type Position,
  positionIn,
  WHOLE,
  type WholeSaid,
} from "./messages.ts";
import { pieceOf } from "./pieces.ts";

export interface AnsweringDeps {
  readonly cells: Pick<OtherCells, "answers">;
  readonly find: (id: string) => CallLog | undefined;
  readonly clock: Pick<Clock, "monotonic">;
}

/**
 * What is said while a call runs gathers for so long, and longer with many readers elsewhere: each answer is two messages of Redis, which
 * serves the money of all cells.
 */
const GATHER_MS = 10;
const READERS_PER_MS = 10;
const MOST_GATHER_MS = 250;

/** Once this cell's calls are known. */
export function answerOthers(deps: AnsweringDeps): void {
  const { cells, find } = deps;
  const readers = { open: 0 };
  cells.answers(FIND, async (id) => find(String(id))?.call);
  cells.answers(CANCEL, async (id) => {
    const log = find(String(id));
    log?.cancel();
    return log && true;
  });
  cells.answers(EVENTS, (content) =>
    answered(deps, content, async (log, position) => {
      readers.open++;
      try {
        return await eventsSaid(deps, log, position, () => gatherMs(readers.open));
      } finally {
        readers.open--;
      }
    }),
  );
  cells.answers(WHOLE, (content) =>
    answered(deps, content, (log, position) => wholeSaid(deps, log, position)),
  );
}

const gatherMs = (readers: number): number => Math.min(MOST_GATHER_MS, GATHER_MS + readers / READERS_PER_MS);

async function answered<T>(
  { find }: AnsweringDeps,
  content: unknown,
  answer: (log: CallLog, position: Position) => Promise<T>,
): Promise<T | undefined> {
  const position = positionIn(content);
  if (position === undefined) throw new Error("a question of another release");
  const log = find(position.id);
  return log === undefined ? undefined : await answer(log, position);
}

async function eventsSaid(
  { clock }: AnsweringDeps,
  log: CallLog,
  { next, skip, isFirst, waitMs }: Position,
  gather: () => number,
): Promise<EventsSaid> {
  const { events, brokenOff } = log;
  const isBrokenOff = brokenOff !== undefined;
  const broken = isFirst ? behindEnd(log, next) : undefined;
  if (broken !== undefined) {
    const { bytes, end } = brokenOffEvents(log.call, next, broken);
    return { kind: "said", isBrokenOff, bytes, next: end, skip: 0 };
  }
  const endMs = clock.monotonic() + waitMs;
  let hasGathered = false;
  for (;;) {
    const part = events.read(next);
    if (part === "lost") return { kind: "lost", isBrokenOff, keptFrom: events.keptFrom };
    if (part !== undefined) {
      const mayGrow = part.end >= events.next && !events.isOver && part.bytes.length < PIECE_BYTES;
      if (!mayGrow || hasGathered) return { kind: "said", isBrokenOff, ...pieceOf(part, skip, PIECE_BYTES) };
      hasGathered = true;
      await pause(gather(), undefined, { ref: false });
      continue;
    }
    if (events.isOver) return { kind: "over", isBrokenOff };
    if (clock.monotonic() >= endMs) return { kind: "nothing", isBrokenOff };
    await events.changed();
  }
}

async function wholeSaid(
  { clock }: AnsweringDeps,
  log: CallLog,
  { skip, waitMs }: Position,
): Promise<WholeSaid> {
  const endMs = clock.monotonic() + waitMs;
  while (!log.events.isOver) {
    if (clock.monotonic() >= endMs) return { kind: "nothing" };
    await log.events.changed();
  }
  const whole = log.whole();
  if (whole === undefined) return { kind: "lost" };
  const { status, body } = whole;
  return { kind: "said", status, bytes: body.subarray(skip, skip + PIECE_BYTES), length: body.length };
}
