/** `POST /v1/operator/provider-bills`: a provider's bill against our records. Nothing of it is kept. */
import { z } from "zod";
import { fail, WeirError } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { INCOMPLETE_SINCE, incompleteSince } from "../../base/operation/incomplete-since.ts";
import { operation } from "../../base/operation/operation.ts";
import { BILL_FORMATS, type Figures, figuresOf } from "./formats.ts";
import {
  BILL_KINDS,
  type BillRow,
  type ComparedBill,
  compareBill,
  type RecordedUsage,
} from "./provider-bill.ts";
import { readCsv, readJson } from "./reader.ts";

export interface ProviderBillDeps {
  readonly usage: RecordedUsage;
}

/** A month of a large account by day, model and key. */
export const MOST_BILL_BYTES = 8 * 1024 * 1024;
/** Rows of an answer. */
const MOST_LISTED = 1000;

const figures = z.object({
  requests: z.int().nullable().describe("Calls"),
  input_tokens: z.int().nullable().describe("Whole prompts, cached parts included"),
  output_tokens: z.int().nullable().describe("Tokens of the answer, reasoning included."),
  cache_read_tokens: z.int().nullable().describe("Those of the prompt that the provider had in its cache"),
  cache_write_tokens: z.int().nullable().describe("Those of the prompt that the provider put into its cache"),
  cost_micro: z.int().nullable().describe("Micro-USD; of ours, what orgs were charged"),
});

const output = z.object({
  object: field.objectOf("provider_bill"),
  provider: field.providerId,
  counts: z
    .object({
      matched: z.int().describe("Tokens agree"),
      drift: z.int().describe("Tokens differ"),
      unbilled: z.int().describe("Recorded, and not on the bill"),
      unrecorded: z.int().describe("Billed, and not recorded"),
    } satisfies Record<(typeof BILL_KINDS)[number], z.ZodType>)
    .describe("Days and models by kind"),
  unpriced_requests: z.int().describe("Calls of ours that used tokens at no price"),
  totals: z
    .object({
      billed: figures.describe("Sums of the bill; null where no line states it"),
      recorded: figures.describe("Sums of our records of the same days"),
      drift: figures.describe("Billed less recorded"),
    })
    .describe("Sums of the whole period."),
  complete: z.boolean().describe("False: only the largest differences are listed"),
  data: z
    .array(
      z.object({
        day: z.string().describe("`YYYY-MM-DD`, UTC"),
        model: z.string().describe("As the provider names it, or the endpoint where the bill names that"),
        kind: z
          .enum(BILL_KINDS)
          .describe("`unbilled`: recorded and not on the bill. `unrecorded`: billed and not recorded"),
        billed: figures.describe("What the bill says; null in what it does not state"),
        recorded: figures.describe("What we recorded"),
        drift: figures.describe("Billed less recorded"),
        unpriced_requests: z.int().describe("Calls of ours that used tokens at no price"),
        estimated_requests: z.int().describe("Calls whose tokens the gateway estimated"),
      }),
    )
    .describe("A row for each day and model, the largest differences first"),
  ...INCOMPLETE_SINCE,
});

export const providerBillOperations = ({ usage }: ProviderBillDeps) => ({
  operatorCheckProviderBill: operation({
    summary: "Compare a provider's bill with our records: drift, unbilled and unpriced traffic",
    method: "POST",
    path: "/v1/operator/provider-bills",
    access: "operator",
    group: "Operator",
    body: z.strictObject({
      provider: z
        .string()
        .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "id of a provider")
        .describe("Its id in the catalog")
        .meta({ examples: ["openai"] }),
      format: z.enum(BILL_FORMATS).default("plain").describe("Whose export it is"),
      csv: z
        .string()
        .min(1)
        .optional()
        .describe("The file as text; either this or `json`")
        .meta({ examples: ["day,model,input_tokens,cost_usd\n2026-11-22,gpt-5.4-mini,1000,0.25\n"] }),
      json: z.string().min(1).optional().describe("The export as text; either this or `csv`"),
      tolerance_bps: z
        .int()
        .min(0)
        .max(10_000)
        .default(50)
        .describe("Tokens may differ by so much, basis points, and still match"),
    }),
    maxBytes: MOST_BILL_BYTES,
    output,
    errors: ["analytics_unavailable"],
    async run({ body: { provider, format, csv, json, tolerance_bps: toleranceBps } }) {
      if ((csv === undefined) === (json === undefined))
        throw fail("invalid_value", "Send either csv or json.", { param: "/csv" });
      const lines = json === undefined ? readCsv(format, csv ?? "") : readJson(format, json);
      try {
        return wireOf(provider, await compareBill(lines, { provider, toleranceBps, usage }));
      } catch (error) {
        throw inField(error, json === undefined ? "/csv" : "/json");
      }
    },
  }),
});

/** Adds the field to the error of a line: the code that finds the fault does not know in which field the line came. */
function inField(error: unknown, param: string): unknown {
  if (!(error instanceof WeirError) || error.kind !== "invalid_value") return error;
  return fail("invalid_value", error.message, { param, ...(error.details && { details: error.details }) });
}

function wireOf(provider: string, { rows, missingSinceMs }: ComparedBill): z.input<typeof output> {
  const counts = Object.fromEntries(
    BILL_KINDS.map((kind) => [kind, rows.filter((row) => row.kind === kind).length]),
  ) as Record<(typeof BILL_KINDS)[number], number>;
  return {
    object: "provider_bill",
    provider,
    counts,
    unpriced_requests: rows.reduce((sum, { unpriced }) => sum + unpriced, 0),
    totals: {
      billed: sumOf(rows, "billed"),
      recorded: sumOf(rows, "recorded"),
      drift: sumOf(rows, "drift"),
    },
    complete: rows.length <= MOST_LISTED,
    data: rows.slice(0, MOST_LISTED).map((row) => ({
      day: row.day,
      model: row.model,
      kind: row.kind,
      billed: figuresWire(row.billed),
      recorded: figuresWire(row.recorded),
      drift: figuresWire(row.drift),
      unpriced_requests: row.unpriced,
      estimated_requests: row.estimated,
    })),
    ...incompleteSince(missingSinceMs),
  };
}

const figuresWire = (given: Figures): z.input<typeof figures> => ({
  requests: given.requests,
  input_tokens: given.inputTokens,
  output_tokens: given.outputTokens,
  cache_read_tokens: given.cacheReadTokens,
  cache_write_tokens: given.cacheWriteTokens,
  cost_micro: given.costMicroUsd,
});

function sumOf(rows: readonly BillRow[], side: "billed" | "recorded" | "drift"): z.input<typeof figures> {
  const sums = figuresOf((name) => {
    const stated = rows.flatMap((row) => row[side][name] ?? []);
    return stated.length === 0 ? null : stated.reduce((a, b) => a + b, 0);
  });
  return figuresWire(sums);
}
