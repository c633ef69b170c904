/**
 * The cell's copy of the shared rows, in its own folder: applies the entries of the stream in their order, each with the position it
 * leads to, and loads everything anew where the stream no longer reaches back to that.
 */
import type { Store } from "../../../store/store.ts";
import { keyText, type StoreKey, type Table } from "../../../store/tables/table.ts";
import { KEY_PREFIX } from "../redis/keys.ts";
import { pages, type RedisValue } from "../redis/redis.ts";

/** How far the folder follows the stream. */
export interface Position {
  readonly version: number;
  /** The act that made this version: `cell:life:number`; the dataset's id where no act did. */
  readonly origin: string;
  /** The rows are being loaded: they are of different versions. */
  readonly isLoading?: boolean;
  /** After a load: some rows are as new as this version, which is applied before anybody is served. */
  readonly servesFrom?: number;
}

export interface Change {
  readonly table: string;
  /** The key as JSON. */
  readonly text: string;
  readonly value: Uint8Array | undefined;
}

export interface Entry {
  readonly version: number;
  readonly origin: string;
  /** Origin of the version before. */
  readonly before: string;
  /** Format of its rows, see `formats.ts`. */
  readonly format: number;
  readonly changes: readonly Change[];
}

const POSITION = "cells.position";
const TABLES = "cells.tables";
const KEY = "documents";
const NOWHERE: Position = { version: 0, origin: "" };
/** Rows that are asked for, and compared, at once. */
const LOAD_ROWS = 200;

/** An entry of the stream as Redis returns it: its id, then a flat list of fields and values. */
export function readEntry([id, fields]: readonly [Buffer, Buffer[]]): Entry {
  const changes: Change[] = [];
  const [, origin, , before, , format, name, content] = fields;
  // Names of rows have a NUL in them.
  const rows = String(name) === "packed" ? unpacked(content as Buffer) : fields.slice(6);
  for (let at = 0; at < rows.length; at += 2) {
    const field = String(rows[at]);
    const value = rows[at + 1] as Buffer;
    const nul = field.indexOf("\0");
    changes.push({
      table: field.slice(0, nul),
      text: field.slice(nul + 1),
      value: value[0] === 0x2d ? undefined : value.subarray(1),
    });
  }
  return {
    version: Number.parseInt(String(id), 10),
    origin: String(origin),
    before: String(before),
    format: Number(String(format)),
    changes,
  };
}

/** Fields of an act with very many rows, each behind its length: see `scripts/exchange/20-documents.lua`. */
function unpacked(content: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    const end = at + 8 + Number(content.readBigUInt64BE(at));
    fields.push(content.subarray(at + 8, end));
    at = end;
  }
  return fields;
}

/** Asks for a page of the dataset, see `scripts/page.lua`. @throws Error where it is not the cell's dataset any more */
export type AskPage = (what: string, ...args: (string | number)[]) => Promise<RedisValue>;

/** An entry does not follow on from the one before: the dataset has another past than the rows here. */
export class OtherPast extends Error {}

export class Replica {
  readonly #local: Store;
  readonly #positions: Table<Position>;
  /** Tables that ever had shared rows here. */
  readonly #tables: Table<true>;
  readonly #known = new Set<string>();
  #committed: Position;

  constructor(local: Store) {
    this.#local = local;
    this.#positions = local.table(POSITION);
    this.#tables = local.table(TABLES);
    for (const { key } of this.#tables.range()) this.#known.add(String(key));
    this.#committed = this.#positions.get(KEY) ?? NOWHERE;
  }

  /** Reads outside an act see this version. */
  get position(): Position {
    return this.#committed;
  }

  /** Names of tables that ever had shared rows here. */
  get tables(): readonly string[] {
    return [...this.#known];
  }

  /** Rows are of different versions: being loaded, or not followed on from there to where all of them are. */
  get isMixed(): boolean {
    const { isLoading = false, version, servesFrom = 0 } = this.#committed;
    return isLoading || version < servesFrom;
  }

  /** Reads see this version now: in an act, with what its group writes; outside, also a moment before `position` says so. */
  positionRead(): Position {
    return this.#positions.get(KEY) ?? NOWHERE;
  }

  /**
   * Applies entries that follow each other. Resolves once they are durable.
   * @param also what is stored besides with an entry: tables of this cell that the act wrote
   * @throws OtherPast where one does not follow on from the one before it
   */
  async apply(entries: readonly Entry[], also: (entry: Entry) => Iterable<Change>): Promise<void> {
    const last = entries.at(-1);
    if (last === undefined) return;
    const { servesFrom = 0 } = this.#committed;
    const isMixed = last.version < servesFrom;
    const position = { version: last.version, origin: last.origin, ...(isMixed && { servesFrom }) };
    await this.#local.act(
      () => {
        let { version, origin } = this.positionRead();
        for (const entry of entries) {
          if (entry.version !== ++version || entry.before !== origin)
            throw new OtherPast(`the stream has ${entry.version} after ${entry.before}, not ${origin}`);
          origin = entry.origin;
          for (const change of entry.changes) this.#put(change);
          for (const change of also(entry)) this.#putRow(change);
        }
        this.#positions.put(KEY, position);
      },
      { isOwed: true },
    );
    this.#committed = position;
  }

  /**
   * Makes the rows equal to the dataset's. The position is noted first: rows may be newer than it, which entries that are applied
   * later put right, up to `servesFrom`. Nobody may be served before that.
   * @param also what is stored besides with the position, given the cell's last run at it: `life:number`, or ""
   * @returns that run
   */
  async load(ask: AskPage, also: (lastRun: string) => Iterable<Change>): Promise<string> {
    const [version, origin, lastRun] = await positionOf(ask);
    await this.#keep({ ...this.#committed, isLoading: true });
    const tables = await this.#loadRows(ask);
    for (const table of new Set([...tables, ...this.#known])) await this.#removeRest(ask, table);
    const [servesFrom] = await positionOf(ask);
    await this.#keep({ version, origin, servesFrom }, () => also(lastRun));
    return lastRun;
  }

  /** Changes a row of a shared table, which may be one that only a later release knows. */
  #put(change: Change): void {
    const { table } = change;
    if (!this.#known.has(table)) {
      this.#known.add(table);
      this.#tables.put(table, true);
    }
    this.#putRow(change);
  }

  #putRow({ table, text, value }: Change): void {
    const key = JSON.parse(text) as StoreKey;
    const rows = this.#local.bytes(table);
    if (value === undefined) rows.remove(key);
    else rows.put(key, value);
  }

  async #keep(position: Position, also: () => Iterable<Change> = () => []): Promise<void> {
    const act = () => {
      for (const change of also()) this.#putRow(change);
      this.#positions.put(KEY, position);
    };
    await this.#local.act(act, { isOwed: true });
    this.#committed = position;
  }

  /** @returns the dataset's tables */
  async #loadRows(ask: AskPage): Promise<string[]> {
    const tables = new Set<string>();
    const prefix = `${KEY_PREFIX}rows:`;
    for await (const keys of pages((cursor) => ask("tables", cursor)))
      for (const found of keys) tables.add(String(found).slice(prefix.length));
    for (const table of tables) await this.#loadTable(ask, table);
    return [...tables];
  }

  async #loadTable(ask: AskPage, table: string): Promise<void> {
    const rows = this.#local.bytes(table);
    for await (const pairs of pages((cursor) => ask("rows", table, cursor, LOAD_ROWS))) {
      const changes: Change[] = [];
      for (let at = 0; at < pairs.length; at += 2) {
        const text = String(pairs[at]);
        const row = pairs[at + 1] as Buffer;
        // The version, a mark and the row; the version alone where it was removed.
        const value = row.length === 8 ? undefined : row.subarray(9);
        const mine = rows.get(JSON.parse(text) as StoreKey);
        const isEqual = value === undefined ? mine === undefined : mine !== undefined && value.equals(mine);
        if (!isEqual) changes.push({ table, text, value });
      }
      await this.#store(changes);
    }
  }

  /** Removes the rows of a table that the dataset does not have. */
  async #removeRest(ask: AskPage, table: string): Promise<void> {
    const rows = this.#local.bytes(table);
    let from: StoreKey | undefined;
    for (;;) {
      const range = { ...(from !== undefined && { start: from }), limit: LOAD_ROWS };
      const keys = Array.from(rows.range(range), ({ key }) => key);
      const texts = keys.map(keyText);
      if (texts.length === 0) return;
      const have = (await ask("have", table, ...texts)) as number[];
      const gone = texts.filter((_, at) => have[at] === 0);
      await this.#store(gone.map((text) => ({ table, text, value: undefined })));
      if (keys.length < LOAD_ROWS) return;
      from = keys.at(-1);
    }
  }

  async #store(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    const act = () => {
      for (const change of changes) this.#put(change);
    };
    await this.#local.act(act, { isOwed: true });
  }
}

async function positionOf(ask: AskPage): Promise<[version: number, origin: string, lastRun: string]> {
  const [version, origin, lastRun] = ((await ask("position")) as Buffer[]).map(String);
  return [Number(version), origin ?? "", lastRun ?? ""];
}
