/**
 * Whose calls fail, and whose are answered: failures of one org alone, while others are answered at the same place, come from what
 * that org sends. In memory of a fixed size, for it is asked for each failure. Where all calls are of one org, nothing contradicts.
 */

/** So long an answer to another org, and a failure of another one, say something of now. */
export const RECENT_MS = 10_000;

interface Seen {
  orgId: string;
  /** Monotonic. */
  atMs: number;
}

/** The two orgs that were seen last, the newest first: one of them is another one than any org. */
type LastTwo = [Seen, Seen];

export class Evidence {
  readonly #answered: LastTwo = [never(), never()];
  readonly #failed: LastTwo = [never(), never()];

  answered(orgId: string, nowMs: number): void {
    note(this.#answered, orgId, nowMs);
  }

  /** A call of this org failed. @returns whether only its calls do, while another org's were answered a moment ago */
  isContradicted(orgId: string, nowMs: number): boolean {
    note(this.#failed, orgId, nowMs);
    return isOther(this.#answered, orgId, nowMs) && !isOther(this.#failed, orgId, nowMs);
  }
}

const never = (): Seen => ({ orgId: "", atMs: Number.NEGATIVE_INFINITY });

/** Makes nothing new: it runs for each call that is answered. */
function note(two: LastTwo, orgId: string, atMs: number): void {
  const [newest, older] = two;
  if (newest.orgId === orgId) {
    newest.atMs = atMs;
    return;
  }
  two[0] = older;
  two[1] = newest;
  older.orgId = orgId;
  older.atMs = atMs;
}

const isOther = (two: LastTwo, orgId: string, nowMs: number): boolean =>
  (two[0].orgId !== orgId && nowMs - two[0].atMs < RECENT_MS) ||
  (two[1].orgId !== orgId && nowMs - two[1].atMs < RECENT_MS);
