/** What cells ask each other about detached calls, and how long a message of it may be. Any cell takes part in any read, and keeps none of it. */
import type { MaybePromise } from "../../../../base/maybe-promise.ts";
import { FORMATS } from "../../../../wire/formats.ts";
import type { LoggedCall } from "../call-log.ts";

/** A cell's conversation with the others: see `cluster/cells/messages/questions.ts`. */
export interface OtherCells {
  /** Undefined `to`: asks all. Never rejects. */
  ask(topic: string, content: unknown, asking: Asking): Promise<Told>;
  /** Undefined: this cell does not have it. A rejection: it cannot say now. */
  answers(topic: string, answer: (content: unknown) => Promise<unknown>): void;
  /** What became of that life of a cell. @throws Error where that cannot be known now */
  fateOf(cell: string, life: number): Promise<Fate>;
  /** Whether a cell was retired, so that its calls are over. @throws as `fateOf` */
  isRetired(cell: string): Promise<boolean>;
  /** Whether a cell has stopped, and told of each call that it has once it runs again. @throws as `fateOf` */
  hasToldAll(cell: string): Promise<boolean>;
  /** From now on others know whose the call is, whatever happens to this cell. */
  tell(call: LoggedCall): void;
  /** Its stream cannot be read any more. */
  takeBack(call: LoggedCall): void;
  /** This cell stops: what it told is forgotten some minutes from now. Resolves once that is said, or soon. */
  stopTelling(): Promise<void>;
  /** Whose a call is by what its cell told, also one that is gone; undefined where none told of it. @throws as `fateOf` */
  toldOf(id: string): Promise<ToldOf | undefined>;
  /** The response in the background of a call whose cell is gone, as failed: JSON text. @throws WeirError 503 */
  failedResponse(call: LoggedCall): MaybePromise<string | undefined>;
}

/** What became of a life of a cell. `over`: the cell has a newer one. `unknown`: of a cell that was not heard of yet. */
export interface Fate {
  readonly kind: "lives" | "over" | "retired" | "unknown";
  /** The cell has stopped, and may have calls of this life once it runs again. */
  readonly mayReturn: boolean;
}

export interface ToldOf {
  readonly cell: string;
  readonly life: number;
  /** The call, as `callIn` reads it. */
  readonly content: unknown;
}

export interface Asking {
  readonly to?: string;
  readonly withinMs: number;
}

export type Told =
  | { readonly kind: "answered"; readonly content: unknown; readonly from: string }
  | { readonly kind: "nowhere" }
  | { readonly kind: "unknown" };

/** The question is the id of a call; the answer is the call. */
export const FIND = "detached.find";
/** The question is a `Position`; the answer an `EventsSaid`. */
export const EVENTS = "detached.events";
/** The question is a `Position`, of whose events nothing counts; the answer a `WholeSaid`. */
export const WHOLE = "detached.whole";
/** The question is the id of a call; the answer is true. */
export const CANCEL = "detached.cancel";

/** Bytes of a part that one message carries. */
export const PIECE_BYTES = 192 * 1024;
/** A cell that has nothing to tell answers after this time at most. */
export const MOST_WAIT_MS = 3000;

export interface Position {
  readonly id: string;
  /** Number of the event that the reader gets next. */
  readonly next: number;
  /** Bytes of it that the asking cell has. */
  readonly skip: number;
  /** The reader begins, or the process of the call was killed since it did: it may have more than is stored. */
  readonly isFirst: boolean;
  /** The reader would wait so long. */
  readonly waitMs: number;
}

export interface EventsSaid {
  readonly kind: "said" | "nothing" | "over" | "lost";
  /** The call's process was killed while it ran. */
  readonly isBrokenOff: boolean;
  /** Where it is "said": whole events, or a piece of one; and what comes next. */
  readonly bytes?: Uint8Array;
  readonly next?: number;
  readonly skip?: number;
  /** Where it is "lost": the first event that is kept. */
  readonly keptFrom?: number;
}

export interface WholeSaid {
  readonly kind: "said" | "nothing" | "lost";
  readonly status?: number;
  /** A piece from `skip` on, and how long the whole answer is. */
  readonly bytes?: Uint8Array;
  readonly length?: number;
}

/** @returns undefined where it is of another release, or of a stranger */
export function positionIn(content: unknown): Position | undefined {
  const { id, next, skip, isFirst, waitMs } = (content ?? {}) as Partial<Position>;
  if (typeof id !== "string" || !isCount(next) || !isCount(skip) || !isCount(waitMs)) return undefined;
  return { id, next, skip, isFirst: isFirst === true, waitMs: Math.min(waitMs, MOST_WAIT_MS) };
}

/** @returns undefined as `positionIn` does, and where the call is of a format that this release does not know */
export function callIn(content: unknown): LoggedCall | undefined {
  const call = (content ?? {}) as Partial<LoggedCall>;
  const { id, orgId, projectId, environment, format, isStream, isInMemory, startedMs } = call;
  const texts = [id, orgId, projectId, format];
  if (texts.some((text) => typeof text !== "string") || typeof startedMs !== "number") return undefined;
  if (environment !== "live" && environment !== "test") return undefined;
  if (typeof isStream !== "boolean" || typeof isInMemory !== "boolean") return undefined;
  return Object.hasOwn(FORMATS, format as string) ? (call as LoggedCall) : undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
