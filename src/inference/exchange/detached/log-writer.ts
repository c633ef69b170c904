/**
 * Stores what running calls say: all of them in one act, a few times a second, or less often where hundreds speak. With it goes what each
 * would be charged by then, so that a process that is killed leaves both or neither.
 */
import type { BudgetScope } from "../../../credits/budgets/budget.ts";
import type { CallRecord } from "../../../record/record.ts";
import type { Store } from "../../../store/store.ts";
import type { NamedKey } from "../call.ts";
import type { Metered } from "../meter.ts";
import type { DetachedReply } from "./detached-reply.ts";
import type { LogCipher } from "./log-cipher.ts";
import type { AnsweredBy, CallRow, LogRows } from "./log-rows.ts";

/** What was said is stored after this time: so much is not charged where the process is killed. Longer where hundreds of calls speak. */
const STORE_MS = 100;
const MS_A_CALL = 1;
const MOST_STORE_MS = 1000;
/** Calls whose events one act stores. */
const CALLS_AT_ONCE = 1000;

/** What the exchange knows of a running call. */
export interface CallProgress {
  /** Its record, if it broke off now, and the budgets that it counts in. */
  record(): CallRecord;
  readonly scope: BudgetScope;
  /** Who answers it; the same object until that changes. Undefined before an upstream is asked. */
  by(): AnsweredBy | undefined;
  /** What it would be charged then; undefined: it has read more than it said, which is to be asked again. */
  metered(): Metered | undefined;
}

/** A call that runs, and what is stored of it. */
export interface Running {
  readonly reply: DetachedReply;
  readonly row: Omit<CallRow, "keptFrom" | "key">;
  /** Its `Idempotency-Key`, where the end of the call answers it. */
  readonly key: NamedKey | undefined;
  readonly cipher: LogCipher;
  /** Set once its first attempt begins. */
  progress: CallProgress | undefined;
  /** What it would be charged, as last known. */
  metered: Metered | undefined;
  isStored: boolean;
}

/** What is to be stored of a call: `put` in an act, `stored` behind it. */
interface Written {
  put(): void;
  stored(): void;
}

export interface LogWriterPorts {
  readonly store: Pick<Store, "act">;
  readonly onFault: (error: unknown, requestId: string) => void;
}

export class LogWriter {
  readonly #ports: LogWriterPorts;
  readonly #rows: LogRows;
  readonly #bound: (running: Running) => readonly number[];
  readonly #dirty = new Set<Running>();
  #storing: NodeJS.Timeout | undefined;
  /** Milliseconds until what is said next is stored. */
  #storeMs = STORE_MS;

  /** @param bound keeps a log within its bounds, and returns the parts that are to be removed */
  constructor(ports: LogWriterPorts, rows: LogRows, bound: (running: Running) => readonly number[]) {
    this.#ports = ports;
    this.#rows = rows;
    this.#bound = bound;
  }

  /** There is more to store of it. */
  add(running: Running): void {
    this.#dirty.add(running);
    this.#storing ??= setTimeout(() => this.#store(), this.#storeMs).unref();
  }

  /** Stores the beginning of its log at once. @throws Error of the store */
  async begin(running: Running): Promise<void> {
    const { put, stored } = this.written(running);
    await this.#ports.store.act(put, { isOwed: true });
    stored();
  }

  /** Its settlement stores the rest. */
  leave(running: Running): void {
    this.#dirty.delete(running);
  }

  close(): void {
    clearTimeout(this.#storing);
  }

  #store(): void {
    this.#storing = undefined;
    const some = [...this.#dirty].slice(0, CALLS_AT_ONCE);
    for (const running of some) this.#dirty.delete(running);
    // Many calls say more until then, so that each is stored less often.
    this.#storeMs = Math.min(MOST_STORE_MS, Math.max(STORE_MS, some.length * MS_A_CALL));
    const puts = some.map((running) => this.written(running));
    const { store, onFault } = this.#ports;
    store
      .act(
        () => {
          for (const { put } of puts) put();
        },
        { isOwed: true },
      )
      .then(
        () => {
          for (const { stored } of puts) stored();
        },
        (error: unknown) => onFault(error, some[0]?.reply.call.id ?? ""),
      );
    if (this.#dirty.size > 0) this.#storing = setTimeout(() => this.#store(), 0).unref();
  }

  /** What is to be stored of a call, made before the act. */
  written(running: Running): Written {
    const { reply, row, key, cipher, progress } = running;
    const { call, events } = reply;
    const { id } = call;
    const parts = events.unstored();
    const sealed = parts.map(({ first, bytes }) => [first, cipher.seal(first, bytes)] as const);
    const end = parts.at(-1)?.end ?? events.next;
    // Nothing is charged of a call that said nothing.
    if (end > 0) running.metered = progress?.metered() ?? running.metered;
    const { metered } = running;
    const by = progress?.by();
    const dropped = this.#bound(running);
    const first =
      running.isStored || progress === undefined
        ? undefined
        : { record: progress.record(), scope: progress.scope, ...(key && { key }) };
    running.isStored = true;
    const keptFrom = events.keptFrom;
    return {
      put: () => {
        if (first !== undefined) this.#rows.put(id, { ...row, keptFrom, ...first });
        else if (dropped.length > 0) this.#rows.put(id, { ...(this.#rows.get(id) as CallRow), keptFrom });
        for (const [number, part] of sealed) this.#rows.putPart(id, number, part);
        this.#rows.putProgress(id, { end, ...(metered && { metered }), ...(by && { by }) });
        for (const number of dropped) this.#rows.removePart(id, number);
      },
      stored: () => events.stored(end),
    };
  }
}
