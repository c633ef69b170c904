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
import { type OfOrg, OrgFeed } from "./org-feed.ts";

/** A settled call as a tail shows it. */
export class TailRow implements OfOrg {
  readonly orgId: string;
  readonly environment: CallRecord["environment"];
  readonly settledAtUs: number;
  readonly item: ReturnType<typeof listItem>;
  #text: string | undefined;
  #json: string | undefined;

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

  /** The item alone, as JSON; made once for all who get it. */
  get json(): string {
    this.#json ??= JSON.stringify(this.item);
    return this.#json;
  }
}

const PASS_ON_MS = 50;
/** Rows that are passed on before the event loop may run again. */
const SLICE = 100;
/** Rows that wait for their commit, or to be passed on; of more than these, watchers are told only how many they were. */
const MAX_WAITING = 20_000;

const valuesOf = valuesReader(LIST_COLUMNS);

export class TailFeed extends OrgFeed<TailRow> implements OutboxObserver<TailRow> {
  readonly #outbox: Pick<Outbox, "committed">;
  readonly #timers: Timers;
  /** By number, in the order of numbers. */
  readonly #waiting = new Map<number, TailRow>();
  readonly #missed = new Map<string, number>();
  #isArmed = false;
  #beforeRows: () => void = () => {};

  constructor(outbox: Outbox, timers: Timers) {
    super();
    this.#outbox = outbox;
    this.#timers = timers;
    outbox.observe(this);
  }

  /** Calls it before rows are handed on: what is told of calls that run must not come behind their ends. */
  onRows(before: () => void): void {
    this.#beforeRows = before;
  }

  look(record: CallRecord): TailRow | undefined {
    const { orgId, environment, settledAtUs } = record;
    if (!this.isWatched(orgId)) return undefined;
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

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#timers.after(PASS_ON_MS, () => this.#passOn());
  }

  #passOn(): void {
    this.#beforeRows();
    const committed = this.#outbox.committed();
    const passed: TailRow[] = [];
    for (const [number, row] of this.#waiting) {
      if (number > committed) break;
      if (passed.length === SLICE) {
        this.relay?.pass(passed);
        return void this.#timers.after(0, () => this.#passOn());
      }
      this.#waiting.delete(number);
      passed.push(row);
      this.receive(row);
    }
    this.relay?.pass(passed);
    for (const [orgId, count] of this.#missed) {
      this.miss(orgId, count);
      this.relay?.miss(orgId, count);
    }
    this.#missed.clear();
    this.#isArmed = false;
    if (this.#waiting.size > 0) this.#arm();
  }
}
