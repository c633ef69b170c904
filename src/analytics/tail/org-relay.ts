/**
 * Rows of an org between cells: a cell whose clients watch an org tells the others, who pass on what they have for it while they
 * are told so again and again. Each counts what it passes on, so that whoever hears knows how many were lost on the way.
 */
import { z } from "zod";
import type { Clock, Timers } from "../../base/clock.ts";
import type { Signals } from "../requests/other-cells.ts";
import type { OfOrg, OrgFeed, Relay } from "./org-feed.ts";

export interface OrgRelayDeps {
  readonly signals: Signals;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
}

/** How rows of a kind are sent. */
export interface RowCodec<Row> {
  /** First word of the topics of messages. */
  readonly topic: string;
  pack(row: Row): Readonly<Record<string, unknown>>;
  /** What other releases send may have another shape. @returns undefined where the row cannot be read */
  unpack(orgId: string, packed: Readonly<Record<string, unknown>>): Row | undefined;
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
/** A client waits this long for the other cells to know of it. */
const KNOWN_MS = 1000;
/** Orgs that other cells watch. */
const MOST_ORGS = 10_000;
const ORG_BYTES = 100;

const orgIds = z.array(z.string().max(ORG_BYTES)).max(MOST_ORGS);
const rowsMessage = z.object({
  orgId: z.string().max(ORG_BYTES),
  /** Rows before these. */
  before: z.int().min(0),
  rows: z.array(z.record(z.string(), z.unknown())),
});

export class OrgRelay<Row extends OfOrg> implements Relay<Row> {
  readonly #deps: OrgRelayDeps;
  readonly #codec: RowCodec<Row>;
  /** Who watches at this cell. */
  readonly #receiver: Pick<OrgFeed<Row>, "receive" | "miss">;
  /** Orgs that this cell's own clients watch. */
  readonly #own = new Set<string>();
  /** Org id → cells that watch it. */
  readonly #watches = new Map<string, Map<string, Watch>>();
  /** "cell org id" → rows that this cell knows of, received or lost. */
  readonly #known = new Map<string, number>();
  #isTelling = false;

  constructor(deps: OrgRelayDeps, codec: RowCodec<Row>, receiver: Pick<OrgFeed<Row>, "receive" | "miss">) {
    this.#deps = deps;
    this.#codec = codec;
    this.#receiver = receiver;
    const { signals } = deps;
    signals.answers(this.#topic("watch"), async (content, from) => this.#begin(content, from));
    signals.on(this.#topic("watching"), (content, from) => void this.#begin(content, from));
    signals.on(this.#topic("left"), (content, from) => this.#end(content, from));
    signals.on(this.#topic("rows"), (content, from) => this.#heard(content, from));
    // A cell that starts does not know yet what others watch.
    signals.on(this.#topic("who"), () => this.#tellOwn());
    signals.onListening(() => void signals.tell(this.#topic("who"), null));
    signals.tell(this.#topic("who"), null);
  }

  /** Whether a cell watches the org: this is asked for each call. */
  isWatched(orgId: string): boolean {
    return this.#watches.has(orgId);
  }

  /** Resolves once the other cells pass on what they have for the org from now on, or after a second. */
  async watch(orgId: string): Promise<void> {
    this.#own.add(orgId);
    this.#arm();
    await this.#deps.signals.ask(this.#topic("watch"), [orgId], KNOWN_MS);
  }

  /** Nobody watches the org at this cell any more. */
  leave(orgId: string): void {
    this.#own.delete(orgId);
    for (const key of this.#known.keys()) if (key.endsWith(` ${orgId}`)) this.#known.delete(key);
    this.#deps.signals.tell(this.#topic("left"), [orgId]);
  }

  /** Passes rows on, of any orgs, in their order. */
  pass(rows: readonly Row[]): void {
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

  #topic(word: string): string {
    return `${this.#codec.topic}.${word}`;
  }

  #passOne(cell: string, watch: Watch, orgId: string, rows: readonly Row[]): void {
    const sent = rows.map((row) => this.#codec.pack(row));
    // Where it cannot be sent, the next message tells by its count that rows are missing.
    this.#deps.signals.tellOne(cell, this.#topic("rows"), { orgId, before: watch.count, rows: sent });
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
    const received = rows
      .map((packed) => this.#codec.unpack(orgId, packed))
      .filter((row) => row !== undefined);
    // A message with a row of another shape counts as lost.
    if (received.length < rows.length) return;
    const key = `${from} ${orgId}`;
    const known = this.#known.get(key);
    // A count that is less is of a watch that the other cell has begun anew.
    if (known !== undefined && before > known) this.#receiver.miss(orgId, before - known);
    this.#known.set(key, before + rows.length);
    for (const row of received) this.#receiver.receive(row);
  }

  #tellOwn(): void {
    if (this.#own.size > 0)
      this.#deps.signals.tell(this.#topic("watching"), [...this.#own].slice(0, MOST_ORGS));
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
