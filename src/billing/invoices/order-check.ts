/**
 * What an order must be before it becomes a document: sums that agree, tax that is the treatment's, texts that fit on a page. A
 * wrong order is a mistake of the caller: it throws, and the act with the money is dropped.
 */
import { isAmount } from "../../base/money.ts";
import type { InvoiceOrder, InvoiceRow } from "./invoice.ts";
import { headsOf, plus, taxOf, totalOf } from "./tax.ts";

const MOST_LINES = 200;
const MOST_DESCRIPTION = 300;

/** @throws RangeError with what is wrong */
export function checkOrder(order: InvoiceOrder): void {
  const { kind, lines, taxableMinor, heads, treatment } = order;
  const sum = lines.reduce((minor, { amountMinor }) => minor + amountMinor, 0);
  assert(lines.length > 0 && lines.length <= MOST_LINES, `an invoice has 1 to ${MOST_LINES} lines`);
  assert(sum === taxableMinor, `the lines are ${sum} in sum, not ${taxableMinor}`);
  for (const { description, amountMinor, unitMinor, quantity } of lines) {
    assert(
      description.length <= MOST_DESCRIPTION,
      `a description has at most ${MOST_DESCRIPTION} characters`,
    );
    assert([amountMinor, unitMinor].every(Number.isSafeInteger), "a line has integers in minor units");
    assert(Number.isFinite(quantity) && quantity > 0, "a line has a quantity above 0");
  }
  assert(isAmount(totalOf(order)), "the total is no amount");
  assert([heads.cgstMinor, heads.sgstMinor, heads.igstMinor].every(isAmount), "a head is no amount");
  if (kind === "statement") assert(taxOf(heads) === 0, "a statement has no tax");
  if (kind === "payment") {
    const due = headsOf(treatment, taxableMinor);
    const isDue =
      due.cgstMinor === heads.cgstMinor &&
      due.sgstMinor === heads.sgstMinor &&
      due.igstMinor === heads.igstMinor;
    assert(isDue, "the tax is not that of the treatment");
  }
}

/** @throws RangeError where a credit note takes back more than is left, of the whole or of a head */
export function checkCredit(original: InvoiceRow, order: InvoiceOrder): void {
  const { number, kind } = original;
  assert(
    kind !== "credit_note" && kind !== "statement",
    `${number} is no invoice: nothing of it is credited`,
  );
  assert(order.currency === original.currency, `${number} is in ${original.currency}`);
  assert(order.taxableMinor > 0, "a credit note is over an amount");
  const { taxableMinor, heads } = plus(original.credited, order);
  const left = [
    original.taxableMinor - taxableMinor,
    original.heads.cgstMinor - heads.cgstMinor,
    original.heads.sgstMinor - heads.sgstMinor,
    original.heads.igstMinor - heads.igstMinor,
  ];
  assert(
    left.every((minor) => minor >= 0),
    `more is credited than is left of ${number}`,
  );
  assert(
    left[0] !== 0 || left.every((minor) => minor === 0),
    `the whole of ${number} is credited, but not its tax`,
  );
}

function assert(holds: boolean, message: string): void {
  if (!holds) throw new RangeError(message);
}
