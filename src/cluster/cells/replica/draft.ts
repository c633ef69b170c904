/**
 * Writes of acts that are not committed: reads of the same act, and of acts that run after it in the same group, see them on top of
 * the rows below.
 */
import type { Write } from "../../../store/journal/frame.ts";
import { overlaid, type Row } from "../../../store/journal/overlay.ts";
import { keyText, type Range, type StoreKey } from "../../../store/tables/table.ts";

export class Draft {
  readonly #tables = new Map<string, Map<string, Write>>();

  get isWritten(): boolean {
    return this.#tables.size > 0;
  }

  put(write: Write): void {
    const rows = this.#tables.get(write.table);
    if (rows === undefined) this.#tables.set(write.table, new Map([[write.text, write]]));
    else rows.set(write.text, write);
  }

  find(table: string, key: StoreKey): Write | undefined {
    return this.#tables.get(table)?.get(keyText(key));
  }

  /** Adds the writes of a later act. */
  add(later: Draft): void {
    for (const write of later.writes()) this.put(write);
  }

  /** One a key, by table. */
  *writes(): Generator<Write> {
    for (const rows of this.#tables.values()) yield* rows.values();
  }

  /** The rows of a range with this draft on top. @param rows without the range's limit, which the caller applies */
  over(table: string, rows: Iterable<Row>, range: Range): Iterable<Row> {
    const own = this.#tables.get(table);
    return own === undefined ? rows : overlaid(rows, own.values(), range);
  }
}
