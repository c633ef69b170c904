/** Words for tickets: what each asks for, how it stands, and what happens next. Pure. */

import type { Operations } from "../../api/operations.ts";
import type { Tone } from "../../parts/tone.ts";

export type Ticket = Operations["getTicket"]["answer"];
type Kind = Ticket["kind"];
type Status = Ticket["status"];

export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  limit_increase: "Higher limits",
  invoice_correction: "Correction of an invoice",
  refund: "Refund",
  close_org: "Closing of the organisation",
  other: "Question",
};

export const KIND_OPTIONS: readonly (readonly [value: string, text: string])[] = [
  ["", "Any"],
  ...Object.entries(KIND_WORDS),
];

export const isKind = (text: string): text is Kind => Object.hasOwn(KIND_WORDS, text);

export const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  open: "warn",
  approved: "good",
  rejected: "bad",
  closed: "plain",
};

const OPEN: Readonly<Record<Kind, string>> = {
  limit_increase:
    "Whoever runs this gateway decides. Once approved, the key has the higher limit at once, without a new key; until then it works with the limit that it has.",
  invoice_correction:
    "Whoever runs this gateway decides. Once approved, a credit note and a corrected invoice are issued and sent.",
  refund: "Whoever runs this gateway looks at it and answers here. No money moves by the ticket alone.",
  close_org: "Whoever runs this gateway pays out what can be refunded, and answers here.",
  other: "Whoever runs this gateway answers here.",
};

const APPROVED: Readonly<Record<Kind, string>> = {
  limit_increase: "The key has had the higher limit since then. Nothing is left to do.",
  invoice_correction: "The credit note and the corrected invoice are among the invoices.",
  refund: "The refund is under way: see the refunds of the credit.",
  close_org: "What could be refunded is paid out.",
  other: "It was agreed to, as the answer says.",
};

/** What happens next. */
export function nextOf({ kind, status }: Pick<Ticket, "kind" | "status">): string {
  if (status === "open") return `${OPEN[kind]} The decision is told to webhooks, too.`;
  if (status === "approved") return APPROVED[kind];
  return "A ticket is decided once. If something has changed since, open another one.";
}

export const asLine = (status: Status): string =>
  ({ open: "It waits for a decision", approved: "Approved", rejected: "Rejected", closed: "Closed" })[status];

const textOf = (body: Ticket["body"], name: string): string | undefined => {
  const value = body[name];
  return value === undefined || value === "" ? undefined : String(value);
};

/** What a ticket's details say; those that its kind has none of are undefined. */
export interface Asked {
  /** What whoever asks says: what for, or what about. */
  readonly words: string | undefined;
  readonly keyId: string | undefined;
  readonly rpm: number | undefined;
  readonly invoiceId: string | undefined;
  readonly gstin: string | undefined;
  readonly refundableMicro: number | undefined;
}

export function askedOf({ body }: Pick<Ticket, "body">): Asked {
  const numberOf = (name: string) => {
    const value = body[name];
    return typeof value === "number" ? value : undefined;
  };
  return {
    words: textOf(body, "message") ?? textOf(body, "reason"),
    keyId: textOf(body, "key_id"),
    rpm: numberOf("rpm"),
    invoiceId: textOf(body, "invoice_id"),
    gstin: textOf(body, "gstin"),
    refundableMicro: numberOf("refundable_micro"),
  };
}
