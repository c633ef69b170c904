/**
 * `GET /v1/credits` and `GET /v1/credits/ledger`: the balance and the ledger's entries. Read-only. Shapes:
 * specification, "Credits"; cursors: "Paging rules".
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { NO_REQUEST_ID, REQUEST_ID } from "../../base/ids.ts";
import { raw } from "../../base/operation/answer.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import {
  INCOMPLETE_SINCE,
  incompleteHeader,
  incompleteSince,
} from "../../base/operation/incomplete-since.ts";
import { operation } from "../../base/operation/operation.ts";
import type { Book } from "./book.ts";
import { type EntriesOfRequestDeps, entriesOfRequest } from "./entries-of-request.ts";
import { LEDGER_KINDS } from "./entry.ts";
import { type ShownCreditDeps, shownCredit } from "./shown-credit.ts";
import { isGap, pageEnd, type ShownEntry } from "./shown-list.ts";

export interface CreditOperationDeps extends Pick<EntriesOfRequestDeps, "callEnd">, ShownCreditDeps {
  readonly book: Book;
  readonly cursors: Cursors;
}

const balanceSchema = z.object({
  available_micro_usd: z.int().describe("What can be spent now: the balance less what is held."),
  held_micro_usd: z.int().describe("Held for calls under way."),
  granted_micro_usd: z.int().describe("The sum of all credit granted without payment."),
  display: z
    .object({ currency: field.currency, amount: z.string().describe("Decimal number, rounded down.") })
    .describe(
      "What is available, by `fx_rate`: the amount before tax that buys this much credit, and no more",
    ),
  currency: field.currency,
  fx_rate: z
    .string()
    .describe("INR for 1 USD of credit, the spread included, as a quote has it now; 1 in USD"),
  mid_rate: z.string().describe("The rate of the day without the spread; 1 in USD"),
  spread_bps: z.int().describe("The spread, basis points on top of `mid_rate`; 0 in USD"),
  fx_day: z.string().describe("Day of the rate; empty in USD"),
});

const entrySchema = z.object({
  seq: z.int().describe("The entry's number, from 1 without gaps."),
  kind: z.enum(LEDGER_KINDS).describe("What the entry is: `settle`, `topup`, `refund`, `grant`, …"),
  amount_micro_usd: z.int().describe("Negative for charges."),
  request_id: field.requestId.optional(),
  ref_type: z.string().optional().describe("What caused the entry."),
  ref_id: z.string().optional().describe("Which one."),
  created_at: field.createdAt,
  details: z
    .object({
      first_seq: z.int().describe("The first of the numbers"),
      last_seq: z.int().describe("The last of the numbers, which is `seq`"),
      entries: z.int().describe("How many entries it stands for"),
    })
    .optional()
    .describe(
      "Of an `adjustment` that was never posted: it stands for entries that a gateway lost, and `amount_micro_usd` is their sum. It gives way to them if they are found again.",
    ),
});

const ledgerQuery = z.object({
  cursor: z.string().optional().describe("`next_cursor` of the page before."),
  limit: z.coerce.number().int().min(1).max(500).default(50).describe("So many at most."),
  kind: z
    .enum(LEDGER_KINDS)
    .optional()
    .describe("What the entry is: `settle`, `topup`, `refund`, `grant`, …"),
  request_id: z
    .string()
    .regex(REQUEST_ID, NO_REQUEST_ID)
    .optional()
    .describe(
      "Only entries of this request: its charge, and what an operator posted with it as `idempotency_key`.",
    ),
  format: z
    .enum(["json", "csv"])
    .default("json")
    .describe("`csv`: the page as comma-separated values; header `x-svc-next-cursor` asks for the next one."),
});

const ledgerSchema = z.object({
  object: field.objectOf("list"),
  data: z.array(entrySchema).describe("What is listed."),
  next_cursor: z.string().describe("Asks for the next page; empty on the last one."),
  ...INCOMPLETE_SINCE,
});

/** Header of a page of CSV that another follows: what `next_cursor` is in JSON. */
const NEXT_CURSOR = "x-svc-next-cursor";

export function creditOperations({ book, purse, cursors, orgMoney, callEnd }: CreditOperationDeps) {
  const getCredits = operation({
    summary: "The org's credit balance",
    method: "GET",
    path: "/v1/credits",
    access: "read:billing / everyone",
    group: "Credits",
    output: balanceSchema,
    async run(_input, { orgId }) {
      await book.charged();
      await book.fresh([orgId]);
      const credit = shownCredit({ book, purse, orgMoney }, orgId);
      return {
        available_micro_usd: credit.availableMicroUsd,
        held_micro_usd: credit.heldMicroUsd,
        granted_micro_usd: credit.grantedMicroUsd,
        display: { currency: credit.currency, amount: credit.displayAmount },
        currency: credit.currency,
        fx_rate: credit.fxRate,
        mid_rate: credit.midRate,
        spread_bps: credit.spreadBps,
        fx_day: credit.fxDay,
      };
    },
  });

  const listLedger = operation({
    summary: "The org's ledger, newest first",
    method: "GET",
    path: "/v1/credits/ledger",
    access: "read:billing / everyone",
    group: "Credits",
    query: ledgerQuery,
    output: ledgerSchema,
    otherTypes: ["text/csv"],
    errors: ["analytics_unavailable"],
    async run({ query: { cursor, limit, kind, format, request_id: requestId } }, caller) {
      const { orgId } = caller;
      // Bound to the org: a cursor of another org is invalid.
      const list = `ledger:${orgId}${requestId === undefined ? "" : `:${requestId}`}`;
      const position = cursors.read(list, cursor)?.[1];
      const before = typeof position === "number" ? position : undefined;
      const asked = { limit: limit + 1, kind, before };
      const { entries: rows, missingSinceMs } = await (requestId === undefined
        ? book.list(orgId, asked)
        : entriesOfRequest({ book, callEnd }, caller, requestId, asked));
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      const next = last === undefined ? "" : cursors.write(list, [last.createdAtMs, pageEnd(last)]);
      if (format === "csv") {
        const headers = { ...incompleteHeader(missingSinceMs), ...(next !== "" && { [NEXT_CURSOR]: next }) };
        return raw("text/csv; charset=utf-8", ledgerCsv(page), { headers });
      }
      return {
        object: "list" as const,
        data: page.map(entryWire),
        next_cursor: next,
        ...incompleteSince(missingSinceMs),
      };
    },
  });

  return { getCredits, listLedger };
}

export const entryWire = (e: ShownEntry): z.input<typeof entrySchema> => ({
  seq: e.seq,
  kind: e.kind,
  amount_micro_usd: e.amountMicroUsd,
  ...(e.kind === "settle" ? { request_id: e.requestId } : { ref_type: e.refType, ref_id: e.refId }),
  created_at: isoTime(e.createdAtMs),
  ...(isGap(e) && { details: { first_seq: e.firstSeq, last_seq: e.seq, entries: e.seq - e.firstSeq + 1 } }),
});

const CSV_COLUMNS = [
  "seq",
  "kind",
  "amount_micro_usd",
  "request_id",
  "ref_type",
  "ref_id",
  "created_at",
] as const;

/** RFC 4180: CRLF after every row, the header first, quotes only where a value needs them. */
function ledgerCsv(entries: readonly ShownEntry[]): string {
  const rows = entries.map((e) => {
    const wire = entryWire(e);
    return CSV_COLUMNS.map((column) => csvValue(String(wire[column] ?? ""))).join(",");
  });
  return [CSV_COLUMNS.join(","), ...rows, ""].join("\r\n");
}

const csvValue = (value: string): string =>
  /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
