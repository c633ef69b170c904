/** Tables of refunds with their indexes. Methods that write must be called in an act. */

import type { Store, Table } from "../../store/store.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import { indianDay } from "../invoices/financial-year.ts";
import type { GatewayId } from "../payments/gateway.ts";
import type { RefundRow } from "./refund.ts";

export class RefundTables {
  /** [org id, refund id]. */
  readonly #rows: Table<RefundRow>;
  /** [refund id] → org id. */
  readonly #orgOf: Table<string>;
  /** [top-up id, refund id] → org id. */
  readonly #ofTopup: Table<string>;
  /** [payment gateway, its id of the refund] → refund id. */
  readonly #byRef: Table<string>;
  /** [org id, top-up id, idempotency key] → refund id. */
  readonly #byKey: Table<string>;
  /** [day in India on which it was settled, refund id] → org id: reconciliation reads a day. */
  readonly #settledOn: Table<string>;

  constructor(store: Store) {
    this.#rows = store.table("billing.refunds");
    this.#orgOf = store.table("billing.orgs_of_refunds");
    this.#ofTopup = store.table("billing.refunds_of_topups");
    this.#byRef = store.table("billing.refunds_by_ref");
    this.#byKey = store.table("billing.refunds_by_key");
    this.#settledOn = store.table("billing.refunds_settled_on");
  }

  get(orgId: string, id: string): RefundRow | undefined {
    return this.#rows.get([orgId, id]);
  }

  /** A refund of any org. */
  find(id: string): RefundRow | undefined {
    const orgId = this.#orgOf.get([id]);
    return orgId === undefined ? undefined : this.get(orgId, id);
  }

  ofRef(gateway: GatewayId, ref: string): RefundRow | undefined {
    const id = this.#byRef.get([gateway, ref]);
    return id === undefined ? undefined : this.find(id);
  }

  ofKey(orgId: string, topupId: string, idempotencyKey: string): RefundRow | undefined {
    const id = idempotencyKey === "" ? undefined : this.#byKey.get([orgId, topupId, idempotencyKey]);
    return id === undefined ? undefined : this.get(orgId, id);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  *of(orgId: string, before = PAST_IDS): Generator<RefundRow> {
    for (const { value } of this.#rows.range({ start: [orgId, before], end: [orgId], reverse: true }))
      if (value.id !== before) yield value;
  }

  /** Oldest first. */
  *ofTopup(topupId: string): Generator<RefundRow> {
    for (const { key, value } of this.#ofTopup.range({ start: [topupId], end: [topupId, PAST_IDS] })) {
      const row = this.get(value, (key as [string, string])[1]);
      if (row !== undefined) yield row;
    }
  }

  /** Those settled on a day in India, strictly after an id, in the order of ids. Read lazily. @param day `YYYY-MM-DD` */
  *settledOn(day: string, after = ""): Generator<RefundRow> {
    for (const { key, value } of this.#settledOn.range({ start: [day, after], end: [day, PAST_IDS] })) {
      const id = (key as [string, string])[1];
      const row = id === after ? undefined : this.get(value, id);
      if (row !== undefined) yield row;
    }
  }

  /** It is not found by its idempotency key any more; the row has it until it is put without. */
  forgetKey({ orgId, topupId, idempotencyKey }: RefundRow): void {
    if (idempotencyKey !== "") this.#byKey.remove([orgId, topupId, idempotencyKey]);
  }

  put(row: RefundRow): void {
    this.#rows.put([row.orgId, row.id], row);
    this.#orgOf.put([row.id], row.orgId);
    this.#ofTopup.put([row.topupId, row.id], row.orgId);
    if (row.gatewayRef !== "" && row.gateway !== "offline")
      this.#byRef.put([row.gateway, row.gatewayRef], row.id);
    if (row.settledAtMs !== null) this.#settledOn.put([indianDay(row.settledAtMs), row.id], row.orgId);
    if (row.idempotencyKey !== "") this.#byKey.put([row.orgId, row.topupId, row.idempotencyKey], row.id);
  }
}
