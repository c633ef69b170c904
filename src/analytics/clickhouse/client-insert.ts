/** How rows are inserted: as one block, so that a token stands for all of them. */
import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { quoted } from "../statements/literal.ts";
import type { StagedFile } from "./staged-rows.ts";

/** Settings of an insertion whose token covers all of its rows. */
export const ONE_BLOCK = {
  async_insert: 0,
  insert_deduplicate: 1,
  // For the roll-ups: when a batch was inserted in part, the rest is added there too, and nothing is counted twice.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  max_insert_block_size: "1000000",
  max_partitions_per_insert_block: "0",
} as const;

/** The same for rows that a SELECT gives, which ClickHouse would cut into blocks of 65,409 rows, and insert whatever their token is. */
const ONE_SELECTED_BLOCK: Readonly<Record<string, string>> = {
  deduplicate_insert_select: "enable_even_for_bad_queries",
  max_block_size: "1000000",
  min_insert_block_size_rows: "1000000",
  min_insert_block_size_bytes: "0",
  max_threads: "1",
  max_insert_threads: "1",
};

type SendOptions = Pick<Parameters<ClickHouseClient["exec"]>[0], "query_id" | "clickhouse_settings">;

/** Where rows go. */
interface Into {
  readonly table: string;
  readonly columns: readonly string[];
  /** `INSERT INTO …` with the columns. */
  readonly statement: string;
}

/**
 * Inserts rows that are in files which the engine reads. The engine reads a column of type `LowCardinality(String)` as `String`, and converts
 * the column at once. If it read that type directly, it would make a small column for each value: that took a third of an insertion into
 * `requests`.
 */
export class FileInsertion {
  /** Name and type of each column as the files have it, by table. */
  readonly #types = new Map<string, ReadonlyMap<string, string>>();

  /** @throws what the client throws */
  async insert(client: ClickHouseClient, into: Into, file: StagedFile, options: SendOptions): Promise<void> {
    const types = await this.#typesOf(client, into.table);
    const structure = into.columns.map((name) => `\`${name}\` ${types.get(name) ?? "String"}`).join(", ");
    await file.close();
    await client.command({
      query: `${into.statement} SELECT * FROM file(${quoted(file.path)}, 'RowBinary', ${quoted(structure)})`,
      ...options,
      clickhouse_settings: { ...options.clickhouse_settings, ...ONE_SELECTED_BLOCK },
    });
  }

  async #typesOf(client: ClickHouseClient, table: string): Promise<ReadonlyMap<string, string>> {
    const known = this.#types.get(table);
    if (known !== undefined) return known;
    const result = await client.query({
      query:
        "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}",
      format: "JSONEachRow",
      query_params: { table },
    });
    const columns = await result.json<{ readonly name: string; readonly type: string }>();
    const types = new Map(
      columns.map(({ name, type }) => [name, type.replaceAll("LowCardinality(String)", "String")]),
    );
    this.#types.set(table, types);
    return types;
  }
}

/** Sends the parts, one after another; resolves with the whole answer. */
export async function send(
  client: ClickHouseClient,
  query: string,
  parts: readonly Uint8Array[],
  options: SendOptions,
): Promise<void> {
  const values = Readable.from(parts, { objectMode: false });
  const { stream } = await client.exec({ query, values, ...options });
  stream.resume();
  await new Promise<void>((resolve, reject) => {
    stream.once("end", resolve).once("close", resolve).once("error", reject);
  });
}
