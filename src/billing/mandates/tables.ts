/** Tables of mandates with their indexes. Methods that write must be called in an act. */

import { firstOf } from "../../base/lists.ts";
import type { Store, Table } from "../../store/store.ts";
import { OrgRows } from "../org-rows.ts";
import type { GatewayId } from "../payments/gateway.ts";
import type { MandateRow } from "./mandate.ts";

export class MandateTables extends OrgRows<MandateRow> {
  /** [org id] → id of the mandate that is active or paused. */
  readonly #inForce = this.store.table<string>("billing.mandates_in_force");
  /** [org id] → id of the mandate that is being registered. */
  readonly #pending = this.store.table<string>("billing.mandates_pending");
  /** [payment gateway, its id of the registration] → mandate id. */
  readonly #byRef = this.store.table<string>("billing.mandates_by_ref");
  /** [org id, Idempotency-Key] → mandate id. */
  readonly #byKey = this.store.table<string>("billing.mandates_by_key");

  constructor(store: Store) {
    super(store, { rows: "billing.mandates", orgOf: "billing.orgs_of_mandates" });
  }

  /** The one that is active or paused. */
  inForce(orgId: string): MandateRow | undefined {
    const id = this.#inForce.get([orgId]);
    return id === undefined ? undefined : this.get(orgId, id);
  }

  pending(orgId: string): MandateRow | undefined {
    const id = this.#pending.get([orgId]);
    return id === undefined ? undefined : this.get(orgId, id);
  }

  /** The one in force, else the one that is being registered, else the newest. */
  shown(orgId: string): MandateRow | undefined {
    return this.inForce(orgId) ?? this.pending(orgId) ?? firstOf(this.of(orgId));
  }

  ofRef(gateway: GatewayId, ref: string): MandateRow | undefined {
    const id = this.#byRef.get([gateway, ref]);
    return id === undefined ? undefined : this.find(id);
  }

  ofKey(orgId: string, idempotencyKey: string): MandateRow | undefined {
    const id = idempotencyKey === "" ? undefined : this.#byKey.get([orgId, idempotencyKey]);
    return id === undefined ? undefined : this.get(orgId, id);
  }

  /** It is not found by its Idempotency-Key any more; the row has it until it is put without. */
  forgetKey({ orgId, idempotencyKey }: MandateRow): void {
    if (idempotencyKey !== "") this.#byKey.remove([orgId, idempotencyKey]);
  }

  override put(row: MandateRow): void {
    const { orgId, id, status } = row;
    super.put(row);
    this.#point(this.#inForce, row, status === "active" || status === "paused");
    this.#point(this.#pending, row, status === "pending");
    if (row.ref !== "") this.#byRef.put([row.gateway, row.ref], id);
    if (row.idempotencyKey !== "") this.#byKey.put([orgId, row.idempotencyKey], id);
  }

  #point(index: Table<string>, { orgId, id }: MandateRow, isThere: boolean): void {
    if (isThere) index.put([orgId], id);
    else if (index.get([orgId]) === id) index.remove([orgId]);
  }

  /** Calls the watcher for each changed row, once it is committed. */
  watch(changed: (orgId: string) => void): void {
    this.rows.watch((_key, row) => {
      if (row !== undefined) changed(row.orgId);
    });
  }
}
