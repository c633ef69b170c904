/** Reads the rows of a table for an export. */

/** Rows read at once: between pages other work runs, and rows may be added and removed. */
const PAGE = 200;

/** @param read rows after one; lazily */
export function* paged<R>(
  read: (after: R | undefined) => Iterable<R>,
  wire: (row: R) => object,
): Generator<object> {
  for (let last: R | undefined; ; ) {
    const page: R[] = [];
    for (const row of read(last)) if (page.push(row) === PAGE) break;
    for (const row of page) yield wire(row);
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}
