/** Settings of analysts' statements: limits that none of them exceeds, and what they may choose themselves. */

export const ANALYST_SECONDS = 60;
export const ANALYST_MEMORY_BYTES = 1_000_000_000;
/** Read by one statement. */
export const ANALYST_ROWS_READ = 2_000_000_000;
export const ANALYST_RESULT_ROWS = 1_000_000;
export const ANALYST_RESULT_BYTES = 200_000_000;
/** Statements of one user, and of the embedded engine's users of one org together, that run at once. */
export const ANALYST_AT_ONCE = 3;

/** A statement that would exceed one fails, as ClickHouse does by default. */
export const ANALYST_LIMITS: readonly (readonly [string, string])[] = [
  ["max_execution_time", `${ANALYST_SECONDS}`],
  ["timeout_overflow_mode", "throw"],
  ["max_memory_usage", `${ANALYST_MEMORY_BYTES}`],
  ["max_rows_to_read", `${ANALYST_ROWS_READ}`],
  ["read_overflow_mode", "throw"],
  ["max_result_rows", `${ANALYST_RESULT_ROWS}`],
  ["max_result_bytes", `${ANALYST_RESULT_BYTES}`],
  ["result_overflow_mode", "throw"],
  ["max_temporary_data_on_disk_size_for_query", "2000000000"],
  ["max_threads", "2"],
  // They count rows that were read, including those of others in the same part of a file.
  ["output_format_write_statistics", "0"],
  // Behind the gateway's own statements.
  ["priority", "10"],
];

/**
 * What clients choose of formats and times. Not all of `output_format_`: one of them names a file that is written.
 * Other settings of a URL are left out, as clients send theirs with every statement.
 */
const OWN =
  /^(?:param_\w+|output_format_(?:json|csv|tsv|pretty|parquet|arrow|native|decimal|xml|values)\w*|format_csv_delimiter|date_time_output_format|join_use_nulls|group_by_use_nulls|session_timezone|max_block_size|extremes)$/;

export const chosenSettings = (given: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...given].filter(([name]) => OWN.test(name)));
