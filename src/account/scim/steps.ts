/**
 * How much work a filter or a PATCH may do. The work is counted, so that what a hostile request costs does not depend on
 * the machine, and a test can hold it.
 */
import { scimFail } from "./error.ts";

/** Values compared and characters read, for one filter over all resources, or for one PATCH. About 0.1 s of a slow core. */
export const MAX_STEPS = 1_000_000;

export class Steps {
  taken = 0;
  readonly most: number;

  constructor(most = MAX_STEPS) {
    this.most = most;
  }

  /** Counts work before it is done. @throws ScimError `tooMany` above the limit */
  take(count: number): void {
    this.taken += count;
    if (this.taken > this.most) throw scimFail("tooMany", "The request needs too many comparisons.");
  }
}
