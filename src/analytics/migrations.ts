/**
 * Migrates the analytics database to this release: numbered files of `migrations/`, each applied once and recorded.
 * Statements are idempotent (`IF NOT EXISTS`), so a start that dies half way can be repeated. Two cells can migrate at
 * once, but for files that fill a roll-up from the records (0008): the first start of such a release is that of one cell alone.
 */
import { readdirSync, readFileSync } from "node:fs";

export interface MigrationTarget {
  command(sql: string): Promise<void>;
  rows<T>(sql: string): Promise<T[]>;
}

const FOLDER = new URL("./migrations/", import.meta.url);

export async function migrate(target: MigrationTarget): Promise<void> {
  await target.command(
    `CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime('UTC') DEFAULT now())
     ENGINE = MergeTree ORDER BY name`,
  );
  const applied = new Set(
    (await target.rows<{ name: string }>("SELECT name FROM migrations")).map((r) => r.name),
  );
  for (const { name, statements } of migrationFiles()) {
    if (applied.has(name)) continue;
    for (const statement of statements) await target.command(statement);
    await target.command(`INSERT INTO migrations (name) VALUES ('${name}')`);
  }
}

/** The files in order; a statement ends with a semicolon at the end of a line. */
export function migrationFiles(): { name: string; statements: string[] }[] {
  const names = readdirSync(FOLDER).filter((name) => /^\d{4}_\w+\.sql$/.test(name));
  return names.sort().map((name) => ({
    name,
    statements: readFileSync(new URL(name, FOLDER), "utf8")
      .split(/;\s*$/m)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== ""),
  }));
}
