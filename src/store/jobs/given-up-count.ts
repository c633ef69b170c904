/** Number of given-up jobs, for the metrics. It is counted in slices: a start waits for none of them. */
import { nextTurn } from "../../base/clock.ts";
import type { GivenUpKey, JobTables } from "./job-tables.ts";

/** Rows of one turn of the event loop: about a millisecond. */
const SLICE = 500;

export class GivenUpCount {
  readonly #tables: JobTables;
  #value = 0;
  #last: GivenUpKey | undefined;
  #hasAll = false;

  constructor(tables: JobTables) {
    this.#tables = tables;
    tables.watchGivenUp((key, isAdded) => {
      // One that lies ahead is counted when the count comes there.
      if (this.#isCounted(key)) this.#value += isAdded ? 1 : -1;
    });
    this.#step();
  }

  /** Too low until `finish` has resolved. */
  get value(): number {
    return this.#value;
  }

  async finish(isStopped: () => boolean): Promise<void> {
    while (!this.#hasAll && !isStopped()) {
      await nextTurn();
      this.#step();
    }
  }

  #step(): void {
    const keys = [...this.#tables.givenUpKeys(this.#last, { limit: SLICE + 1 })];
    this.#value += keys.length;
    this.#last = keys.at(-1) ?? this.#last;
    this.#hasAll = keys.length < SLICE;
  }

  #isCounted(key: GivenUpKey): boolean {
    return this.#hasAll || (this.#last !== undefined && !isBehind(key, this.#last));
  }
}

/** In the order of the table. */
function isBehind(key: GivenUpKey, last: GivenUpKey): boolean {
  const at = key.findIndex((part, i) => part !== last[i]);
  return at >= 0 && (key[at] as string | number) > (last[at] as string | number);
}
