/** What one types in the form of a ticket, what is wrong with it, and the bodies it becomes. Pure. */
import type { Operations } from "../../api/operations.ts";

export const ABOUTS = ["limits", "refund", "other"] as const;
export type About = (typeof ABOUTS)[number];

export const ABOUT_OPTIONS: readonly (readonly [value: string, text: string])[] = [
  ["other", "A question, or anything else"],
  ["limits", "Higher limits for a key"],
  ["refund", "A refund"],
];

export interface TicketValues {
  readonly about: About;
  readonly subject: string;
  readonly message: string;
  /** Asked for with higher limits alone, as the two that follow. */
  readonly keyId: string;
  readonly rpm: string;
  readonly reason: string;
}

/** What an address says that a ticket is about; anything else is a question. */
export const aboutOf = (text: string): About => ABOUTS.find((each) => each === text) ?? "other";

/** @param about and `keyId`: as the address has them */
export const newValues = (about: string, keyId: string): TicketValues => ({
  about: aboutOf(about),
  subject: "",
  message: "",
  keyId,
  rpm: "",
  reason: "",
});

export type ValueFaults = Partial<Record<"subject" | "keyId" | "rpm", string>>;

const rpmOf = (text: string): number | undefined => {
  const value = Number(text.replace(/[\s,_]/g, ""));
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
};

/** Those of the fields that are shown. */
export function faultsOf({ about, subject, keyId, rpm }: TicketValues): ValueFaults {
  if (about !== "limits") return subject.trim() === "" ? { subject: "Say in one line what it is about" } : {};
  return {
    ...(keyId === "" && { keyId: "Choose a key" }),
    ...(rpmOf(rpm) === undefined && { rpm: "Give a whole number above 0" }),
  };
}

export const limitsBody = ({ keyId, rpm, reason }: TicketValues): Operations["requestLimits"]["body"] => ({
  key_id: keyId,
  rpm: rpmOf(rpm) ?? 0,
  reason: reason.trim(),
});

export const ticketBody = ({
  about,
  subject,
  message,
}: TicketValues): Operations["createTicket"]["body"] => ({
  kind: about === "refund" ? "refund" : "other",
  subject: subject.trim(),
  message: message.trim(),
});
