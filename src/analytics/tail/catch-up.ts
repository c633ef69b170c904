/** Sends a client what was settled while it was away, from ClickHouse: each call once, in the order of settling. */
import type { LimitFunction } from "p-limit";
import type { Caller } from "../../base/operation/operation.ts";
import type { RequestFilters } from "../requests/request-filters.ts";
import type { PacedClient } from "./paced-client.ts";
import type { TailRow } from "./tail-feed.ts";
import { rowsAfter, type TailHistoryDeps, type TailPosition } from "./tail-history.ts";

export interface CatchUpDeps {
  readonly history: Pick<TailHistoryDeps, "budget" | "clock">;
  /** For reads: so many at once. */
  readonly limit: LimitFunction;
  readonly caller: Caller;
  readonly filters: RequestFilters;
  readonly client: Pick<PacedClient, "isOver" | "sendNow">;
  /** What is sent of the next calls. */
  readonly textOf: (rows: readonly TailRow[]) => string;
  /** Calls that are sent in all. Default: any number. */
  readonly most?: number;
}

const MOST_NOTED = 20_000;

export class CatchUp {
  /** Ids of the calls that were sent last: the feed hands on no older call. */
  readonly sent = new Set<string>();
  readonly #deps: CatchUpDeps;
  #position: TailPosition;
  #count = 0;

  /** @param start what was settled after it is sent */
  constructor(deps: CatchUpDeps, start: TailPosition) {
    this.#deps = deps;
    this.#position = start;
  }

  /**
   * Sends what is in ClickHouse now, and was not sent yet.
   * @returns false where more is left than may be sent
   * @throws WeirError `analytics_unavailable`
   */
  async send(): Promise<boolean> {
    const { history, limit, caller, filters, client, textOf, most = Number.POSITIVE_INFINITY } = this.#deps;
    while (!client.isOver) {
      const { rows, isLast } = await limit(() =>
        // Whoever left while others were read for has nothing read.
        client.isOver ? { rows: [], isLast: true } : rowsAfter(history, caller, filters, this.#position),
      );
      const last = rows.at(-1);
      if (last !== undefined) {
        this.#position = { settledAtUs: last.settledAtUs, requestId: last.item.request_id };
        this.#count += rows.length;
        this.#note(rows);
        await client.sendNow(() => textOf(rows));
      }
      if (isLast) break;
      if (this.#count >= most) return false;
    }
    return true;
  }

  #note(rows: readonly TailRow[]): void {
    for (const { item } of rows) this.sent.add(item.request_id);
    for (const id of this.sent) {
      if (this.sent.size <= MOST_NOTED) return;
      this.sent.delete(id);
    }
  }
}
