/** Tables of top-ups with their indexes. Methods that write must be called in an act. */
import { mustExist } from "../../base/errors.ts";
import type { Store } from "../../store/store.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import { indianDay } from "../invoices/financial-year.ts";
import { OrgRows } from "../org-rows.ts";
import type { GatewayId } from "../payments/gateway.ts";
import { isPaid, type TopupRow } from "./topup.ts";

export class TopupTables extends OrgRows<TopupRow> {
  /** [payment gateway, its id of the checkout or debit] → top-up id. */
  readonly #byCheckout = this.store.table<string>("billing.topups_by_checkout");
  /** [payment gateway, its id of the payment] → top-up id: a payment is credited once. */
  readonly #byPayment = this.store.table<string>("billing.topups_by_payment");
  /** [org id, Idempotency-Key] → top-up id. */
  readonly #byKey = this.store.table<string>("billing.topups_by_key");
  /** [day in India on which it was paid, top-up id] → org id: reconciliation reads a day. */
  readonly #paidOn = this.store.table<string>("billing.topups_paid_on");
  /** [org id, top-up id] of those that are pending. */
  readonly #pending = this.store.table<true>("billing.topups_pending");
  /** [org id]: it has paid once. */
  readonly #paidOnce = this.store.table<true>("billing.orgs_that_paid");

  constructor(store: Store) {
    super(store, { rows: "billing.topups", orgOf: "billing.orgs_of_topups" });
  }

  ofCheckout(gateway: GatewayId, ref: string): TopupRow | undefined {
    const id = this.#byCheckout.get([gateway, ref]);
    return id === undefined ? undefined : this.find(id);
  }

  ofPayment(gateway: GatewayId | "offline", ref: string): TopupRow | undefined {
    const id = this.#byPayment.get([gateway, ref]);
    return id === undefined ? undefined : this.find(id);
  }

  ofKey(orgId: string, idempotencyKey: string): TopupRow | undefined {
    const id = idempotencyKey === "" ? undefined : this.#byKey.get([orgId, idempotencyKey]);
    return id === undefined ? undefined : this.get(orgId, id);
  }

  /** Those paid on a day in India, strictly after an id, in the order of ids. Read lazily. @param day `YYYY-MM-DD` */
  paidOn(day: string, after?: string): Generator<TopupRow> {
    return this.indexed(this.#paidOn, day, after);
  }

  /** Those that are pending, newest first. Read lazily. */
  *pendingOf(orgId: string): Generator<TopupRow> {
    for (const { key } of this.#pending.range({ start: [orgId, PAST_IDS], end: [orgId], reverse: true })) {
      const row = this.get(orgId, (key as [string, string])[1]);
      if (row !== undefined) yield row;
    }
  }

  /** Whether the org ever paid: its currency is settled then. */
  hasPaid(orgId: string): boolean {
    return this.#paidOnce.get([orgId]) === true;
  }

  override put(row: TopupRow): void {
    const key = [row.orgId, row.id];
    super.put(row);
    if (row.status === "pending") this.#pending.put(key, true);
    else if (this.#pending.get(key) === true) this.#pending.remove(key);
    if (isPaid(row) && !this.hasPaid(row.orgId)) this.#paidOnce.put([row.orgId], true);
    if (row.gatewayRef !== "") this.#byCheckout.put([row.gateway, row.gatewayRef], row.id);
    if (row.paymentRef !== "") this.#byPayment.put([row.gateway, row.paymentRef], row.id);
    if (row.paidAtMs !== null) this.#paidOn.put([indianDay(row.paidAtMs), row.id], row.orgId);
    if (row.idempotencyKey !== "") this.#byKey.put([row.orgId, row.idempotencyKey], row.id);
  }

  /** It is not found by its Idempotency-Key any more; the row has it until it is put without. */
  forgetKey({ orgId, idempotencyKey }: TopupRow): void {
    if (idempotencyKey !== "") this.#byKey.remove([orgId, idempotencyKey]);
  }

  /** @throws WeirError 404 */
  mustGet(orgId: string, id: string): TopupRow {
    return mustExist(this.get(orgId, id), "top-up");
  }
}
