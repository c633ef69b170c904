/** Words for mandates and automatic top-ups. Pure. */
import type { Operations } from "../../api/operations.ts";

export type AutoTopup = Operations["getAutoTopup"]["answer"];
export type Mandate = NonNullable<AutoTopup["mandate"]>;
export type MandateMethod = AutoTopup["methods"][number];

/** As `Tone` of the parts. */
export const MANDATE_TONES = {
  pending: "warn",
  active: "good",
  paused: "bad",
  failed: "bad",
  cancelled: "plain",
} as const satisfies Record<Mandate["status"], string>;

const METHODS: Readonly<Record<MandateMethod, string>> = {
  upi: "UPI AutoPay",
  emandate: "Bank account (e-mandate)",
  card: "Card",
  link: "Link",
  ach_debit: "Bank account (ACH debit)",
};

export const methodText = (method: string): string =>
  (METHODS as Readonly<Record<string, string>>)[method] ?? method;

interface StateWords {
  readonly text: string;
  /** What to do; undefined where nothing is to be done. */
  readonly next: string | undefined;
}

const PAUSED: Readonly<Record<NonNullable<Mandate["pause_reason"]>, StateWords>> = {
  failures: {
    text: "Three debits in a row failed.",
    next: "Look after the account or card, then resume below.",
  },
  declined: {
    text: "The bank declined a debit for good.",
    next: "Set up another payment method, or resume below once the bank takes debits again.",
  },
  dispute: {
    text: "A payment of this organisation was disputed, or its bank warned of fraud.",
    next: "Once that is settled, resume below.",
  },
  bank: {
    text: "It is paused at the bank.",
    next: "Resume it there: it is active here as soon as the bank says so.",
  },
  mismatch: {
    text: "Another amount was paid than was asked for. The operator looks at it.",
    next: "Wait for the operator, then resume below.",
  },
};

const STATES: Readonly<Record<Exclude<Mandate["status"], "paused">, StateWords>> = {
  pending: { text: "It waits for your approval on the payment gateway's page.", next: undefined },
  active: { text: "It may be debited, within its bounds.", next: undefined },
  failed: { text: "It was not registered, and nothing is debited.", next: "Set it up again." },
  cancelled: { text: "It is cancelled, and nothing is debited.", next: undefined },
};

/** How a mandate is, and what to do about it. */
export function stateWords({ status, pause_reason: reason }: Mandate): StateWords {
  if (status !== "paused") return STATES[status];
  return reason === undefined ? { text: "It is paused.", next: "Resume it below." } : PAUSED[reason];
}

/** Whether a mandate can be debited, or can be again. */
export const isInForce = (mandate: Mandate | null): mandate is Mandate =>
  mandate !== null && (mandate.status === "active" || mandate.status === "paused");

/** What banks do before a debit, by the rules of its currency. @param cap as text: the most of one debit */
export function noticeWords({ currency, notify_hours: hours }: AutoTopup, cap: string): string {
  if (hours === 0)
    return `One debit is at most ${cap}, tax included. It is made as soon as the balance is below.`;
  const rule =
    currency === "INR"
      ? "By the rules of the Reserve Bank of India each debit is announced"
      : "Each debit is announced";
  return `${rule} at least ${hours} hours before it is made, by mail and by your bank, and you may refuse it there. One debit is at most ${cap}, tax included, and needs no further approval. So the money comes a day or two after the balance is low: choose a balance that lasts so long.`;
}
