/**
 * How many threads the embedded engine has, and how often one that polls does so. Each holds three files of /proc open for its counters, so this bounds the engine's
 * descriptors, too: by ClickHouse's defaults for servers it kept a thousand idle threads, and had one for each core and statement.
 */

/** Settings of the engine, not of a statement: https://clickhouse.com/docs/operations/server-configuration-parameters/settings */
const LIMITS: Readonly<Record<string, number>> = {
  // All statements together; each has at least one.
  concurrent_threads_soft_limit_num: 16,
  // Idle ones that are kept for the next statement.
  max_thread_pool_free_size: 8,
  // What these have once begun is never ended.
  threadpool_local_fs_reader_pool_size: 8,
  threadpool_writer_pool_size: 8,
  load_marks_threadpool_pool_size: 8,
  prefetch_threadpool_pool_size: 8,
  // At the start, where tables have many parts, and where many are removed at once.
  max_active_parts_loading_thread_pool_size: 8,
  max_outdated_parts_loading_thread_pool_size: 4,
  max_unexpected_parts_loading_thread_pool_size: 2,
  max_parts_cleaning_thread_pool_size: 8,
  // Parts of rows that are read or written at once.
  max_io_thread_pool_size: 16,
  max_format_parsing_thread_pool_size: 8,
  max_prefixes_deserialization_thread_pool_size: 8,
  // Merges at once: one takes a processor for tenths of a second, and on a large machine there would be one for each core.
  background_pool_size: 2,
  // A thread that only watches how much memory there is, twenty times a second by default: 40 % of what the engine takes at rest.
  memory_worker_period_ms: 1000,
};

/** Elements of the engine's configuration. */
export const THREAD_LIMITS: string = Object.entries(LIMITS)
  .map(([name, value]) => `<${name}>${value}</${name}>`)
  .join("");
