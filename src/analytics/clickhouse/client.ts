/**
 * The only access to the analytics database: ClickHouse's official client, for a server or for the embedded engine.
 * Creates and migrates the database at the first request, and again when the engine has restarted at another address.
 */
import type { Readable } from "node:stream";
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { OWN_HEADER } from "../engine/catch-up.ts";
import type { ServerAddress } from "../engine/engine.ts";
import { tooLarge, unavailable } from "./client-errors.ts";
import { FileInsertion, ONE_BLOCK, send } from "./client-insert.ts";
import { forCluster, localOf, questionForCluster } from "./cluster.ts";
import type { TurnTimes } from "./migration-turns.ts";
import { migrate } from "./migrations.ts";
import type { RowFiles } from "./row-files.ts";
import { StagedFile, StagedParts, type StagedRows } from "./staged-rows.ts";

/** The public side of a connection, which another may stand in for. */
export type ClickHouse = Pick<Connection, keyof Connection>;

export interface StreamAs {
  readonly format: "CSVWithNames" | "JSONEachRow" | "Parquet";
  /** Ends the statement. */
  readonly signal: AbortSignal;
  readonly limits?: QueryLimits;
}

/** What one SELECT may take. */
export interface QueryLimits {
  readonly memoryBytes: number;
  readonly readRows: number;
  readonly seconds: number;
  readonly threads: number;
}

/** The names of an insertion. */
export interface Target {
  /** `insert_deduplication_token` */
  readonly token: string;
  /** A server does not run two statements with the same id at once. */
  readonly queryId: string;
}

export interface ClickHouseOptions {
  /** Called before each use: the address may change when the engine restarts. */
  readonly address: () => Promise<ServerAddress>;
  readonly database: string;
  /** Name of the cluster over whose servers the tables are. Default: one server has them. */
  readonly cluster?: string | undefined;
  readonly requestTimeoutMs?: number;
  /** For an engine that reads files of this machine. Without it rows are sent by HTTP. */
  readonly rowFiles?: RowFiles | undefined;
  /** Statements that follow the migrations, at each start: they may be repeated. */
  readonly afterMigrations?: readonly string[];
  /** Times of the turns that gateways take at migrating. */
  readonly turnTimes?: TurnTimes;
}

const REQUEST_TIMEOUT_MS = 60_000;
/** Longest time of one statement of a migration: one that fills a new roll-up reads every record. */
const MIGRATION_TIMEOUT_MS = 3_600_000;
/** Statements that list the ids of a batch are longer than ClickHouse's default limit. */
const MAX_QUERY_BYTES = "1000000";

export function openClickHouse(options: ClickHouseOptions): ClickHouse {
  return new Connection(options);
}

class Connection {
  readonly #options: ClickHouseOptions;
  readonly #files = new FileInsertion();
  #client: ClickHouseClient | undefined;
  #url = "";
  #migrated: Promise<void> | undefined;
  #live = false;

  constructor(options: ClickHouseOptions) {
    this.#options = options;
  }

  /**
   * Rows of a SELECT; `params` bind `{name:Type}`. @throws WeirError `analytics_unavailable` if ClickHouse cannot be
   * reached, `query_too_large` beyond the limits
   */
  rows<T>(sql: string, params: Record<string, unknown> = {}, limits?: QueryLimits): Promise<T[]> {
    return this.#ask(limits, async (client) => {
      const result = await client.query({
        query: this.#question(sql),
        format: "JSONEachRow",
        query_params: params,
        clickhouse_settings: {
          output_format_json_quote_64bit_integers: 0,
          max_execution_time: 30,
          max_query_size: MAX_QUERY_BYTES,
          ...settingsOf(limits),
        },
      });
      return await result.json<T>();
    });
  }

  /** Rows of a SELECT as RowBinary, in chunks that each own their memory, so that they can be transferred to a thread. */
  bytes(
    sql: string,
    params: Record<string, unknown>,
    limits?: QueryLimits,
  ): Promise<Uint8Array<ArrayBuffer>[]> {
    return this.#ask(limits, async (client) => {
      const { stream } = await client.exec({
        query: `${sql} FORMAT RowBinary`,
        query_params: params,
        // The server then reports an error as a status, never in the middle of the rows.
        clickhouse_settings: { max_execution_time: 30, wait_end_of_query: 1, ...settingsOf(limits) },
      });
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      for await (const chunk of stream) pieces.push(new Uint8Array(chunk as Buffer));
      return pieces;
    });
  }

  /**
   * The answer of a SELECT in a format, as it is read: while it is not read, ClickHouse waits. Its end, also before the last
   * row, ends the statement. @throws WeirError `analytics_unavailable`, `query_too_large` before the first part
   */
  stream(
    sql: string,
    params: Record<string, unknown>,
    { format, signal, limits }: StreamAs,
  ): Promise<AsyncIterable<Uint8Array>> {
    return this.#ask(limits, async () => {
      // A client of its own: a reader that pauses keeps its socket idle for longer than other statements may take.
      const address = await this.#options.address();
      const client = this.#create(address, this.#options.database, STREAM_MS);
      try {
        const { stream } = await client.exec({
          query: `${sql} FORMAT ${format}`,
          query_params: params,
          abort_signal: signal,
          clickhouse_settings: {
            ...settingsOf(limits),
            max_execution_time: STREAM_MS / 1000,
            cancel_http_readonly_queries_on_client_close: 1,
            readonly: "2",
          },
        });
        return untilClosed(stream, client);
      } catch (error) {
        await client.close();
        throw error;
      }
    });
  }

  /** A place for RowBinary rows that are to be inserted: a file where the engine reads files, else memory. */
  readonly stage = (): StagedRows => this.#options.rowFiles?.stage() ?? new StagedParts();

  /**
   * Inserts RowBinary rows, staged here or given in any number of parts. ClickHouse inserts nothing under a token that it has seen. If it
   * was killed during an insertion, it may have stored the token without the rows: see `delivery.ts`.
   */
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly Uint8Array[] | StagedRows,
    { token, queryId }: Target,
  ): Promise<void> {
    const statement = `INSERT INTO ${this.#cluster === undefined ? table : localOf(table)} (${columns.map((name) => `\`${name}\``).join(", ")})`;
    const options = {
      query_id: queryId,
      clickhouse_settings: { ...ONE_BLOCK, insert_deduplication_token: token },
    };
    return this.#contact((client) =>
      this.#withStaged(rows, async (staged) => {
        if (staged instanceof StagedParts)
          return await send(client, `${statement} FORMAT RowBinary`, staged.parts, options);
        await this.#files.insert(client, { table, columns, statement }, staged, options);
      }),
    );
  }

  /** Rows that are not staged yet are staged for `use` alone. */
  async #withStaged(
    rows: readonly Uint8Array[] | StagedRows,
    use: (staged: StagedRows) => Promise<void>,
  ): Promise<void> {
    if (rows instanceof StagedFile || rows instanceof StagedParts) return await use(rows);
    const staged = this.stage();
    try {
      for (const part of rows) await staged.add(part);
      await use(staged);
    } finally {
      await staged.drop();
    }
  }

  /** Runs an `INSERT … SELECT`; `params` bind `{name:Type}`. */
  insertSelect(sql: string, params: Record<string, unknown>, { token, queryId }: Target): Promise<void> {
    return this.#contact(async (client) => {
      await client.command({
        query: this.#statements(sql).join(";"),
        query_params: params,
        query_id: queryId,
        clickhouse_settings: {
          insert_deduplicate: 1,
          insert_deduplication_token: token,
          // One block, so that each partition gets one part.
          max_threads: 1,
          max_insert_threads: "1",
          max_query_size: MAX_QUERY_BYTES,
        },
      });
    });
  }

  /** Runs a statement that changes tables, such as ALTER; a mutation goes on in the background. */
  command(sql: string): Promise<void> {
    return this.#contact(async (client) => {
      for (const query of this.#statements(sql)) {
        await client.command({
          query,
          clickhouse_settings: { mutations_sync: "0", max_query_size: MAX_QUERY_BYTES },
        });
      }
    });
  }

  /** @throws WeirError `analytics_unavailable` while a statement with this id still runs on the server */
  ended(queryId: string): Promise<void> {
    return this.#contact((client) => client.command({ query: "SELECT 1", query_id: queryId }).then(() => {}));
  }

  /** For replicated tables: resolves once the replica that answers has all rows of every replica. */
  synced(tables: readonly string[]): Promise<void> {
    return this.#contact(async (client) => {
      const result = await client.query({
        query: `SELECT name FROM system.tables WHERE database = currentDatabase()
          AND has({tables:Array(String)}, name) AND match(engine, '^(Replicated|Shared)')`,
        format: "JSONEachRow",
        query_params: { tables: [...tables, ...tables.map(localOf)] },
      });
      for (const { name } of await result.json<{ name: string }>()) {
        await client.command({ query: `SYSTEM SYNC REPLICA ${name}` });
      }
    });
  }

  /** Resolves when the database exists and is migrated. @throws WeirError `analytics_unavailable` */
  ready(): Promise<void> {
    return this.#contact(async () => {});
  }

  /** Whether the last request succeeded. */
  live(): boolean {
    return this.#live;
  }

  async close(): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
  }

  get #cluster() {
    const { cluster, database } = this.#options;
    return cluster === undefined ? undefined : { name: cluster, database };
  }

  #statements(sql: string): string[] {
    return this.#cluster === undefined ? [sql] : forCluster(sql, this.#cluster);
  }

  #question(sql: string): string {
    return this.#cluster === undefined ? sql : questionForCluster(sql, this.#cluster);
  }

  #ask<T>(limits: QueryLimits | undefined, act: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    if (limits === undefined) return this.#contact(act);
    return this.#contact((client) =>
      act(client).catch((error: unknown) => {
        throw tooLarge(error) ?? error;
      }),
    );
  }

  async #contact<T>(act: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    try {
      const client = await this.#connected();
      const value = await act(client);
      this.#live = true;
      return value;
    } catch (error) {
      const failure = unavailable(error);
      if (failure?.kind === "analytics_unavailable") this.#live = false;
      throw failure ?? error;
    }
  }

  async #connected(): Promise<ClickHouseClient> {
    const address = await this.#options.address();
    let client = this.#client;
    if (client === undefined || address.url !== this.#url) {
      // No await since the address was known: of two simultaneous first callers, the second uses this client and its
      // migration.
      client?.close().catch(() => {});
      client = this.#create(address, this.#options.database);
      this.#client = client;
      this.#url = address.url;
      this.#migrated = undefined;
    }
    this.#migrated ??= this.#migrate(address, client).catch((error) => {
      this.#migrated = undefined;
      throw error;
    });
    await this.#migrated;
    return client;
  }

  async #migrate(address: ServerAddress, client: ClickHouseClient): Promise<void> {
    const outside = this.#create(address, "default");
    try {
      const made = `CREATE DATABASE IF NOT EXISTS \`${this.#options.database}\``;
      for (const query of this.#statements(made)) await outside.command({ query });
    } finally {
      await outside.close();
    }
    const patient = this.#create(address, this.#options.database, MIGRATION_TIMEOUT_MS);
    // Columns of a Nested become arrays called `name.part`, whatever the server's profile sets.
    const clickhouse_settings = {
      flatten_nested: 1,
      max_execution_time: MIGRATION_TIMEOUT_MS / 1000,
    } as const;
    const command = async (sql: string) => {
      for (const query of this.#statements(sql)) await patient.command({ query, clickhouse_settings });
    };
    try {
      const rows = async <T>(query: string) => {
        const settings = { output_format_json_quote_64bit_integers: 0 } as const;
        const common = /\bFROM (migrations|migration_turns)\b/.exec(query)?.[1];
        // What another server was told is read only once it has come here.
        if (this.#cluster !== undefined && common !== undefined) {
          await client.command({ query: `SYSTEM SYNC REPLICA ${common}` });
        }
        const asked = {
          query: this.#question(query),
          format: "JSONEachRow",
          clickhouse_settings: settings,
        } as const;
        return await (await client.query(asked)).json<T>();
      };
      await migrate({ command, rows }, { times: this.#options.turnTimes });
      for (const statement of this.#options.afterMigrations ?? []) await command(statement);
    } finally {
      await patient.close();
    }
  }

  #create(
    { url, username, password }: ServerAddress,
    database: string,
    timeoutMs = this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
  ): ClickHouseClient {
    return createClient({
      url,
      username,
      password,
      database,
      application: "weir",
      http_headers: { [OWN_HEADER]: "1" },
      // A question with a subquery over another distributed table is answered for all shards.
      ...(this.#cluster !== undefined && { clickhouse_settings: { distributed_product_mode: "global" } }),
      request_timeout: timeoutMs,
      max_open_connections: 8,
      keep_alive: { enabled: true, idle_socket_ttl: 2000 },
      // Callers log failures, once.
      log: { level: ClickHouseLogLevel.OFF },
    });
  }
}

/** A stream may take so long, its reader's pauses included. */
export const STREAM_MS = 3_600_000;

async function* untilClosed(stream: Readable, client: ClickHouseClient) {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } finally {
    stream.destroy();
    await client.close();
  }
}

const settingsOf = (limits: QueryLimits | undefined) =>
  limits && {
    max_memory_usage: String(limits.memoryBytes),
    max_rows_to_read: String(limits.readRows),
    max_execution_time: limits.seconds,
    max_threads: limits.threads,
  };
