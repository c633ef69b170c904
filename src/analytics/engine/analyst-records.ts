/**
 * The tables of the embedded engine, as a second engine reads them: its own definitions over the same files, on disks that are
 * read-only. Parts are never changed in place, so what it reads is whole; it merges nothing and writes nothing. When the first
 * engine adds or replaces parts, the list of parts is read again before the next statement (`SYSTEM RESTART DISK`, which does
 * that for the tables on a read-only disk). A part that the first engine removes is gone here too: no bytes are held. But where no
 * other part takes its place, this engine goes on counting its rows, and so its table is attached anew.
 */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { COMMON_TABLES, escaped, ORG_TABLES, ORG_VIEWS } from "../statements/engine-access.ts";
import { type EngineError, exception } from "../statements/engine-error.ts";
import { coveredBy, partNames } from "../statements/part-names.ts";

/** Runs a statement with full rights. */
export type Run = (sql: string) => Promise<void>;

const TABLES = [...ORG_TABLES, ...COMMON_TABLES] as const;
const DATABASE = "weir";
const diskOf = (table: string): string => `records_${table}`;

/**
 * Disks for the engine's configuration: one for each table, so that one can be read again without the others.
 * @param records folder with `metadata` and `store` of the first engine
 */
export function recordDisks(records: string): string {
  const disks = TABLES.map(
    (table) =>
      `<${diskOf(table)}><type>object_storage</type><object_storage_type>local</object_storage_type><metadata_type>plain</metadata_type><path>${escaped(records)}/</path><readonly>true</readonly></${diskOf(table)}>`,
  );
  const policies = TABLES.map(
    (table) =>
      `<${diskOf(table)}><volumes><main><disk>${diskOf(table)}</disk></main></volumes></${diskOf(table)}>`,
  );
  return `<storage_configuration><disks>${disks.join("")}</disks><policies>${policies.join("")}</policies></storage_configuration>`;
}

/** A list of parts that took this long to read is read again less often. */
const SLOW_MS = 100;
/** By this factor of the time that it took. */
const PAUSES = 10;
/** Rows that analysts read are at most this old, beside the time in which they are inserted. */
export const MOST_STALE_MS = 10_000;
/** The clock of a file system moves in steps of some milliseconds: a change within the same step is not seen. */
const STEP_MS = 50;

interface Known {
  /** The definition as the first engine has it. */
  readonly text: string;
  /** Folder of a table's parts; undefined for a view. */
  readonly folder: string | undefined;
  /** Names of the parts, as they were before the list was read. */
  parts: readonly string[];
  changedMs: number;
  readMs: number;
  tookMs: number;
}

export class AnalystRecords {
  readonly #folder: string;
  readonly #records: string;
  readonly #run: Run;
  readonly #known = new Map<string, Known>();
  #hasDatabase = false;
  #syncing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /**
   * @param folder of the second engine, whose database `weir` this class alone changes
   * @param records folder of the first engine
   * @param run of the second engine
   */
  constructor(folder: string, records: string, run: Run) {
    this.#folder = folder;
    this.#records = records;
    this.#run = run;
  }

  /**
   * Resolves once the tables are those of the first engine, with what had been inserted before this call, or up to
   * {@link MOST_STALE_MS} before it where there are so many parts that listing them takes long. One runs at a time, and those
   * who call meanwhile share the next.
   */
  sync(): Promise<void> {
    this.#next ??= this.#syncing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#syncing = this.#syncAll();
        return this.#syncing;
      });
    return this.#next;
  }

  /** A part has gone between the listing and the reading: the lists are read again, whatever the pauses. */
  forget(): void {
    for (const known of this.#known.values()) known.changedMs = Number.NaN;
  }

  async #syncAll(): Promise<void> {
    const folder = await definitionsIn(this.#records);
    if (folder === undefined) return;
    if (!this.#hasDatabase) await this.#run(`CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`);
    this.#hasDatabase = true;
    // Views last: what they read from must be there.
    for (const table of TABLES) await this.#syncTable(table, await definition(folder, table));
    for (const view of ORG_VIEWS) await this.#syncView(view, await definition(folder, view));
  }

  async #syncTable(table: string, text: string | undefined): Promise<void> {
    const known = this.#known.get(table);
    if (text === undefined) return;
    if (known?.text !== text) {
      const uuid = UUID.exec(text)?.[1];
      if (uuid === undefined) throw unreadable(table);
      const folder = join(this.#records, "store", uuid.slice(0, 3), uuid);
      const parts = await partsIn(folder);
      await this.#attach(table, readOnly(table, text));
      const readMs = systemClock.monotonic();
      this.#known.set(table, { text, folder, parts, changedMs: UNSETTLED, readMs, tookMs: 0 });
      return;
    }
    await this.#readAgain(table, known);
  }

  async #readAgain(table: string, known: Known): Promise<void> {
    const changedMs = await changeOf(known.folder ?? "");
    if (changedMs === known.changedMs) return;
    const startMs = systemClock.monotonic();
    const pauseMs = known.tookMs < SLOW_MS ? 0 : Math.min(known.tookMs * PAUSES, MOST_STALE_MS);
    if (!Number.isNaN(known.changedMs) && startMs - known.readMs < pauseMs) return;
    const parts = await partsIn(known.folder ?? "");
    if (known.parts.every(coveredBy(parts))) await this.#run(`SYSTEM RESTART DISK ${diskOf(table)}`);
    else await this.#attach(table, readOnly(table, known.text));
    known.parts = parts;
    known.readMs = systemClock.monotonic();
    known.tookMs = known.readMs - startMs;
    const isSettled = systemClock.now() - changedMs > STEP_MS + known.tookMs;
    known.changedMs = isSettled ? changedMs : UNSETTLED;
  }

  async #syncView(view: string, text: string | undefined): Promise<void> {
    if (text === undefined || this.#known.get(view)?.text === text) return;
    await this.#attach(view, text.replace(/^ATTACH VIEW _ /, `ATTACH VIEW ${DATABASE}.${view} `));
    this.#known.set(view, { text, folder: undefined, parts: [], changedMs: 0, readMs: 0, tookMs: 0 });
  }

  async #attach(name: string, statement: string): Promise<void> {
    // Waits for statements that still read by the definition of before.
    await this.#run(`DETACH TABLE IF EXISTS ${DATABASE}.${name} SYNC`);
    // Its definition stays, and would be in the way of the new one; to drop the table would mean to remove its parts.
    const own = await definitionsIn(this.#folder);
    if (own !== undefined) await rm(join(own, `${name}.sql`), { force: true });
    await this.#run(statement);
  }
}

/** No time of a change. */
const UNSETTLED = -1;
const UUID = /\bUUID '([0-9a-f-]{36})'/;

/** Where an engine has the database's definitions; undefined while it has no database. */
async function definitionsIn(engineFolder: string): Promise<string | undefined> {
  const text = await textOf(join(engineFolder, "metadata", `${DATABASE}.sql`));
  const uuid = UUID.exec(text ?? "")?.[1];
  return uuid === undefined ? undefined : join(engineFolder, "store", uuid.slice(0, 3), uuid);
}

const definition = (folder: string, name: string): Promise<string | undefined> =>
  textOf(join(folder, `${name}.sql`));

/** The text of a file; undefined while the first engine has not made it. */
const textOf = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

/** Names of the parts in a table's folder; none before the first. */
const partsIn = (folder: string): Promise<string[]> => readdir(folder).then(partNames, () => []);

/** When a part was last added, renamed or removed; 0 before the first. */
const changeOf = (folder: string): Promise<number> =>
  stat(folder).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/**
 * The definition of a table, on its read-only disk. The first engine writes `ATTACH TABLE _ UUID '…' (…) ENGINE = … SETTINGS …`; how
 * parts are written and merged does not matter here.
 */
function readOnly(table: string, text: string): string {
  const settings = text.lastIndexOf("\nSETTINGS ");
  if (!text.startsWith("ATTACH TABLE _ UUID ")) throw unreadable(table);
  const granularity = /\bindex_granularity = \d+/.exec(text.slice(settings))?.[0];
  return [
    text
      .slice(0, settings === -1 ? text.length : settings)
      .trimEnd()
      .replace("ATTACH TABLE _ ", `ATTACH TABLE ${DATABASE}.${table} `),
    `SETTINGS storage_policy = '${diskOf(table)}', ${granularity === undefined ? "" : `${granularity}, `}${ALONE}`,
  ].join("\n");
}

/** The disks show the same folder: parts are not looked for on those of other tables. */
const ALONE = "search_orphaned_parts_disks = 'none'";

const unreadable = (table: string): EngineError =>
  exception(1002, `the definition of ${table} is not one that is known.`);
