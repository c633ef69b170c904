/** Sends a document again. To people outside the org only for a person who is signed in, so that a leaked key mails no stranger. */
import { z } from "zod";
import { emailField, sameEmail } from "../../account/fields/email.ts";
import { personBehind } from "../../account/role-grants.ts";
import { assertMayChange } from "../../account/scopes.ts";
import type { AccountTables } from "../../account/tables.ts";
import { fail } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import type { Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import type { DayCounts } from "../../store/tables/day-counts.ts";
import type { InvoiceRow } from "./invoice.ts";
import { ownInvoice } from "./own-invoice.ts";
import type { InvoiceTables } from "./tables.ts";

export interface ResendDeps {
  readonly store: Pick<Store, "act">;
  readonly tables: InvoiceTables;
  readonly accounts: AccountTables;
  readonly trail: Trail;
  readonly quotas: Quotas;
  /** Counts documents that an org had sent again. */
  readonly resent: DayCounts;
  /** In an act: puts the mail with the document to one address. @param askedBy the person; empty where nobody is known @throws WeirError 403 `plan_limit` */
  readonly putMailTo: (row: InvoiceRow, to: string, askedBy: string) => void;
}

export const resendOperation = (deps: ResendDeps) => ({
  resendInvoice: operation({
    summary: "Mail a document to an address; some times a day (`invoices_resent_per_day` of the settings)",
    method: "POST",
    path: "/v1/invoices/{id}/resend",
    access: "write:billing / billing",
    group: "Invoices",
    params: z.object({ id: field.pathId }),
    body: z.strictObject({
      to: emailField.describe("Where to; outside the org's members and billing address only from a session"),
    }),
    output: z.object({
      queued: z.boolean().describe("It is on its way"),
      to: z.string().describe("The address as it was understood"),
    }),
    errors: ["not_found", "state", "scope", "plan_limit"],
    run: ({ params, body }, caller) => resend(deps, caller, params.id, body.to),
  }),
});

async function resend(deps: ResendDeps, caller: Caller, id: string, to: string) {
  const { store, tables, trail, resent, putMailTo, quotas } = deps;
  assertMayChange(caller, "live");
  return await store.act(() => {
    const row = ownInvoice(tables, caller, id);
    if (row.irnStatus === "pending" || row.irnStatus === "failed")
      throw fail("state", "It is not registered as an e-invoice yet; it is mailed once it is.");
    if (caller.actor.kind !== "person" && !isOfOrg(deps, caller.orgId, to))
      throw fail(
        "scope",
        "A key sends only to the org's members and its billing address. Sign in to send elsewhere.",
        { param: "/to" },
      );
    const what = "documents sent again a day";
    resent.add(quotas, "invoices_resent_per_day", [caller.orgId], what, "Ask tomorrow.");
    putMailTo(row, to, personBehind(deps.accounts, caller) ?? "");
    trail.audit.note(caller, { act: "invoice.resend", target: row.id, after: { to } });
    return { queued: true, to };
  });
}

function isOfOrg({ accounts }: ResendDeps, orgId: string, to: string): boolean {
  const billing = accounts.org(orgId)?.billingEmail ?? "";
  if (billing !== "" && sameEmail(billing, to)) return true;
  return accounts.people.membersOf(orgId).some(({ userId }) => {
    const user = accounts.people.user(userId);
    return user !== undefined && user.status === "active" && sameEmail(user.email, to);
  });
}
