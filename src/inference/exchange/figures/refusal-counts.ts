/** Counts what providers refused: by the row of the table of refusals, and what no row matched by provider. */
import type { AttemptRecord } from "../../../record/record.ts";
import { isUnmatched } from "../../upstream/refusals/unmatched.ts";
import { NameCounts } from "./name-counts.ts";

export class RefusalCounts {
  /** There are as many rows as the table has. */
  readonly #byRow = new Map<string, number>();
  readonly #unmatched = new NameCounts();

  /** @param attempt one that failed */
  count(attempt: AttemptRecord): void {
    const { refusal, provider } = attempt;
    if (refusal !== "") this.#byRow.set(refusal, (this.#byRow.get(refusal) ?? 0) + 1);
    else if (isUnmatched(attempt)) this.#unmatched.count(provider);
  }

  byRow(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#byRow);
  }

  /** By provider. */
  unmatched(): Readonly<Record<string, number>> {
    return this.#unmatched.all();
  }
}
