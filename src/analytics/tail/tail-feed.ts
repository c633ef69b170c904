/**
 * Hands calls on to those who watch their org, once they are committed and in the order of settling. An org that nobody
 * watches costs a call one look into a map; the others' rows wait for the next turn of a timer, so that no call waits for them.
 */
import type { Timers } from "../../base/clock.ts";
import { eventText } from "../../base/operation/event-stream.ts";
import { valuesReader } from "../../record/columns.ts";
import type { CallRecord } from "../../record/record.ts";
import type { Outbox, OutboxObserver } from "../outbox/outbox.ts";
import { LIST_COLUMNS, listItem } from "../requests/wire.ts";

/** A settled call as a tail shows it. */
export class TailRow {
  readonly orgId: string;
  readonly environment: CallRecord["environment"];
  readonly settledAtUs: number;
  readonly item: ReturnType<typeof listItem>;
  #text: string | undefined;

  constructor(row: Pick<TailRow, "orgId" | "environment" | "settledAtUs" | "item">) {
    this.orgId = row.orgId;
    this.environment = row.environment;
    this.settledAtUs = row.settledAtUs;
    this.item = row.item;
  }

  /** As an event; made once for all who get it. */
  get text(): string {
    this.#text ??= eventText(this.item, { event: "request", id: this.item.request_id });
    return this.#text;
  }
}

export interface Watcher {
  /** In the order of settling. */
  take(row: TailRow): void;
  /** Calls that were too many to be kept for the watchers of an org. */
  miss(count: number): void;
}

const PASS_ON_MS = 50;
/** Rows that are passed on before the event loop may run again. */
const SLICE = 100;
/** Rows that wait for their commit, or to be passed on; of more than these, watchers are told only how many they were. */
const MAX_WAITING = 20_000;

const valuesOf = valuesReader(LIST_COLUMNS);

/** Port: the cells among which an org's calls are settled. */
export interface Relay {
  isWatched(orgId: string): boolean;
  watch(orgId: string): Promise<void>;
  leave(orgId: string): void;
  pass(rows: readonly TailRow[]): void;
  miss(orgId: string, count: number): void;
}

export class TailFeed implements OutboxObserver<TailRow> {
  readonly #outbox: Pick<Outbox, "committed">;
  #relay: Relay | undefined;
  readonly #timers: Timers;
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** By number, in the order of numbers. */
  readonly #waiting = new Map<number, TailRow>();
  readonly #missed = new Map<string, number>();
  #isArmed = false;

  constructor(outbox: Outbox, timers: Timers) {
    this.#outbox = outbox;
    this.#timers = timers;
    outbox.observe(this);
  }

  /** Calls of other cells are shown too, and they are passed those of this one. */
  connect(relay: Relay): void {
    this.#relay = relay;
  }

  /** Resolves once calls of other cells are shown too, or after a second. Only while somebody watches the org. */
  async reachOthers(orgId: string): Promise<void> {
    await this.#relay?.watch(orgId);
  }

  /** Calls that are settled from now on. @returns ends it */
  watch(orgId: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(orgId) ?? new Set();
    this.#watchers.set(orgId, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size > 0 || this.#watchers.get(orgId) !== watchers) return;
      this.#watchers.delete(orgId);
      this.#relay?.leave(orgId);
    };
  }

  watchersOf(orgId: string): number {
    return this.#watchers.get(orgId)?.size ?? 0;
  }

  look(record: CallRecord): TailRow | undefined {
    const { orgId, environment, settledAtUs } = record;
    if (!this.#watchers.has(orgId) && this.#relay?.isWatched(orgId) !== true) return undefined;
    return new TailRow({ orgId, environment, settledAtUs, item: listItem(valuesOf(record)) });
  }

  put(number: number, row: TailRow): void {
    if (this.#waiting.size < MAX_WAITING) this.#waiting.set(number, row);
    else this.#missed.set(row.orgId, (this.#missed.get(row.orgId) ?? 0) + 1);
    this.#arm();
  }

  dropped(number: number): void {
    this.#waiting.delete(number);
  }

  /** A committed call, of this cell or another. */
  receive(row: TailRow): void {
    for (const watcher of this.#watchers.get(row.orgId) ?? []) watcher.take(row);
  }

  miss(orgId: string, count: number): void {
    for (const watcher of this.#watchers.get(orgId) ?? []) watcher.miss(count);
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#timers.after(PASS_ON_MS, () => this.#passOn());
  }

  #passOn(): void {
    const committed = this.#outbox.committed();
    const passed: TailRow[] = [];
    for (const [number, row] of this.#waiting) {
      if (number > committed) break;
      if (passed.length === SLICE) {
        this.#relay?.pass(passed);
        return void this.#timers.after(0, () => this.#passOn());
      }
      this.#waiting.delete(number);
      passed.push(row);
      this.receive(row);
    }
    this.#relay?.pass(passed);
    for (const [orgId, count] of this.#missed) {
      this.miss(orgId, count);
      this.#relay?.miss(orgId, count);
    }
    this.#missed.clear();
    this.#isArmed = false;
    if (this.#waiting.size > 0) this.#arm();
  }
}
