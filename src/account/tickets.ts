/** Table of tickets, with its indexes. Methods that write must be called in an act. */

import { fail } from "../errors.ts";
import type { Caller } from "../operation.ts";
import { PAST_IDS } from "../store/key-order.ts";
import type { Store, Table } from "../store/store.ts";
import type { AccountTables } from "./tables.ts";
import type { TicketRow } from "./ticket.ts";

/** Of one org: more are refused until some are decided. */
const MOST_OPEN = 100;

export class Tickets {
  /** [org id, ticket id]. */
  readonly #rows: Table<TicketRow>;
  /** [ticket id] → org id. */
  readonly #orgOf: Table<string>;
  /** [ticket id] → org id, of open tickets. */
  readonly #open: Table<string>;

  constructor(store: Store) {
    this.#rows = store.table("account.tickets");
    this.#orgOf = store.table("account.orgs_of_tickets");
    this.#open = store.table("account.open_tickets");
  }

  get(orgId: string, id: string): TicketRow | undefined {
    return this.#rows.get([orgId, id]);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  *of(orgId: string, before = PAST_IDS): Generator<TicketRow> {
    for (const { value } of this.#rows.range({ start: [orgId, before], end: [orgId], reverse: true }))
      if (value.id !== before) yield value;
  }

  /** Of any org. */
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

  /** @throws WeirError `plan_limit` where too many are open */
  add(row: TicketRow): void {
    let open = 0;
    for (const { status } of this.of(row.orgId)) if (status === "open" && ++open >= MOST_OPEN) break;
    if (row.status === "open" && open >= MOST_OPEN) {
      throw fail("plan_limit", `${MOST_OPEN} tickets are open. Wait until some are decided.`);
    }
    this.put(row);
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
