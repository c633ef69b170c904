/**
 * Migrates the analytics database to this release: numbered files of `migrations/`, each applied once and recorded. Only one
 * gateway migrates at a time (`migration-turns.ts`). Its death, at any statement, can be repaired by the next: statements
 * may be repeated (`IF NOT EXISTS`), and a late one of a holder that has lost its turn must change nothing that a later file
 * has made. So no two files set the query of the same view, and nothing is truncated.
 */
import { readdirSync, readFileSync } from "node:fs";
import { type Clock, systemClock } from "../../base/clock.ts";
import { inTurn, type Turn, type TurnTarget, type TurnTimes } from "./migration-turns.ts";
import { fillRollUp } from "./rollup-fill.ts";
import { type RollUp, USAGE_TAGS } from "./rollups.ts";

export interface MigrationOptions {
  readonly clock?: Clock;
  readonly times?: TurnTimes | undefined;
}

const FOLDER = new URL("../migrations/", import.meta.url);

/** Files that make a roll-up. After its statements, the records that there are already are summed up into the roll-up. */
const FILLS: Readonly<Record<string, RollUp>> = { "0008_usage_tags.sql": USAGE_TAGS };

/** A statement with such a comment is left out if the SELECT gives no row. */
const ONLY_IF = /^-- Only if: (SELECT .+)$/m;

/** Resolves when all files are applied, by whichever gateway. @throws what the target throws */
export async function migrate(target: TurnTarget, options: MigrationOptions = {}): Promise<void> {
  await target.command(
    `CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime('UTC') DEFAULT now())
     ENGINE = MergeTree ORDER BY name`,
  );
  const files = migrationFiles();
  const lacking = async () => {
    const rows = await target.rows<{ name: string }>("SELECT name FROM migrations");
    const applied = new Set(rows.map(({ name }) => name));
    return files.filter(({ name }) => !applied.has(name));
  };
  const isDone = async () => (await lacking()).length === 0;
  if (await isDone()) return;
  await inTurn(target, { clock: systemClock, ...options }, isDone, async (turn) => {
    for (const file of await lacking()) await apply(target, turn, file);
  });
}

interface MigrationFile {
  readonly name: string;
  readonly statements: readonly string[];
}

async function apply(target: TurnTarget, turn: Turn, { name, statements }: MigrationFile): Promise<void> {
  const checked = {
    rows: <T>(sql: string) => target.rows<T>(sql),
    unchecked: (sql: string) => target.command(sql),
    async command(sql: string) {
      await turn.check();
      await target.command(sql).catch(async (error: unknown) => {
        // An error says nothing where the turn was taken over meanwhile.
        await turn.check();
        throw error;
      });
    },
  };
  for (const statement of statements) {
    const condition = ONLY_IF.exec(statement)?.[1];
    if (condition !== undefined && (await target.rows(condition)).length === 0) continue;
    await checked.command(statement);
  }
  const rollUp = FILLS[name];
  if (rollUp !== undefined) await fillRollUp(checked, rollUp, turn.number);
  await checked.command(`INSERT INTO migrations (name) VALUES ('${name}')`);
}

/** The files in order; a statement ends with a semicolon at the end of a line. */
export function migrationFiles(): MigrationFile[] {
  const names = readdirSync(FOLDER).filter((name) => /^\d{4}_\w+\.sql$/.test(name));
  return names.sort().map((name) => ({
    name,
    statements: readFileSync(new URL(name, FOLDER), "utf8")
      .split(/;\s*$/m)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== ""),
  }));
}
