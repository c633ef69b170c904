/** How rows are inserted by HTTP: as one block, so that a token stands for all of them. */
import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";

/** Settings of an insertion whose token covers all of its rows. */
export const ONE_BLOCK = {
  async_insert: 0,
  insert_deduplicate: 1,
  // For the roll-ups: when a batch was inserted in part, the rest is added there too, and nothing is counted twice.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  max_insert_block_size: "1000000",
  max_partitions_per_insert_block: "0",
} as const;

/** Sends the parts, one after another; resolves with the whole answer. */
export async function send(
  client: ClickHouseClient,
  query: string,
  parts: readonly Uint8Array[],
  options: Pick<Parameters<ClickHouseClient["exec"]>[0], "query_id" | "clickhouse_settings">,
): Promise<void> {
  const values = Readable.from(parts, { objectMode: false });
  const { stream } = await client.exec({ query, values, ...options });
  stream.resume();
  await new Promise<void>((resolve, reject) => {
    stream.once("end", resolve).once("close", resolve).once("error", reject);
  });
}
