import type { PageModel } from "../../../src/billing/invoices/pages/model.ts";

/** Every text of a document in the order in which it is read. */
export function textsOf(model: PageModel): string[] {
  const { supplier, recipient, registration } = model;
  return [
    model.title,
    supplier.heading,
    supplier.name,
    ...supplier.lines,
    ...model.facts.flat(),
    recipient.heading,
    recipient.name,
    ...recipient.lines,
    ...model.columns.map(({ title }) => title),
    ...model.rows.flat(),
    ...model.totals.flatMap(({ name, value }) => [name, value]),
    ...model.words,
    ...model.notes,
    ...(registration?.facts.flat() ?? []),
    ...model.signature,
  ];
}
