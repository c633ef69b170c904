/** What an analyst's statement may read: the documented tables, and what describes them and the engine. */
import { COMMON_TABLES, ORG_TABLES, ORG_VIEWS } from "./engine-access.ts";

const DATABASE = "weir";
const DOCUMENTED: ReadonlySet<string> = new Set([...ORG_TABLES, ...ORG_VIEWS, ...COMMON_TABLES]);

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Tables of the engine that may be read, with their columns that tell of the rows of all orgs, which may not. */
const DESCRIBING: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "system.tables",
    names(`
      total_rows total_bytes total_bytes_uncompressed parts active_parts total_marks
      active_on_fly_data_mutations active_on_fly_alter_mutations active_on_fly_metadata_mutations
      columns_descriptions_cache_size lifetime_rows lifetime_bytes`),
  ],
  [
    "system.columns",
    names("data_compressed_bytes data_uncompressed_bytes marks_bytes serialization_hint statistics"),
  ],
  ["information_schema.tables", names("table_rows data_length index_length")],
  ...names(`
    one numbers numbers_mt zeros zeros_mt databases settings functions formats data_type_families table_engines
    time_zones keywords collations aggregate_function_combinators`).map(
    (name) => [`system.${name}`, []] as const,
  ),
  ...names(`
    schemata columns views key_column_usage referential_constraints statistics collations engines
    character_sets`).map((name) => [`information_schema.${name}`, []] as const),
]);

export interface ReadableTable {
  /** Columns that may not be read. */
  readonly hidden: readonly string[];
}

/**
 * @param name as the statement has it; without a database it is one of the gateway's
 * @returns undefined if the table may not be read
 */
export function readableTable(name: string): ReadableTable | undefined {
  const [first = "", second, ...rest] = name.split(".");
  if (second === undefined) return DOCUMENTED.has(first) ? { hidden: [] } : undefined;
  if (rest.length > 0) return undefined;
  if (first === DATABASE) return DOCUMENTED.has(second) ? { hidden: [] } : undefined;
  // Database, tables and columns are there twice, in either case.
  const isStandard = /^(?:information_schema|INFORMATION_SCHEMA)$/.test(first);
  const hidden = DESCRIBING.get(isStandard ? name.toLowerCase() : name);
  return hidden === undefined ? undefined : { hidden };
}

/** Whether a name that begins so may be that of a table, not of a column of a table. */
export const isDatabase = (name: string): boolean =>
  [DATABASE, "system", "information_schema", "default", "_temporary_and_external_tables"].includes(
    name.toLowerCase(),
  );

/** Tables of the engine that may be read, for the documentation and its test. */
export const describingTables = (): readonly string[] => [...DESCRIBING.keys()];

/**
 * Columns that every table has beside those of its definition. They tell of parts, which hold the rows of all orgs: the rows of one
 * org have gaps in their offsets where those of others are.
 * https://clickhouse.com/docs/engines/table-engines/mergetree-family/mergetree#virtual-columns
 */
const ADDED: ReadonlySet<string> = new Set(
  names(`
    _part _part_index _part_starting_offset _part_uuid _partition_id _partition_value _sample_factor _part_offset
    _part_granule_offset _part_data_version _disk_name _distance _table _database _row_exists _block_number _block_offset`),
);

/** @param name of a column, without that of a table */
export const isAddedColumn = (name: string): boolean => ADDED.has(name.toLowerCase());
