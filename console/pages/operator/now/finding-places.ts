/** Where a finding leads in the operator's part of the console. Pure. */
import type { Operations } from "../../../api/operations.ts";

export type Finding = Operations["operatorGetAttention"]["answer"]["data"][number];

const PAGES: Readonly<Partial<Record<Finding["kind"], readonly string[]>>> = {
  cell_silent: ["cells"],
  ticket_open: ["tickets"],
  payment_parked: ["payments"],
  books_differ: ["reconciliation"],
  invoice_unregistered: ["payments", "invoices"],
  job_given_up: ["jobs"],
  calls_uncharged: ["payments", "uncharged"],
};

/** The page and what follows it; undefined where the console has none for it. */
export function placeOf({ kind, subject, details = {} }: Finding): readonly string[] | undefined {
  if (kind === "provider_without_credential") return ["providers", subject.id];
  if (kind === "endpoint_down")
    return typeof details.provider === "string" ? ["providers", details.provider] : undefined;
  return PAGES[kind];
}

const MORE: Readonly<Partial<Record<Finding["kind"], string>>> = {
  cell_silent: "silent cells",
  ticket_open: "open tickets",
  payment_parked: "payments to look at",
  endpoint_down: "endpoints that are down",
  job_given_up: "jobs given up",
  provider_without_credential: "providers without a credential",
};

/** What findings of a kind that are not listed are called. */
export const moreOf = (kind: Finding["kind"]): string => MORE[kind] ?? kind.replaceAll("_", " ");
