/** Table of tickets, with its indexes. Methods that write must be called in an act. */

import type { Caller } from "../../base/operation/operation.ts";
import { assertWithin, type Quotas, USUAL_QUOTAS } from "../../base/quota.ts";
import type { Store } from "../../store/store.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import { StoreTables } from "../../store/tables/store-tables.ts";
import { administers } from "../scopes.ts";
import type { AccountTables } from "../tables.ts";
import type { TicketRow } from "./ticket.ts";

export class Tickets extends StoreTables {
  /** [org id, ticket id]. */
  readonly #rows = this.store.table<TicketRow>("account.tickets");
  /** [ticket id] → org id. */
  readonly #orgOf = this.store.table<string>("account.orgs_of_tickets");
  /** [ticket id] → org id, of open tickets. */
  readonly #open = this.store.table<string>("account.open_tickets");

  readonly #quotas: Quotas;

  constructor(store: Store, quotas = USUAL_QUOTAS) {
    super(store);
    this.#quotas = quotas;
  }

  get(orgId: string, id: string): TicketRow | undefined {
    return this.#rows.get([orgId, id]);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  *of(orgId: string, before = PAST_IDS): Generator<TicketRow> {
    for (const { value } of this.#rows.range({ start: [orgId, before], end: [orgId], reverse: true }))
      if (value.id !== before) yield value;
  }

  /** A ticket of any org. */
  find(id: string): TicketRow | undefined {
    const orgId = this.#orgOf.get(id);
    return orgId === undefined ? undefined : this.get(orgId, id);
  }

  /** Open tickets of all orgs, oldest first. Read lazily. */
  *open(after?: string): Generator<TicketRow> {
    for (const { key, value } of this.#open.range(after === undefined ? {} : { start: after })) {
      const row = key === after ? undefined : this.get(value, key as string);
      if (row !== undefined) yield row;
    }
  }

  /** Tickets of all orgs, open and decided ones, newest first, strictly older than `before`. Read lazily. */
  *all(before = PAST_IDS): Generator<TicketRow> {
    for (const { key, value } of this.#orgOf.range({ start: before, reverse: true })) {
      const row = key === before ? undefined : this.get(value, key as string);
      if (row !== undefined) yield row;
    }
  }

  /**
   * Where the org has many, its oldest that is decided goes; the audit still tells of it. Who does not administer the org opens half of
   * the quota, so that no member keeps an owner from asking for something.
   * @throws WeirError `plan_limit`
   */
  add({ scopes }: Pick<Caller, "scopes">, row: TicketRow): void {
    const all = [...this.of(row.orgId)];
    const open = all.filter(({ status }) => status === "open").length;
    const isAdmin = administers(scopes);
    const taken = isAdmin ? open : open + Math.floor(this.#quotas.open_tickets / 2);
    const what = `open tickets${isAdmin ? "" : ", half of which only admins open"}`;
    if (row.status === "open")
      assertWithin(this.#quotas, "open_tickets", taken, what, "Wait until some are decided.");
    const oldest = all.findLast(({ status }) => status !== "open");
    if (all.length >= this.#quotas.tickets && oldest !== undefined) this.#remove(oldest);
    this.put(row);
  }

  #remove({ orgId, id }: TicketRow): void {
    this.#rows.remove([orgId, id]);
    this.#orgOf.remove(id);
  }

  /** Replaces a ticket. */
  put(row: TicketRow): void {
    this.#rows.put([row.orgId, row.id], row);
    this.#orgOf.put(row.id, row.orgId);
    if (row.status === "open") this.#open.put(row.id, row.orgId);
    else this.#open.remove(row.id);
  }
}

/** E-mail of who acts, or of who made the key that acts; empty where nobody is known. */
export function emailOf(accounts: Pick<AccountTables, "people" | "key">, { actor }: Caller): string {
  const userId = actor.kind === "key" ? accounts.key(actor.id)?.createdBy : actor.id;
  return accounts.people.user(userId ?? "")?.email ?? "";
}
