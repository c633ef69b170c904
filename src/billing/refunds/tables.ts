/** Tables of refunds with their indexes. Methods that write must be called in an act. */

import type { Store } from "../../store/store.ts";
import { indianDay } from "../invoices/financial-year.ts";
import { OrgRows } from "../org-rows.ts";
import type { GatewayId } from "../payments/gateway.ts";
import type { RefundRow } from "./refund.ts";

export class RefundTables extends OrgRows<RefundRow> {
  /** [top-up id, refund id] → org id. */
  readonly #ofTopup = this.store.table<string>("billing.refunds_of_topups");
  /** [payment gateway, its id of the refund] → refund id. */
  readonly #byRef = this.store.table<string>("billing.refunds_by_ref");
  /** [org id, top-up id, idempotency key] → refund id. */
  readonly #byKey = this.store.table<string>("billing.refunds_by_key");
  /** [day in India on which it was settled, refund id] → org id: reconciliation reads a day. */
  readonly #settledOn = this.store.table<string>("billing.refunds_settled_on");

  constructor(store: Store) {
    super(store, { rows: "billing.refunds", orgOf: "billing.orgs_of_refunds" });
  }

  ofRef(gateway: GatewayId, ref: string): RefundRow | undefined {
    const id = this.#byRef.get([gateway, ref]);
    return id === undefined ? undefined : this.find(id);
  }

  ofKey(orgId: string, topupId: string, idempotencyKey: string): RefundRow | undefined {
    const id = idempotencyKey === "" ? undefined : this.#byKey.get([orgId, topupId, idempotencyKey]);
    return id === undefined ? undefined : this.get(orgId, id);
  }

  /** Oldest first. */
  ofTopup(topupId: string): Generator<RefundRow> {
    return this.indexed(this.#ofTopup, topupId);
  }

  /** Those settled on a day in India, strictly after an id, in the order of ids. Read lazily. @param day `YYYY-MM-DD` */
  settledOn(day: string, after?: string): Generator<RefundRow> {
    return this.indexed(this.#settledOn, day, after);
  }

  /** It is not found by its idempotency key any more; the row has it until it is put without. */
  forgetKey({ orgId, topupId, idempotencyKey }: RefundRow): void {
    if (idempotencyKey !== "") this.#byKey.remove([orgId, topupId, idempotencyKey]);
  }

  override put(row: RefundRow): void {
    super.put(row);
    this.#ofTopup.put([row.topupId, row.id], row.orgId);
    if (row.gatewayRef !== "" && row.gateway !== "offline")
      this.#byRef.put([row.gateway, row.gatewayRef], row.id);
    if (row.settledAtMs !== null) this.#settledOn.put([indianDay(row.settledAtMs), row.id], row.orgId);
    if (row.idempotencyKey !== "") this.#byKey.put([row.orgId, row.topupId, row.idempotencyKey], row.id);
  }
}
