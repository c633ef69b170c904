/**
 * How many mails a tenant may have sent to people of its choice: invitations, documents sent again. Counted for the org, for the
 * person who asks (in all their orgs) and for the address, so that the gateway floods no stranger's mailbox. What an org is told of
 * itself is not counted here: no flood of anybody keeps a receipt or a warning from its reader.
 */

import { createHash } from "node:crypto";
import type { QuotaName, Quotas } from "../../base/quota.ts";
import { DayCounts } from "../../store/tables/day-counts.ts";
import type { ExpiryPorts } from "../../store/tables/expiring-table.ts";
import { emailNormalForm } from "../fields/email.ts";

export interface AskedMail {
  readonly orgId: string;
  /** The id of the person who asks for the mail. Where a key asks, of the person who made the key; empty if that is not known. */
  readonly personId: string;
  readonly to: string;
}

export class AskedMails {
  readonly #quotas: Quotas;
  /** [kind, whose, day]. Addresses by a digest: they may be strangers'. */
  readonly #counts: DayCounts;

  constructor(options: ExpiryPorts & { readonly quotas: Quotas }) {
    this.#quotas = options.quotas;
    this.#counts = new DayCounts({ ...options, rows: "mail.asked", periods: "mail.asked_days" });
  }

  /** Only in the act that puts the mail. @throws WeirError 403 `plan_limit` */
  count({ orgId, personId, to }: AskedMail): void {
    const address = createHash("sha256").update(emailNormalForm(to)).digest("base64url");
    this.#add("mails_per_day", ["org", orgId], "mails of an organisation to addresses of its choice a day");
    if (personId !== "")
      this.#add("person_mails_per_day", ["person", personId], "such mails asked for by a person a day");
    const own = ["org_address", orgId, address];
    this.#add("org_address_mails_per_day", own, "such mails of an organisation to one address a day");
    this.#add("address_mails_per_day", ["address", address], "such mails to one address a day");
  }

  #add(quota: QuotaName, whose: readonly string[], what: string): void {
    this.#counts.add(this.#quotas, quota, whose, what, "Wait until tomorrow.");
  }

  close(): void {
    this.#counts.close();
  }
}
