/**
 * Rows that all cells add to: each sends what it counted about once a second, and hears what the others did. What it sends rides on a
 * numbered lane, so it counts once; what a cell that is killed had not sent yet is lost.
 */
import type { Lane, Operation } from "../exchange/exchange.ts";
import { within } from "../within.ts";

/** A row's name, then its whole numbers. */
export type MergedRow = readonly [name: string, ...numbers: number[]];

export interface MergedPart {
  /** Name of the table: one part has it. */
  readonly table: string;
  readonly kind: "max" | "sum";
  /** What was counted since the last call: at most so many rows. */
  take(most: number): readonly MergedRow[];
  /** Rows that changed, this cell's own changes included: what they are now over all cells. Some may come again. */
  heard(rows: readonly MergedRow[]): void;
}

export interface MergedOptions {
  readonly lane: Lane;
  /** Id of Redis's process. Another process may give the numbers of heard rows to other rows. */
  readonly term?: () => string;
  /** Milliseconds between two exchanges. */
  readonly everyMs?: number;
}

/** Adds rows to those that all cells have, for somebody who wants to hear of none. */
export const mergeOperation = (
  { table, kind }: Pick<MergedPart, "table" | "kind">,
  rows: readonly MergedRow[],
): Operation => ["merge", table, kind, rows, Number.MAX_SAFE_INTEGER, 1];

const EVERY_MS = 1000;
const MOST_TAKEN = 2000;
const MOST_HEARD = 1000;

export class MergedRows {
  readonly #options: MergedOptions;
  readonly #parts: { readonly part: MergedPart; since: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #term = "";

  constructor(options: MergedOptions) {
    this.#options = options;
  }

  /** The part hears all rows there are first. */
  add(part: MergedPart): void {
    this.#parts.push({ part, since: 0 });
    this.#timer ??= setInterval(() => this.#soon(), this.#options.everyMs ?? EVERY_MS).unref();
  }

  /** Resolves once what was counted before this call counts for all, and what the others sent before it is heard. */
  async flush(): Promise<void> {
    await this.#sending?.catch(() => {});
    await this.#send();
  }

  /** Sends what is left, if Redis answers. */
  async stop(withinMs: number): Promise<void> {
    clearInterval(this.#timer);
    if (this.#parts.length > 0) await within(withinMs, this.flush()).catch(() => {});
    this.#isClosed = true;
  }

  /** Redis away: the exchange under way goes out when it is back, and meanwhile the parts count on. */
  #soon(): void {
    // Once this process may not go on, who must know has been told.
    if (this.#sending === undefined) this.#send().catch(() => {});
  }

  #send(): Promise<void> {
    const sending = this.#exchange().finally(() => {
      if (this.#sending === sending) this.#sending = undefined;
    });
    this.#sending = sending;
    return sending;
  }

  async #exchange(): Promise<void> {
    const { lane, term = () => "" } = this.#options;
    let isMore = true;
    while (isMore && !this.#isClosed) {
      isMore = false;
      const asked = [...this.#parts];
      const operations = asked.map(({ part, since }): Operation => {
        const taken = part.take(MOST_TAKEN);
        isMore ||= taken.length === MOST_TAKEN;
        return ["merge", part.table, part.kind, taken, since, MOST_HEARD];
      });
      const answers = await lane.send(operations);
      const isNewTerm = term() !== this.#term;
      this.#term = term();
      for (const [at, each] of asked.entries()) {
        const [latest, upTo, ...changed] = (answers[at] ?? []).map(String);
        each.since = isNewTerm ? 0 : Number(upTo);
        isMore ||= each.since < Number(latest);
        each.part.heard(rowsOf(changed));
      }
    }
  }
}

function rowsOf(flat: readonly string[]): MergedRow[] {
  const rows: MergedRow[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2)
    rows.push([flat[at] as string, ...(flat[at + 1] as string).split(" ").map(Number)]);
  return rows;
}
