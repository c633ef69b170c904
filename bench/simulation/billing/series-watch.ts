/** Numbers of documents: consecutive in each series and financial year; one invoice for a payment, one note for a refund. */
import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import type { Store } from "../../../src/store/store.ts";
import { must } from "./figures.ts";
import { PLANTED } from "./planted-faults.ts";

const IST_MS = 5.5 * 3_600_000;

/** From April to March, by the clock of India. */
function yearOf(ms: number): string {
  const date = new Date(ms + IST_MS);
  const first = date.getUTCFullYear() - (date.getUTCMonth() < 3 ? 1 : 0);
  return `${first}-${String(first + 1).slice(2)}`;
}

export class SeriesWatch {
  /** `TI 2026-27` → number → id. */
  readonly #numbers = new Map<string, Map<number, string>>();
  readonly #invoices = new Set<string>();
  readonly #notes = new Set<string>();
  readonly #paid = new Set<string>();
  readonly #refunded = new Set<string>();

  /** A row that was committed. */
  see(row: InvoiceRow): void {
    const name = `${row.series} ${yearOf(row.issuedAtMs)}`;
    let series = this.#numbers.get(name);
    if (series === undefined) {
      series = new Map();
      this.#numbers.set(name, series);
    }
    const number = Number(row.number.split("/")[2]);
    const other = series.get(number);
    must(
      other === undefined || other === row.id,
      () => `${row.id} and ${other} have the number ${row.number}`,
    );
    must(
      row.number.split("/")[1] === yearOf(row.issuedAtMs).slice(2),
      () => `${row.number} is of another year`,
    );
    series.set(number, row.id);
    // What credit paid for is the matter of the module that sells it; a fault that was planted for a night is none.
    if (row.kind === "statement" || row.reference.id.includes(PLANTED)) return;
    (row.kind === "credit_note" ? this.#notes : this.#invoices).add(row.reference.id);
  }

  paid(topupId: string): void {
    this.#paid.add(topupId);
  }

  refunded(refundId: string): void {
    this.#refunded.add(refundId);
  }

  /** @throws Deviation */
  check(store: Store): void {
    for (const [name, series] of this.#numbers) {
      const last = Math.max(...series.keys());
      must(last === series.size, () => `${name}: ${series.size} documents, the last number is ${last}`);
      const [prefix, year] = name.split(" ") as [string, string];
      const counted = store.table<number>("invoices.series").get([prefix, year]);
      must(counted === last, () => `${name}: counted to ${counted}, the last number is ${last}`);
    }
    same("paid top-ups", this.#paid, "invoices", this.#invoices);
    same("refunds", this.#refunded, "credit notes", this.#notes);
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#numbers].map(([name, series]) => [name, series.size]));
  }
}

function same(one: string, ones: ReadonlySet<string>, other: string, others: ReadonlySet<string>): void {
  const missing = [...ones].find((id) => !others.has(id));
  must(missing === undefined, () => `${missing} of the ${one} is not among the ${other}`);
  const extra = [...others].find((id) => !ones.has(id));
  must(extra === undefined, () => `${extra} of the ${other} is not among the ${one}`);
}
