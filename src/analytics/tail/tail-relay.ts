/**
 * Calls of an org between cells: a cell whose clients watch an org tells the others, who pass on what they settle for it while they
 * are told so again and again. Each counts what it passes on, so that whoever hears knows how many were lost on the way.
 */
import { z } from "zod";
import type { Clock, Timers } from "../../base/clock.ts";
import type { Signals } from "../requests/other-cells.ts";
import { type TailFeed, TailRow } from "./tail-feed.ts";

export interface TailRelayDeps {
  readonly signals: Signals;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
}

/** What one other cell is passed of one org. */
interface Watch {
  untilMs: number;
  /** Rows that were to be passed on since the watch began. */
  count: number;
}

/** One tells of its watches this often, and is passed rows for so long after. */
const TELL_MS = 5000;
const WATCH_MS = 3 * TELL_MS;
/** The client of a tail waits this long for the other cells to know of it. */
const KNOWN_MS = 1000;
/** Orgs that other cells watch. */
const MOST_ORGS = 10_000;
const ORG_BYTES = 100;

const orgIds = z.array(z.string().max(ORG_BYTES)).max(MOST_ORGS);
const rowsMessage = z.object({
  orgId: z.string().max(ORG_BYTES),
  /** Rows before these. */
  before: z.int().min(0),
  rows: z.array(
    z.object({ environment: z.string(), settledAtUs: z.number(), item: z.record(z.string(), z.unknown()) }),
  ),
});

export class TailRelay {
  readonly #deps: TailRelayDeps;
  /** Who watches at this cell. */
  readonly #receiver: Pick<TailFeed, "receive" | "miss">;
  /** Orgs that this cell's own clients watch. */
  readonly #own = new Set<string>();
  /** Org id → cells that watch it. */
  readonly #watches = new Map<string, Map<string, Watch>>();
  /** "cell org id" → rows that this cell knows of, received or lost. */
  readonly #known = new Map<string, number>();
  #isTelling = false;

  constructor(deps: TailRelayDeps, receiver: Pick<TailFeed, "receive" | "miss">) {
    this.#deps = deps;
    this.#receiver = receiver;
    const { signals } = deps;
    signals.answers("tail.watch", async (content, from) => this.#begin(content, from));
    signals.on("tail.watching", (content, from) => void this.#begin(content, from));
    signals.on("tail.left", (content, from) => this.#end(content, from));
    signals.on("tail.rows", (content, from) => this.#heard(content, from));
    // A cell that starts does not know yet what others watch.
    signals.on("tail.who", () => this.#tellOwn());
    signals.onListening(() => void signals.tell("tail.who", null));
    signals.tell("tail.who", null);
  }

  /** Whether a cell watches the org: this is asked for each call. */
  isWatched(orgId: string): boolean {
    return this.#watches.has(orgId);
  }

  /** Resolves once the other cells pass on what they settle for the org from now on, or after a second. */
  async watch(orgId: string): Promise<void> {
    this.#own.add(orgId);
    this.#arm();
    await this.#deps.signals.ask("tail.watch", [orgId], KNOWN_MS);
  }

  /** Nobody watches the org at this cell any more. */
  leave(orgId: string): void {
    this.#own.delete(orgId);
    for (const key of this.#known.keys()) if (key.endsWith(` ${orgId}`)) this.#known.delete(key);
    this.#deps.signals.tell("tail.left", [orgId]);
  }

  /** Passes committed rows on, of any orgs, in their order. */
  pass(rows: readonly TailRow[]): void {
    const nowMs = this.#deps.clock.monotonic();
    for (const [orgId, ofOrg] of Map.groupBy(rows, (row) => row.orgId)) {
      const watches = this.#watches.get(orgId) ?? [];
      for (const [cell, watch] of watches) {
        if (watch.untilMs < nowMs) this.#end([orgId], cell);
        else this.#passOne(cell, watch, orgId, ofOrg);
      }
    }
  }

  /** Rows that this cell did not keep, and so cannot pass on. */
  miss(orgId: string, count: number): void {
    for (const watch of this.#watches.get(orgId)?.values() ?? []) watch.count += count;
  }

  #passOne(cell: string, watch: Watch, orgId: string, rows: readonly TailRow[]): void {
    const sent = rows.map(({ environment, settledAtUs, item }) => ({ environment, settledAtUs, item }));
    // Where it cannot be sent, the next message tells by its count that rows are missing.
    this.#deps.signals.tellOne(cell, "tail.rows", { orgId, before: watch.count, rows: sent });
    watch.count += rows.length;
  }

  #begin(content: unknown, from: string): boolean {
    const read = orgIds.safeParse(content);
    if (!read.success) return false;
    const untilMs = this.#deps.clock.monotonic() + WATCH_MS;
    for (const orgId of read.data) {
      if (!this.#watches.has(orgId) && this.#watches.size >= MOST_ORGS) return false;
      const cells = this.#watches.get(orgId) ?? new Map<string, Watch>();
      this.#watches.set(orgId, cells);
      const watch = cells.get(from);
      if (watch === undefined) cells.set(from, { untilMs, count: 0 });
      else watch.untilMs = untilMs;
    }
    return true;
  }

  #end(content: unknown, from: string): void {
    for (const orgId of orgIds.safeParse(content).data ?? []) {
      const cells = this.#watches.get(orgId);
      cells?.delete(from);
      if (cells?.size === 0) this.#watches.delete(orgId);
    }
  }

  #heard(content: unknown, from: string): void {
    const read = rowsMessage.safeParse(content);
    if (!read.success || !this.#own.has(read.data.orgId)) return;
    const { orgId, before, rows } = read.data;
    const key = `${from} ${orgId}`;
    const known = this.#known.get(key);
    // A count that is less is of a watch that the other cell has begun anew.
    if (known !== undefined && before > known) this.#receiver.miss(orgId, before - known);
    this.#known.set(key, before + rows.length);
    for (const { environment, settledAtUs, item } of rows)
      this.#receiver.receive(
        new TailRow({
          orgId,
          settledAtUs,
          item: item as TailRow["item"],
          environment: environment as TailRow["environment"],
        }),
      );
  }

  #tellOwn(): void {
    if (this.#own.size > 0) this.#deps.signals.tell("tail.watching", [...this.#own].slice(0, MOST_ORGS));
  }

  #arm(): void {
    if (this.#isTelling || this.#own.size === 0) return;
    this.#isTelling = true;
    this.#deps.timers.after(TELL_MS, () => {
      this.#isTelling = false;
      this.#tellOwn();
      this.#arm();
    });
  }
}
