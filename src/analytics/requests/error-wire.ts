/** Why a call was refused or failed, as its client was told it: from the record, in the generation record and in a request's detail. */
import { z } from "zod";
import { ERRORS } from "../../base/errors.ts";
import { jsonIn } from "../../base/json.ts";
import * as field from "../../base/operation/fields.ts";
import { haveOwnWords } from "../../record/own-words.ts";
import type { CallRecord } from "../../record/record.ts";

export const errorSchema = z
  .object({
    type: z.string().describe("The kind of error, as in docs/errors.md."),
    code: z.string().describe("Which error: a row of docs/errors.md."),
    message: z
      .string()
      .nullable()
      .describe(
        "What the client was told, redacted by the organisation's rules; 1,000 characters at most. Null where the words may quote the request and the organisation keeps no texts, keeps them no more, or the caller may not read the payload; and for records of earlier releases.",
      ),
    status: z.int().describe("HTTP status of the error; a stream that had begun kept its 200."),
    param: z.string().nullable().describe("JSON pointer of the field at fault; null where none is."),
    retry_after_ms: z.number().optional().describe("How long the client was told to wait, milliseconds."),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        "What the error says as data, as the client got it: what a call needs and what is available, the budget that is used up, why each endpoint was left out.",
      ),
    details_cut: z
      .literal(true)
      .optional()
      .describe(
        "`details` were too long to be kept whole: lists and texts in them are shortened, or all is left out.",
      ),
    upstream: z
      .object({
        provider: field.providerId,
        endpoint_id: field.endpointId,
        outcome: z.string().describe("How the attempt ended."),
        error_class: z.string().describe("Whose failure it was, as in `attempt_rows`."),
        http_status: z.int().min(0).describe("What the provider answered; 0: nothing."),
        refusal: z
          .string()
          .describe("What the provider refused, as the row of the table of refusals; empty: no row matched."),
      })
      .optional()
      .describe("The attempt that failed last; absent where the gateway itself refused."),
  })
  .nullable()
  .describe("Why the call was refused or failed; null where it was not.");

/** As `errorDetails` has it, read leniently: redaction may have changed any value. */
interface Kept {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly param?: unknown;
  readonly retry_after_ms?: unknown;
  readonly details?: unknown;
  readonly details_cut?: unknown;
}

/**
 * @param record with its error redacted, if its row still waits in the outbox
 * @param mayReadTexts whether the reader may see what quotes the request, as its payload
 */
export function errorWire(record: CallRecord, mayReadTexts: boolean): z.input<typeof errorSchema> {
  const { errorCode: code, errorDetails } = record;
  if (code === "") return null;
  const kept = keptIn(errorDetails);
  const type = typeof kept.type === "string" ? kept.type : typeOf(code, record.httpStatus);
  const failed = record.attempts.findLast(({ errorClass }) => errorClass !== "");
  return {
    type,
    code,
    status: typeof kept.status === "number" ? kept.status : record.httpStatus,
    ...(mayReadTexts || haveOwnWords(code, type) ? wordsOf(record.errorMessage, kept) : NO_WORDS),
    ...(typeof kept.retry_after_ms === "number" && { retry_after_ms: kept.retry_after_ms }),
    ...(failed !== undefined && {
      upstream: {
        provider: failed.provider,
        endpoint_id: failed.endpointId,
        outcome: failed.outcome,
        error_class: failed.errorClass,
        http_status: failed.httpStatus,
        refusal: failed.refusal,
      },
    }),
  };
}

const NO_WORDS = { message: null, param: null };

const wordsOf = (message: string, { param, details, details_cut }: Kept) => ({
  message: message === "" ? null : message,
  param: typeof param === "string" ? param : null,
  ...(isObject(details) && { details }),
  ...(details_cut === true && { details_cut: true as const }),
});

function keptIn(text: string): Kept {
  const value = jsonIn(text);
  return isObject(value) ? value : {};
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One code may have two types, told apart by their statuses. */
function typeOf(code: string, status: number): string {
  const rows = Object.values(ERRORS).filter((row) => row.code === code);
  return (rows.find((row) => row.status === status) ?? rows[0])?.type ?? "";
}
