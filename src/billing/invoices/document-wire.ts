/** A document as it prints, for programs that draw it themselves: the texts of its page and its PDF, from the same model. */
import { z } from "zod";
import type { InvoiceRow } from "./invoice.ts";
import { type Fact, pageModel } from "./pages/model.ts";

const factShape = z.object({
  name: z.string().describe("What it is"),
  value: z.string().describe("As it prints"),
});

const partyShape = z.object({
  heading: z.string().describe("`Supplier` or `Recipient`"),
  name: z.string().describe("Legal name"),
  lines: z.array(z.string()).describe("Address and registrations, line by line"),
});

export const documentShape = z.object({
  title: z.string().describe("Kind of document, as it prints: `Tax Invoice`"),
  number: z.string().describe("The document's number"),
  supplier: partyShape.describe("Who sells"),
  recipient: partyShape.describe("Who is billed"),
  facts: z.array(factShape).describe("Number, dates, place of supply"),
  columns: z
    .array(
      z.object({
        title: z.string().describe("Head of the column"),
        is_number: z.boolean().describe("Whether its cells are numbers, which end at the right"),
      }),
    )
    .describe("Of the table of lines"),
  rows: z.array(z.array(z.string()).describe("A cell for each column")).describe("What is billed"),
  totals: z
    .array(
      z.object({
        name: z.string().describe("What it is"),
        value: z.string().describe("As it prints"),
        is_strong: z.boolean().describe("Whether it prints in bold: the total"),
      }),
    )
    .describe("Sums and heads of tax"),
  words: factShape.describe("The total in words"),
  notes: z.array(z.string()).describe("Endorsements, the rate of exchange, what is pending"),
  registration: z
    .object({ facts: z.array(factShape).describe("IRN, number and date of the acknowledgement") })
    .nullable()
    .describe("As an e-invoice; null where it is not registered. Its QR code is on the page and in the PDF"),
  signature: z.array(z.string()).describe("The last lines"),
});

const fact = ([name, value]: Fact) => ({ name, value });

export function documentWire(row: InvoiceRow): z.input<typeof documentShape> {
  const model = pageModel(row);
  const { title, number, supplier, recipient, notes, signature, registration } = model;
  const party = ({ heading, name, lines }: typeof supplier) => ({ heading, name, lines: [...lines] });
  return {
    title,
    number,
    supplier: party(supplier),
    recipient: party(recipient),
    facts: model.facts.map(fact),
    columns: model.columns.map((column) => ({ title: column.title, is_number: column.isNumber })),
    rows: model.rows.map((cells) => [...cells]),
    totals: model.totals.map(({ name, value, isStrong }) => ({ name, value, is_strong: isStrong })),
    words: fact(model.words),
    notes: [...notes],
    registration: registration === undefined ? null : { facts: registration.facts.map(fact) },
    signature: [...signature],
  };
}
