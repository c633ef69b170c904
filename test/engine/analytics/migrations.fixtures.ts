/** Databases of the release before, gateways of it that go on inserting, and gateways of this release that migrate. */
import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import type { TurnTarget, TurnTimes } from "../../../src/analytics/clickhouse/migration-turns.ts";
import { migrationFiles } from "../../../src/analytics/clickhouse/migrations.ts";
import { USAGE_TAGS } from "../../../src/analytics/clickhouse/rollups.ts";
import type { ServerAddress } from "../../../src/analytics/engine/engine.ts";
import { sumsOf } from "../../support/analytics/bench.ts";

/** A holder is given up soon, so that tests need not wait. */
export const SOON: TurnTimes = { lostAfterMs: 400, signEveryMs: 50, lookEveryMs: 10 };

export interface Database extends TurnTarget {
  readonly name: string;
  close(): Promise<void>;
}

/** @param isNew without any table; else with those of the release before */
export async function openDatabase(address: ServerAddress, name: string, isNew = false): Promise<Database> {
  const outside = createClient({ ...address, database: "default" });
  await outside.command({ query: `CREATE DATABASE IF NOT EXISTS ${name}` });
  await outside.close();
  const client = createClient({
    ...address,
    database: name,
    max_open_connections: 20,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const database: Database = {
    name,
    close: () => client.close(),
    command: async (query) =>
      void (await client.command({ query, clickhouse_settings: { flatten_nested: 1 } })),
    async rows<T>(query: string) {
      const clickhouse_settings = { output_format_json_quote_64bit_integers: 0 } as const;
      return await (await client.query({ query, format: "JSONEachRow", clickhouse_settings })).json<T>();
    },
  };
  if (!isNew) await makeBefore(database);
  return database;
}

const LAST_BEFORE = "0007";

async function makeBefore(database: Database): Promise<void> {
  await database.command(
    "CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime('UTC') DEFAULT now()) ENGINE = MergeTree ORDER BY name",
  );
  for (const { name, statements } of migrationFiles()) {
    if (name.slice(0, 4) > LAST_BEFORE) break;
    for (const statement of statements) await database.command(statement);
    await database.command(`INSERT INTO migrations (name) VALUES ('${name}')`);
  }
}

const ROWS = 20;

/** A gateway of the release before: batches of a run, one after another; rows of two months with two tags or none. */
export class OldGateway {
  readonly #database: TurnTarget;
  readonly #run: string;
  #batch = 0;
  #isOver = false;
  #going: Promise<void> = Promise.resolve();

  constructor(database: TurnTarget, run: string) {
    this.#database = database;
    this.#run = run;
  }

  get rows(): number {
    return this.#batch * ROWS;
  }

  async insert(batches = 1, seconds = 0): Promise<void> {
    for (let at = 0; at < batches; at++) {
      const batch = ++this.#batch;
      await this.#database.command(
        `INSERT INTO requests (request_id, ts, org_id, environment, status, input_tokens, cost_micro, charged, tags,
           spool_run, spool_batch, spool_repaired)
         SETTINGS async_insert = 0, insert_deduplicate = 1, insert_deduplication_token = '${this.#run}-${batch}',
           deduplicate_blocks_in_dependent_materialized_views = 1
         SELECT concat('${this.#run}-${batch}-', toString(number)), now64(3) - toIntervalDay(number % 2 * 40), 'org_a', 'live',
           'ok', number + sleep(${seconds}), 10, true,
           if(${batch} % 5 = 0, map(), map('team', toString(number % 3), 'run', '${this.#run}')), '${this.#run}', ${batch}, false
         FROM numbers(${ROWS})`,
      );
    }
  }

  /** Inserts until stopped. */
  start(): this {
    this.#going = (async () => {
      while (!this.#isOver) await this.insert();
    })();
    return this;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#going;
  }
}

/** What the sums by tag say, and what the records sum up to. */
export async function tagSums(database: TurnTarget): Promise<{ stored: unknown[]; summed: unknown[] }> {
  const { sums, again } = sumsOf(USAGE_TAGS, "1 = 1");
  return { stored: await database.rows(sums), summed: await database.rows(again) };
}

/**
 * A gateway that stops at its nth statement (from 0) as a paused or a killed process does: before it is sent, or with its answer
 * lost. `resume` lets it go on.
 */
export function pausedAt(target: TurnTarget, nth: number, isSent: boolean) {
  const sent: string[] = [];
  let isReached = false;
  let resume = () => {};
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  let reached = () => {};
  const at = new Promise<void>((resolve) => {
    reached = resolve;
  });
  async function pass<T>(sql: string, send: () => Promise<T>): Promise<T> {
    if (isReached) {
      // Also the timer of such a process stands still.
      await resumed;
      return await send();
    }
    isReached = sent.push(sql) > nth;
    if (!isReached) return await send();
    const answer = isSent ? await send() : undefined;
    reached();
    await resumed;
    return answer ?? (await send());
  }
  const isOfAct = (sql: string) => !sql.includes("migration_turns");
  return {
    at,
    resume,
    /** In their order, without those that take and keep a turn. */
    statements: (): readonly string[] => sent,
    target: {
      rows: <T>(sql: string) => (isReached ? pass(sql, () => target.rows<T>(sql)) : target.rows<T>(sql)),
      command: (sql: string) =>
        isOfAct(sql) || isReached ? pass(sql, () => target.command(sql)) : target.command(sql),
    } satisfies TurnTarget,
  };
}
