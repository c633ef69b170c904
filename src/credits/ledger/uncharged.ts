/** Calls that clients hold and nobody was charged for: of cells that were retired before they sent their charges. Kept for ever. */
import type { Store, Table } from "../../store/store.ts";

export interface UnchargedCall {
  readonly orgId: string;
  readonly requestId: string;
  /** When it was settled, milliseconds since 1970. */
  readonly atMs: number;
  /** What it would have cost, micro-USD, above zero. */
  readonly amountMicroUsd: number;
}

export class UnchargedCalls {
  readonly #rows: Table<UnchargedCall>;

  constructor(store: Pick<Store, "table">) {
    this.#rows = store.table("credits.uncharged");
  }

  /** In an act. The same may come again. */
  put({ orgId, requestId, atMs, amountMicroUsd }: UnchargedCall): void {
    this.#rows.put([orgId, requestId], { orgId, requestId, atMs, amountMicroUsd });
  }

  /** By org and request, which is by time. Read lazily. @param after the org and request of the last one that is known */
  *after([orgId, requestId]: readonly [orgId?: string, requestId?: string]): Generator<UnchargedCall> {
    // Request ids have one length: nothing is between an id and the same with a digit more.
    const start = orgId === undefined ? undefined : [orgId, `${requestId}0`];
    for (const { value } of this.#rows.range({ ...(start && { start }) })) yield value;
  }
}
