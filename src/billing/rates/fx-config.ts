/** `config/fx.yaml`: rates by day, and one for trying out. Read at start; a fault names its line. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { problemText, readDocument } from "../../base/document/document.ts";
import { readText } from "../../base/file-errors.ts";
import { SUPPLIERS_RATE } from "../invoices/amount.ts";
import type { DayRate } from "./fx-table.ts";
import { rateOf, rateText } from "./rate.ts";

/** Quoted in the file: YAML would read a number, and lose digits. */
const rate = z.string().transform((text, context) => {
  const value = rateOf(text);
  if (value !== undefined) return rateText(value);
  context.addIssue({
    code: "custom",
    message: 'give a rate such as "88.41250000", with at most eight digits',
  });
  return z.NEVER;
});

const schema = z.strictObject({
  /** Right on any day: for trying out. */
  always: rate.optional(),
  rates: z
    .array(
      z.strictObject({
        day: z.iso.date(),
        usd_inr: rate,
        source: z.string().max(200).default(SUPPLIERS_RATE),
      }),
    )
    .max(20_000)
    .default([])
    .superRefine((rates, context) => {
      const days = new Set<string>();
      for (const [at, { day }] of rates.entries()) {
        // Which of them is charged would depend on their order.
        if (days.has(day))
          context.addIssue({ code: "custom", path: [at, "day"], message: `there are two rates of ${day}` });
        days.add(day);
      }
    }),
});

export interface ListedRates {
  readonly listed: readonly DayRate[];
  readonly always: string;
}

/** A missing file is an empty one. @throws Error with one line per problem */
export function readFxRates(configDir: string): ListedRates {
  const file = join(configDir, "fx.yaml");
  if (!existsSync(file)) return { listed: [], always: "" };
  const read = readDocument(readText(file), file, schema);
  if (!read.ok) throw new Error(read.problems.map(problemText).join("\n"));
  const { rates, always = "" } = read.value;
  const listed = rates
    .map(({ day, usd_inr: usdInr, source }) => ({ day, usdInr, source }))
    .sort((a, b) => (a.day < b.day ? -1 : 1));
  return { listed, always };
}
