/** An org's whole ledger, as the API shows it. */
import type { Book } from "./book.ts";
import { entryWire } from "./operations.ts";
import { pageEnd } from "./shown-list.ts";

const PAGE = 500;

/** Newest first. @param missing is told from when on (milliseconds since 1970) charges may be missing */
export async function* wholeLedger(
  book: Pick<Book, "list">,
  orgId: string,
  missing: (sinceMs: number) => void,
): AsyncGenerator<object> {
  for (let before: number | undefined; ; ) {
    const { entries, missingSinceMs } = await book.list(orgId, { limit: PAGE, before });
    if (missingSinceMs !== undefined) missing(missingSinceMs);
    for (const entry of entries) yield entryWire(entry);
    const last = entries.at(-1);
    if (last === undefined || entries.length < PAGE) return;
    before = pageEnd(last);
  }
}
