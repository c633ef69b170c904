/**
 * The cell's copy of the shared rows, in its own folder: applies the entries of the stream in their order, each with the position it
 * leads to, and loads everything anew where the stream no longer reaches back to that.
 */
import type { Store } from "../store/store.ts";
import { keyText, type StoreKey, type Table } from "../store/table.ts";
import { DATASET_KEY, KEY_PREFIX } from "./keys.ts";
import type { RedisLink, RedisValue } from "./redis.ts";

/** How far the folder follows the stream. */
export interface Position {
  readonly version: number;
  /** Of the act that made this version: `cell:life:number`. */
  readonly origin: string;
  /** The rows are being loaded: they are of different versions. */
  readonly isLoading?: boolean;
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
  readonly changes: readonly Change[];
}

const POSITION = "cells.position";
const TABLES = "cells.tables";
const KEY = "documents";
const NOWHERE: Position = { version: 0, origin: "" };
/** Rows that are asked for, and compared, at once. */
const LOAD_ROWS = 500;

/** An entry of the stream as Redis returns it: its id, then a flat list of fields and values. */
export function readEntry([id, fields]: readonly [Buffer, Buffer[]]): Entry {
  const changes: Change[] = [];
  for (let at = 2; at < fields.length; at += 2) {
    const field = String(fields[at]);
    const value = fields[at + 1] as Buffer;
    const nul = field.indexOf("\0");
    changes.push({
      table: field.slice(0, nul),
      text: field.slice(nul + 1),
      value: value[0] === 0x2d ? undefined : value.subarray(1),
    });
  }
  return { version: Number.parseInt(String(id), 10), origin: String(fields[1]), changes };
}

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

  /** Only in an act: reads of the act see this version. */
  positionInAct(): Position {
    return this.#positions.get(KEY) ?? NOWHERE;
  }

  /**
   * Applies entries that follow each other. Resolves once they are durable.
   * @param also what is stored besides with an entry: tables of this cell that the act wrote
   * @throws Error where an entry is missing between two
   */
  async apply(entries: readonly Entry[], also: (entry: Entry) => Iterable<Change>): Promise<void> {
    const last = entries.at(-1);
    if (last === undefined) return;
    const position = { version: last.version, origin: last.origin };
    await this.#local.act(
      () => {
        let { version } = this.positionInAct();
        for (const entry of entries) {
          if (entry.version !== ++version)
            throw new Error(`the stream has ${entry.version} in place of ${version}`);
          for (const change of entry.changes) this.#put(change);
          for (const change of also(entry)) this.#put(change);
        }
        this.#positions.put(KEY, position);
      },
      { isOwed: true },
    );
    this.#committed = position;
  }

  /**
   * Makes the rows equal to the dataset's. The position is noted first: rows may be newer than it, which entries that are applied
   * later put right. Nobody may be served meanwhile.
   */
  async load(link: RedisLink, isShared: (table: string) => boolean): Promise<void> {
    const version = Number(String(await link.call("HGET", DATASET_KEY, "version")));
    await this.#keep({ ...this.#committed, isLoading: true });
    const tables = await this.#loadRows(link);
    for (const table of new Set([...tables, ...this.#known].filter(isShared)))
      await this.#removeRest(link, table);
    const [entry] = (await link.call("XRANGE", `${KEY_PREFIX}stream`, `${version}-0`, `${version}-0`)) as [
      [Buffer, Buffer[]]?,
    ];
    await this.#keep({ version, origin: entry === undefined ? "" : readEntry(entry).origin });
  }

  #put({ table, text, value }: Change): void {
    if (!this.#known.has(table)) {
      this.#known.add(table);
      this.#tables.put(table, true);
    }
    const key = JSON.parse(text) as StoreKey;
    const rows = this.#local.bytes(table);
    if (value === undefined) rows.remove(key);
    else rows.put(key, value);
  }

  async #keep(position: Position): Promise<void> {
    await this.#local.act(() => this.#positions.put(KEY, position), { isOwed: true });
    this.#committed = position;
  }

  /** @returns the dataset's tables */
  async #loadRows(link: RedisLink): Promise<string[]> {
    const tables: string[] = [];
    const prefix = `${KEY_PREFIX}rows:`;
    for await (const keys of scan(link, (cursor) => ["SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", 1000])) {
      for (const found of keys as Buffer[]) {
        const table = String(found).slice(prefix.length);
        tables.push(table);
        await this.#loadTable(link, table, String(found));
      }
    }
    return tables;
  }

  async #loadTable(link: RedisLink, table: string, key: string): Promise<void> {
    const rows = this.#local.bytes(table);
    for await (const pairs of scan(link, (cursor) => ["HSCAN", key, cursor, "COUNT", LOAD_ROWS])) {
      const changes: Change[] = [];
      for (let at = 0; at < pairs.length; at += 2) {
        const text = String(pairs[at]);
        const row = pairs[at + 1] as Buffer;
        const value = row.length === 8 ? undefined : row.subarray(8);
        const mine = rows.get(JSON.parse(text) as StoreKey);
        const isEqual = value === undefined ? mine === undefined : mine !== undefined && value.equals(mine);
        if (!isEqual) changes.push({ table, text, value });
      }
      await this.#store(changes);
    }
  }

  /** Removes the rows of a table that the dataset does not have. */
  async #removeRest(link: RedisLink, table: string): Promise<void> {
    const rows = this.#local.bytes(table);
    let from: StoreKey | undefined;
    for (;;) {
      const range = { ...(from !== undefined && { start: from }), limit: LOAD_ROWS };
      const keys = Array.from(rows.range(range), ({ key }) => key);
      const texts = keys.map(keyText);
      if (texts.length === 0) return;
      const found = (await link.call("HMGET", `${KEY_PREFIX}rows:${table}`, ...texts)) as (Buffer | null)[];
      await this.#store(
        texts
          .filter((_, at) => (found[at]?.length ?? 0) <= 8)
          .map((text) => ({ table, text, value: undefined })),
      );
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

/** The pages of a command that takes a cursor. */
async function* scan(
  link: RedisLink,
  command: (cursor: string) => (string | number)[],
): AsyncGenerator<RedisValue[]> {
  let cursor = "0";
  do {
    const [name, ...args] = command(cursor) as [string, ...(string | number)[]];
    const [next, page] = (await link.call(name, ...args)) as [Buffer, RedisValue[]];
    yield page;
    cursor = String(next);
  } while (cursor !== "0");
}
