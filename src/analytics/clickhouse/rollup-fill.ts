/**
 * Sums up older records into a new roll-up: those inserted before the roll-up's view. Gateways of the last release go on inserting:
 * every row is counted once, by the view or here. The view's own rows say with which batch of each gateway's run it began;
 * here are summed the batches before. May be repeated after a death at any statement, and one late statement of a holder that
 * has lost its turn changes nothing: each turn sums up into a table of its own, which the next turn drops; only a complete
 * one gets the name from which the sums are moved, partition by partition.
 *
 * Not counted: rows that a gateway of the release before inserts a second time (`spool_repaired`) after the summing has begun.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { quoted } from "../statements/literal.ts";
import type { RollUp } from "./rollups.ts";

export interface FillTarget {
  /** Checks the turn first. */
  command(sql: string): Promise<void>;
  /** Without checking the turn: only for tables that no other turn has. */
  unchecked(sql: string): Promise<void>;
  rows<T>(sql: string): Promise<T[]>;
}

const LOOK_MS = 100;

/** Tables that a fill leaves; the migration file after it drops them. */
export const fillNames = (table: string) => ({
  /** The first batch of each run that the view has summed; filled by a view on the roll-up, which the file of the roll-up makes. */
  first: `${table}_first`,
  filled: `${table}_filled`,
  /** How names of one turn's tables begin: its number follows. */
  fill: `${table}_fill_`,
});

/** @param turn number of this turn: no other fill of the database has it */
export async function fillRollUp(target: FillTarget, rollUp: RollUp, turn: number): Promise<void> {
  const { table } = rollUp;
  const { fill, filled } = fillNames(table);
  await dropOfEarlierTurns(target, fill);
  if (!(await exists(target, filled))) await sumUp(target, rollUp, turn);
  if (!(await exists(target, filled))) return;
  const partitions = await target.rows<{ id: string }>(
    `SELECT DISTINCT _partition_id AS id FROM ${filled} ORDER BY id`,
  );
  for (const { id } of partitions) {
    await target.command(`ALTER TABLE ${filled} MOVE PARTITION ID ${quoted(id)} TO TABLE ${table}`);
  }
}

async function sumUp(target: FillTarget, rollUp: RollUp, turn: number): Promise<void> {
  const { fill, filled } = fillNames(rollUp.table);
  const [mine, cuts] = [`${fill}${turn}`, `${fill}${turn}_cuts`];
  // An insertion that began before the view was made does not reach it.
  await insertionsEnded(target);
  if ((await target.rows("SELECT 1 AS is FROM requests LIMIT 1")).length === 0) return;
  try {
    await target.command(`CREATE TABLE ${cuts} (run String, below UInt64) ENGINE = MergeTree ORDER BY run`);
    await target.command(
      `INSERT INTO ${cuts} SELECT spool_run, max(spool_batch) + 1 FROM requests GROUP BY spool_run`,
    );
    // Rows of an insertion are in `requests` a moment before their sums are in the roll-up: those counted just now have arrived.
    await insertionsEnded(target);
    await target.command(`CREATE TABLE ${mine} AS ${rollUp.table}`);
    await target.command(summing(rollUp, mine, cuts));
    await target.command(`RENAME TABLE ${mine} TO ${filled}`);
  } finally {
    // Nobody else has these names.
    for (const name of [cuts, mine]) await target.unchecked(`DROP TABLE IF EXISTS ${name}`).catch(() => {});
  }
}

function summing({ table, columns, keys, from }: RollUp, into: string, cuts: string): string {
  const names = columns.map(([name]) => name);
  const { first } = fillNames(table);
  const cut = `(SELECT run, min(batch) AS below FROM (
      SELECT run, below AS batch FROM ${cuts} UNION ALL SELECT run, min(${first}.batch) AS batch FROM ${first} GROUP BY run
    ) GROUP BY run)`;
  const rows = `(SELECT requests.* FROM requests LEFT ANY JOIN ${cut} AS cut ON requests.spool_run = cut.run
    WHERE spool_repaired OR spool_batch < cut.below) AS requests`;
  return `INSERT INTO ${into} (${names.join(", ")})
    SELECT ${columns.map(([name, expression]) => `${expression} AS ${name}`).join(", ")}
    FROM ${from.replace(/^requests\b/, rows)} GROUP BY ${names.slice(0, keys).join(", ")}`;
}

/** Also ends the summing of a holder that died: it would go on for nothing. */
async function dropOfEarlierTurns(target: FillTarget, prefix: string): Promise<void> {
  const tables = await target.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, ${quoted(prefix)})`,
  );
  for (const { name } of tables) {
    await target
      .command(
        `KILL QUERY WHERE query_kind = 'Insert' AND current_database = currentDatabase()
          AND startsWith(query, ${quoted(`INSERT INTO ${name} `)}) ASYNC`,
      )
      // It may be refused to this user; the statement then ends by itself.
      .catch(() => {});
    await target.command(`DROP TABLE IF EXISTS ${name}`);
  }
}

async function exists(target: FillTarget, name: string): Promise<boolean> {
  const rows = await target.rows(
    `SELECT 1 AS is FROM system.tables WHERE database = currentDatabase() AND name = ${quoted(name)}`,
  );
  return rows.length > 0;
}

/** Resolves once all insertions that run now are over. Those of other users are seen only by a user with the right to. */
async function insertionsEnded(target: FillTarget): Promise<void> {
  const running = async () =>
    (
      await target.rows<{ id: string }>(
        `SELECT query_id AS id FROM system.processes WHERE query_kind = 'Insert'
          AND current_database = currentDatabase() AND query NOT LIKE 'INSERT INTO migration_turns%'`,
      )
    ).map(({ id }) => id);
  let awaited = await running();
  while (awaited.length > 0) {
    await sleep(LOOK_MS);
    const now = new Set(await running());
    awaited = awaited.filter((id) => now.has(id));
  }
}
