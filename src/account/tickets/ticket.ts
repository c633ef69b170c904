/** Tickets: what an org asks the operator for. A ticket is decided once. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import * as field from "../../base/operation/fields.ts";

export const TICKET_KINDS = ["limit_increase", "invoice_correction", "refund", "close_org", "other"] as const;
export const TICKET_STATUSES = ["open", "approved", "rejected", "closed"] as const;

export interface TicketRow {
  readonly id: string;
  readonly orgId: string;
  readonly kind: (typeof TICKET_KINDS)[number];
  readonly status: (typeof TICKET_STATUSES)[number];
  readonly subject: string;
  /** What is asked for; its fields depend on the kind. */
  readonly body: Readonly<Record<string, string | number | boolean>>;
  /** E-mail of who asked; of a ticket made with a key, of who made the key. Empty where nobody is known. */
  readonly createdBy: string;
  readonly createdAtMs: number;
  /** What the operator answered; empty while it is open. */
  readonly answer: string;
  readonly decidedAtMs: number | null;
}

export const newTicket = (
  given: Pick<TicketRow, "orgId" | "kind" | "subject" | "body" | "createdBy">,
  nowMs: number,
): TicketRow => ({
  ...given,
  id: newId("tkt", nowMs),
  status: "open",
  createdAtMs: nowMs,
  answer: "",
  decidedAtMs: null,
});

export const ticketShape = z.object({
  id: z.string().describe("The ticket's id."),
  org_id: field.orgId,
  kind: z.enum(TICKET_KINDS).describe("What is asked for"),
  status: z.enum(TICKET_STATUSES).describe("`open` until it is decided, which happens once"),
  subject: z.string().describe("What it is about, in one line of 200 characters at most."),
  body: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .describe(
      "The details. `limit_increase`: `key_id`, `rpm`, `reason`; `invoice_correction`: `invoice_id`, `gstin`, `reason`; `close_org`: `refund_requested`, `refundable_micro` (micro-USD); made by `POST /v1/tickets`: `message`",
    ),
  created_by: z
    .string()
    .describe("E-mail of who asked; of a ticket made with a key, of who made the key; empty where not known"),
  created_at: field.createdAt,
  answer: z.string().optional().describe("What was decided, in words; absent while the ticket is open."),
  decided_at: field.time("When it was decided", "Absent while the ticket is open").optional(),
});

export const ticketWire = (row: TicketRow): z.input<typeof ticketShape> => ({
  id: row.id,
  org_id: row.orgId,
  kind: row.kind,
  status: row.status,
  subject: row.subject,
  body: { ...row.body },
  created_by: row.createdBy,
  created_at: isoTime(row.createdAtMs),
  ...(row.answer !== "" && { answer: row.answer }),
  ...(row.decidedAtMs !== null && { decided_at: isoTime(row.decidedAtMs) }),
});
