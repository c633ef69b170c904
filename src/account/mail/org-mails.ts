/**
 * Mails to an org about itself: whom they go to, and how many there may be. An org sets its address itself and can make
 * events at will, so without a bound the gateway could be used to flood a stranger's mailbox.
 */

import { type Clock, localDay } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { type ExpiringTable, openExpiringTable } from "../../store/tables/expiring-table.ts";
import { emailField } from "../fields/email.ts";
import type { AccountTables } from "../tables.ts";
import { orgAdministrators, orgRecipients } from "./recipients.ts";
import type { MailTemplate, PutMail } from "./template.ts";

export interface OrgMailsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly accounts: Pick<AccountTables, "org" | "people">;
  /** In an act: puts one mail to one address. @returns the key of its job */
  readonly put: PutMail;
  readonly onFailure: (error: unknown, what: string) => void;
}

export interface OrgMail<D> {
  readonly orgId: string;
  readonly data: D;
  /** An address, or all owners and admins. Undefined: those who answer for the org. */
  readonly to?: string | typeof ADMINISTRATORS | undefined;
}

/** No address. */
export const ADMINISTRATORS = Symbol("owners and admins");

/** Mails of one template that is not essential, to one org; a mail to several people counts once. */
const MOST_A_DAY = 50;

export class OrgMails {
  readonly #deps: OrgMailsDeps;
  /** [org id, what]: how many mails of a template a day, and mails that are put only once. */
  readonly #counts: ExpiringTable<number>;

  constructor(deps: OrgMailsDeps) {
    this.#deps = deps;
    const { store, clock, onFailure } = deps;
    this.#counts = openExpiringTable({
      store,
      clock,
      rows: "mail.counts",
      periods: "mail.count_days",
      onFailure: (error) => onFailure(error, "old counts of mails could not be forgotten; it is tried again"),
    });
  }

  /** Only in an act. @returns keys of the jobs; undefined where the org has had too many of this template today: nothing is put */
  put<D>(template: MailTemplate<D>, { orgId, data, to }: OrgMail<D>): readonly string[] | undefined {
    if (template.isEssential !== true && !this.#isWithin(template, orgId)) return undefined;
    const { put, onFailure } = this.#deps;
    const recipients = this.#recipients(orgId, to);
    if (recipients.length === 0)
      onFailure(new Error(`${orgId} has no address`), `no mail of ${template.name} was put`);
    return recipients.map((recipient) => put(template, { orgId, to: recipient, data }));
  }

  /** Only in an act: the same, unless it was put before. @param mail.once what it is, and until when that is remembered */
  putOnce<D>(
    template: MailTemplate<D>,
    mail: OrgMail<D> & { readonly once: { readonly name: string; readonly untilMs: number } },
  ): void {
    const key = [mail.orgId, `${template.name}:${mail.once.name}`];
    if (this.#counts.get(key) !== undefined || this.put(template, mail) === undefined) return;
    this.#counts.put(key, 1, mail.once.untilMs);
  }

  #recipients(orgId: string, to: OrgMail<unknown>["to"]): string[] {
    const { accounts } = this.#deps;
    if (to === ADMINISTRATORS) return orgAdministrators(accounts, orgId);
    const own = to === undefined ? undefined : emailField.safeParse(to).data;
    return own === undefined ? orgRecipients(accounts, orgId) : [own];
  }

  close(): void {
    this.#counts.close();
  }

  #isWithin({ name }: Pick<MailTemplate, "name">, orgId: string): boolean {
    const nowMs = this.#deps.clock.now();
    const key = [orgId, `${name}:${localDay(nowMs, "UTC")}`];
    const count = (this.#counts.get(key) ?? 0) + 1;
    // Counted one further, so that it is told of once a day.
    if (count <= MOST_A_DAY + 1) this.#counts.put(key, count, nowMs);
    if (count === MOST_A_DAY + 1) {
      const error = new Error(`${orgId} has had ${MOST_A_DAY} mails of ${name} today`);
      this.#deps.onFailure(error, "no more of them are put until tomorrow");
    }
    return count <= MOST_A_DAY;
  }
}
