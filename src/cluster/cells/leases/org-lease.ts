/** What a cell has leased of one org's credit. */
import { Lease } from "./lease.ts";

export class OrgLease extends Lease {
  readonly kind = "credit";

  /** An org's credit is the same, whatever calls come with. */
  protected override get isAnswerCurrent(): boolean {
    return true;
  }
}
