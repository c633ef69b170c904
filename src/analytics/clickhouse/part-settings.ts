/**
 * How the embedded engine stores and merges the parts of its tables. ClickHouse's defaults are for many rows an insertion and
 * many insertions at once; the gateway inserts up to a few thousand rows every three to ten seconds, and with the defaults merging them
 * cost more than inserting them (docs/performance.md). Not applied to a server: its operator decides, and an older one does
 * not know these settings.
 */
import { ROLL_UPS } from "./rollups.ts";

/** Parts are merged twenty at a time, so that a row is written again half as often as with ClickHouse's base of 5. */
const MERGING = "min_parts_to_merge_at_once = 20, merge_selector_base = 20";

/** `requests` has a hundred columns: below this size a part is one file, and not several for each column. */
const ONE_FILE = `min_bytes_for_wide_part = ${100 * 1024 * 1024}`;

/** Statements to run at each start, after the migrations. */
export const PART_SETTINGS: readonly string[] = [
  `ALTER TABLE requests MODIFY SETTING ${MERGING}, ${ONE_FILE}`,
  ...["payloads", "shadow_runs", "ledger", ...ROLL_UPS.map(({ table }) => table)].map(
    (table) => `ALTER TABLE ${table} MODIFY SETTING ${MERGING}`,
  ),
];
