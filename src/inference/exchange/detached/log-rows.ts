/**
 * The logs of detached calls in this process's folder, whatever other cells there are: `detached.calls` by call, `detached.events` by call
 * and number of the first event of a part, encrypted. They go some minutes after their call has ended.
 */
import type { BudgetScope } from "../../../credits/budgets/budget.ts";
import type { CallRecord } from "../../../record/record.ts";
import type { Store, Table } from "../../../store/store.ts";
import type { NamedKey } from "../call.ts";
import type { Broken } from "../errors/broken-off.ts";
import type { Metered } from "../meter.ts";
import type { LoggedCall } from "./call-log.ts";
import { type LogCipher, SEAL_BYTES } from "./log-cipher.ts";

/** A call as its folder knows it. */
export interface CallRow extends Omit<LoggedCall, "id" | "isInMemory"> {
  /** The life of its cell; empty in a gateway alone. */
  readonly life: string;
  /** Number of the first event that is kept. */
  readonly keptFrom: number;
  /** Its record as if it had broken off at once, and the budgets that it counts in; absent once it has ended. */
  readonly record?: CallRecord;
  readonly scope?: BudgetScope;
  /** The `Idempotency-Key` that it has, until it has ended. Absent too where its answer was kept as it began. */
  readonly key?: NamedKey;
  /** Once it has ended: when, wall clock; the number of its events; the status of a whole answer. */
  readonly endedMs?: number;
  readonly end?: number;
  readonly status?: number;
  /** Its process was killed while it ran; and its cell was retired before it came back. */
  readonly isBrokenOff?: true;
  readonly isUncharged?: true;
}

/** Undefined: the call ended by itself. */
export const howBroken = ({ isBrokenOff, isUncharged }: CallRow): Broken | undefined =>
  isBrokenOff && (isUncharged ? "retired" : "charged");

/** What a record says of the attempt that answers, which is another one after a fallback. */
export type AnsweredBy = Pick<
  CallRecord,
  "provider" | "endpointId" | "upstreamModel" | "region" | "byok" | "ttftMs" | "upstreamTtftMs" | "attempts"
>;

/** What was said of a running call so far: a process that was killed charges it. */
export interface ProgressRow {
  /** Number of events that are stored. */
  readonly end: number;
  /** What they are charged; absent: nothing. */
  readonly metered?: Metered;
  /** Who says it; absent: as its record has it. */
  readonly by?: AnsweredBy;
}

/** Removed in one act. */
const ROWS_AT_ONCE = 1000;

export interface StoredPart {
  readonly first: number;
  /** Bytes of its events. */
  readonly length: number;
}

export class LogRows {
  readonly #store: Pick<Store, "act">;
  readonly #calls: Table<CallRow>;
  readonly #progress: Table<ProgressRow>;
  readonly #events: Table<Uint8Array>;

  constructor(store: Pick<Store, "act" | "table" | "bytes">) {
    this.#store = store;
    this.#calls = store.table("detached.calls");
    this.#progress = store.table("detached.progress");
    this.#events = store.bytes("detached.events");
  }

  /** All calls, the oldest first. Lazily. */
  *all(): Generator<readonly [id: string, row: CallRow]> {
    for (const { key, value } of this.#calls.range()) yield [key as string, value];
  }

  get(id: string): CallRow | undefined {
    return this.#calls.get(id);
  }

  progressOf(id: string): ProgressRow | undefined {
    return this.#progress.get(id);
  }

  /** Only in an act. */
  put(id: string, row: CallRow): void {
    this.#calls.put(id, row);
  }

  /** Only in an act. */
  putProgress(id: string, row: ProgressRow): void {
    this.#progress.put(id, row);
  }

  /** Only in an act: the call has ended, and is not charged again. */
  putEnded(id: string, row: CallRow): void {
    this.#calls.put(id, row);
    this.#progress.remove(id);
  }

  /** Only in an act. @param sealed the events of the part */
  putPart(id: string, first: number, sealed: Uint8Array): void {
    this.#events.put([id, first], sealed);
  }

  /** Only in an act. */
  removePart(id: string, first: number): void {
    this.#events.remove([id, first]);
  }

  /** The events of the part that begins with this one. */
  part(id: string, first: number, cipher: LogCipher): Buffer | undefined {
    const sealed = this.#events.get([id, first]);
    return sealed && cipher.open(first, sealed);
  }

  /** The parts of a call, the oldest first. Lazily. */
  *partsOf(id: string): Generator<StoredPart> {
    for (const { key, value } of this.#events.range({ start: [id], end: [id, Number.MAX_SAFE_INTEGER] }))
      yield { first: (key as [string, number])[1], length: value.length - SEAL_BYTES };
  }

  /** Forgets a call. Resolves once it is gone. */
  async remove(id: string): Promise<void> {
    while (await this.#store.act(() => this.#removeSome(id), { isOwed: true }));
  }

  /** @returns whether more is left */
  #removeSome(id: string): boolean {
    const range = { start: [id], end: [id, Number.MAX_SAFE_INTEGER], limit: ROWS_AT_ONCE + 1 };
    const keys = Array.from(this.#events.range(range), ({ key }) => key as [string, number]);
    for (const key of keys.slice(0, ROWS_AT_ONCE)) this.#events.remove(key);
    if (keys.length > ROWS_AT_ONCE) return true;
    this.#calls.remove(id);
    this.#progress.remove(id);
    return false;
  }
}

/** The first parts that have so many bytes together, but never the last part. @returns their numbers, and that of the first that is left */
export function oldest(
  parts: Iterable<StoredPart>,
  atLeast: number,
): { readonly dropped: readonly number[]; readonly keptFrom: number; readonly bytes: number } {
  const dropped: number[] = [];
  let bytes = 0;
  let previous: StoredPart | undefined;
  for (const part of parts) {
    if (previous !== undefined) {
      dropped.push(previous.first);
      bytes += previous.length;
    }
    if (bytes >= atLeast) return { dropped, keptFrom: part.first, bytes };
    previous = part;
  }
  return { dropped, keptFrom: previous?.first ?? 0, bytes };
}
