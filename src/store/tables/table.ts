/** The interface of a table of the store. */
import { crc32 } from "node:zlib";
import type { Key } from "lmdb";
import { noteJoined } from "../short-crc.ts";

export type StoreKey = Key;

/** LMDB's limit for a key, 1978 bytes, in UTF-16 units of three bytes each, with space for separators. */
const LONGEST_KEY = 640;

/** Texts of keys that are written again and again. */
const texts = new WeakMap<object, string>();

/** A key of several parts that is written again and again, and whose text is made once. It must not change. */
export function lastingKey(parts: readonly [string, string]): StoreKey {
  const key: StoreKey = [...parts];
  texts.set(key, JSON.stringify(key));
  return key;
}

interface Beginning {
  readonly text: string;
  readonly sum: number;
}

/** The same of the first parts of keys that end with a number, as those of the ledger's entries do. */
const beginnings = new Map<string, Beginning>();
const MOST_BEGINNINGS = 4096;

/** A key as JSON, equal for equivalent forms: a list of one part equals that part. */
export function keyText(key: StoreKey): string {
  if (!Array.isArray(key)) return JSON.stringify(key);
  if (key.length === 1) return keyText(key[0] as StoreKey);
  const [first, second] = key;
  if (key.length === 2 && typeof first === "string" && Number.isSafeInteger(second))
    return numbered(beginningOf(first), second as number);
  return texts.get(key) ?? JSON.stringify(key);
}

function beginningOf(first: string): Beginning {
  let beginning = beginnings.get(first);
  if (beginning === undefined) {
    if (beginnings.size >= MOST_BEGINNINGS) beginnings.clear();
    const text = `[${JSON.stringify(first)},`;
    beginning = { text, sum: crc32(text) };
    beginnings.set(first, beginning);
  }
  return beginning;
}

function numbered({ text, sum }: Beginning, number: number): string {
  const rest = `${number}]`;
  const whole = text + rest;
  noteJoined(whole, sum, rest);
  return whole;
}

/** Whether LMDB can hold a row under this key. */
export function fits(key: StoreKey): boolean {
  if (typeof key === "string") return key.length <= LONGEST_KEY;
  if (!Array.isArray(key)) return true;
  let length = 0;
  for (const part of key) length += typeof part === "string" ? part.length : 1;
  return length <= LONGEST_KEY;
}

export interface Range {
  readonly start?: StoreKey;
  readonly end?: StoreKey;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/**
 * Upgrades of a table's rows: each row records its version and is upgraded when read. So a release that changes a row's
 * format rewrites nothing, and readers know only one format.
 */
export interface RowVersions<V> {
  /** Version of rows written now: 2 to 255. Rows of the first release have version 1. */
  readonly version: number;
  /** Converts a row of an earlier version. Pure. */
  upgrade(row: unknown, version: number): V;
  /** The version in which rows are written while cells of an earlier release run beside this one (`src/cluster/cells/dataset/formats.ts`). */
  readonly older?: {
    /** The first format whose cells read the newest version. */
    readonly beforeFormat: number;
    readonly version: number;
    /** Pure; what it leaves out, `upgrade` gives back. */
    downgrade(row: V): unknown;
  };
}

/** Reads are synchronous and see every committed act; inside an act also uncommitted ones, and its own puts. */
export interface Table<V> {
  /** Undefined also for a key that is too long (640 characters): it may come from a client. */
  get(key: StoreKey): V | undefined;
  /** In key order; `start` is inclusive, `end` exclusive, also when reversed (then `start` is the greater). */
  range(range?: Range): Iterable<{ key: StoreKey; value: V }>;
  /** Only in an act. @throws RangeError for a key of more than 640 characters. */
  put(key: StoreKey, value: V): void;
  /**
   * The same, of a row that many acts put anew: of those of one turn the last row alone is written, for all of them are durable
   * together or not at all. The row must not change afterwards.
   */
  putLast(key: StoreKey, value: V): void;
  /** Only in an act. */
  remove(key: StoreKey): void;
  /**
   * Calls `changed` for each changed row, in order: once its act is committed, so that reads see the change, and before
   * the act resolves. Caches must drop derived data there, and only there. Cannot be undone.
   * @param changed gets the current row, undefined where it was removed
   */
  watch(changed: (key: StoreKey, row: V | undefined) => void): void;
}
