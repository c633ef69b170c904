/** What tickets ask for, in words. Pure. */
import type { Operations } from "../../../api/operations.ts";
import type { Tone } from "../../../parts/tone.ts";
import type { Format } from "../../../text/format.ts";

export type Ticket = Operations["operatorListTickets"]["answer"]["data"][number];
export type Kind = Ticket["kind"];
export type Status = Ticket["status"];

export const KINDS: Readonly<Record<Kind, string>> = {
  limit_increase: "Higher limit",
  invoice_correction: "Correction of an invoice",
  refund: "Refund",
  close_org: "Closed organisation",
  other: "Question",
};

export const STATUSES: Readonly<Record<Status, readonly [Tone, string]>> = {
  open: ["warn", "open"],
  approved: ["good", "approved"],
  rejected: ["bad", "rejected"],
  closed: ["plain", "closed"],
};

export const isKind = (text: string): text is Kind => Object.hasOwn(KINDS, text);
export const isStatus = (text: string): text is Status => Object.hasOwn(STATUSES, text);

/** Kinds with which money may go back. */
export const isRefunded = (kind: Kind): boolean => kind === "refund" || kind === "close_org";

type Texts = Pick<Format, "money" | "count">;

const NAMES: Readonly<Record<string, string>> = {
  key_id: "Key",
  rpm: "Requests a minute",
  reason: "Reason",
  invoice_id: "Invoice",
  gstin: "GSTIN",
  refund_requested: "Refund asked for",
  refundable_micro: "Paid credit that is left",
  message: "Message",
};

/** The details that a ticket has, in their order. */
export function detailsOf(
  { body }: Pick<Ticket, "body">,
  format: Texts,
): readonly (readonly [string, string])[] {
  return Object.entries(body)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => [NAMES[name] ?? name.replaceAll("_", " "), textOf(name, value, format)]);
}

function textOf(name: string, value: string | number | boolean, { money, count }: Texts): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  return name === "refundable_micro" ? money(value) : count(value);
}

/** What an approval does. */
export const APPROVAL: Readonly<Record<Kind, string>> = {
  limit_increase: "The limit is in force with the key's next call.",
  invoice_correction: "The credit note and the corrected invoice are issued and sent.",
  refund: "Where a top-up is chosen, its refund is begun at once.",
  close_org: "Where a top-up is chosen, its refund is begun at once. The organisation stays closed.",
  other: "The organisation reads the answer.",
};
