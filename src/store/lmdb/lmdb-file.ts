/**
 * Reads LMDB's file without LMDB: its pages have no checksums, and mapping a damaged one can crash the process. Checks
 * everything reachable and writes nothing. Format: the page and node structs in `mdb.c` of the lmdb package (data
 * version 2, pages with a transaction number, a third meta block in the middle of page 0).
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { codeOf } from "../../base/file-errors.ts";
import { bootName } from "../../base/process/boot.ts";

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const PAGE_HEADER = 24;
const NODE_HEADER = 8;
const [BRANCH, LEAF, OVERFLOW] = [1, 2, 4];
const [BIG_DATA, SUB_DATA] = [1, 2];
const META_BYTES = 144;
const NOT_FLUSHED = 0x1000;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const DB_BYTES = 48;
/** Maximum depth of a tree in a file that fits on a disk. */
const DEEPEST = 32;

interface Tree {
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number | undefined;
}

interface Meta {
  readonly psize: number;
  readonly flags: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly txn: number;
  readonly boot: bigint;
}

export interface LmdbRow {
  readonly table: string;
  /** In LMDB's order. */
  readonly key: Buffer;
  readonly value: Buffer;
}

/** A read of one tree of the file. */
interface Walk {
  readonly table: string;
  readonly depth: number;
  /** Values on pages of their own are read, too. */
  readonly values: boolean;
  /** The kind of its rows. */
  readonly flag: number;
  readonly count: { branches: number; leaves: number; overflows: number; entries: number };
}

export class DamagedLmdb extends Error {}

/** Undefined where the file is missing or empty. @throws DamagedLmdb for a file that LMDB must not map. */
export function openLmdbFile(path: string): LmdbFile | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const { size } = fstatSync(fd);
  if (size > 0) return new LmdbFile(fd, size);
  closeSync(fd);
  return undefined;
}

export class LmdbFile {
  readonly #fd: number;
  readonly #size: number;
  readonly #meta: Meta;
  readonly #seen: Uint8Array;
  /** The key in the branch above for the next page. */
  #bound: Buffer | undefined;

  constructor(fd: number, size: number) {
    this.#fd = fd;
    this.#size = size;
    this.#meta = this.#readMeta();
    const { lastPage, psize } = this.#meta;
    if (lastPage > 2 ** 40 || (lastPage + 1) * psize > size + psize * 2 ** 20) {
      throw damaged(
        `its first page names ${lastPage} as the last page, and it has ${Math.floor(size / psize)}`,
      );
    }
    this.#seen = new Uint8Array(lastPage + 2);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** @throws DamagedLmdb */
  tableNames(): string[] {
    this.#seen.fill(0);
    return this.#tables().map(([name]) => name);
  }

  /** Rows of one table in their order. @throws DamagedLmdb where it cannot be read further. */
  *rows(table: string): Generator<LmdbRow> {
    this.#seen.fill(0);
    const tree = new Map(this.#tables()).get(table);
    if (tree !== undefined) yield* this.#walk(table, tree, true);
  }

  /**
   * Every reachable page, and the rows of all tables, those of `first` before others. With `values` false, values on
   * pages of their own are skipped. @throws DamagedLmdb at the first fault.
   */
  *all({ values, first }: { values: boolean; first: readonly string[] }): Generator<LmdbRow> {
    this.#seen.fill(0);
    const free = this.#freePages();
    for (const _ of this.#walk("(tables)", this.#meta.main, false, SUB_DATA));
    const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
    const tables = this.#tables().sort(([a], [b]) => rank(a) - rank(b));
    for (const [name, tree] of tables) yield* this.#walk(name, tree, values);
    const both = free.findIndex((isFree, page) => isFree === 1 && this.#seen[page] !== 0);
    if (both >= 0)
      throw damaged(`page ${both} is in use and is listed as free, so that it would be overwritten`);
  }

  /** Per page number: 1 if the next transactions may write to it. */
  #freePages(): Uint8Array {
    const { lastPage } = this.#meta;
    const free = new Uint8Array(lastPage + 1);
    const bad = () => damaged("the list of free pages cannot be read");
    for (const { value } of this.#walk("(free pages)", this.#meta.free, true)) {
      if (value.length % 8 !== 0 || value.length < 8) throw bad();
      const number = (i: number) => Number(value.readBigInt64LE(i * 8));
      const count = number(0);
      if (!(count >= 0 && (count + 1) * 8 <= value.length)) throw bad();
      // Zero: no page. Negative: a run of that many pages, starting at the next number.
      for (let i = 1; i <= count; i++) {
        const length = Math.max(1, -number(i));
        if (number(i) < 0 && ++i > count) throw bad();
        const first = number(i);
        if (first === 0) continue;
        if (first < 2 || first + length - 1 > lastPage) throw bad();
        for (let page = first; page < first + length; page++) {
          if (free[page] === 1) throw damaged(`page ${page} is listed as free twice`);
          free[page] = 1;
        }
      }
    }
    return free;
  }

  #tables(): [string, Tree][] {
    const found: [string, Tree][] = [];
    for (const { key, value } of this.#walk("(tables)", this.#meta.main, false, SUB_DATA)) {
      found.push([key.toString("utf8").replace(/\0+$/, ""), treeAt(value, 0)]);
    }
    return found;
  }

  *#walk(table: string, tree: Tree, values: boolean, flag = 0): Generator<LmdbRow> {
    const count = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    let before: Buffer | undefined;
    this.#bound = undefined;
    if (tree.root !== undefined) {
      for (const row of this.#page({ table, depth: tree.depth, values, flag, count }, tree.root, 1)) {
        // In the file's own order; the free list is ordered by number.
        if (
          before !== undefined &&
          flag === 0 &&
          table !== "(free pages)" &&
          Buffer.compare(before, row.key) >= 0
        ) {
          throw damaged(`rows of ${table} are out of order`);
        }
        const bound = this.#bound;
        if (bound !== undefined && table !== "(free pages)") {
          const isBefore = before === undefined || Buffer.compare(before, bound) < 0;
          if (!isBefore || Buffer.compare(row.key, bound) < 0)
            throw damaged(`a way to rows of ${table} is wrong`);
        }
        this.#bound = undefined;
        before = row.key;
        yield row;
      }
    }
    for (const name of ["branches", "leaves", "overflows", "entries"] as const) {
      if (count[name] !== tree[name]) {
        throw damaged(`${table} should have ${tree[name]} ${name} and has ${count[name]}`);
      }
    }
  }

  *#page(walk: Walk, number: number, level: number): Generator<LmdbRow> {
    const { table, depth, flag, count } = walk;
    const page = this.#read(table, number, 1);
    const flags = page.readUInt16LE(18) & 0xff;
    const isLeaf = level === depth;
    if (depth > DEEPEST || flags !== (isLeaf ? LEAF : BRANCH))
      throw this.#bad(table, number, "is of another kind");
    count[isLeaf ? "leaves" : "branches"]++;
    for (const at of this.#nodes(table, number, page)) {
      const word = (offset: number) => page.readUInt16LE(at + offset);
      const [low, high, nodeFlags, keyBytes] = [word(0), word(2), word(4), word(6)];
      const keyEnd = at + NODE_HEADER + keyBytes;
      if (keyEnd > page.length) throw this.#bad(table, number, "has a key that goes beyond it");
      if (!isLeaf) {
        // The first child of a page has no key of its own.
        if (keyBytes > 0) this.#bound = page.subarray(at + NODE_HEADER, keyEnd);
        const child = low + high * 0x1_0000 + nodeFlags * 0x1_0000_0000;
        yield* this.#page(walk, child, level + 1);
        continue;
      }
      count.entries++;
      const bytes = low + high * 0x1_0000;
      const key = page.subarray(at + NODE_HEADER, keyEnd);
      if (nodeFlags === BIG_DATA) {
        const value = this.#overflow(walk, number, page, keyEnd, bytes);
        if (value !== undefined) yield { table, key, value };
      } else {
        if (nodeFlags !== flag) throw this.#bad(table, number, "has a row of an unknown kind");
        if (keyEnd + bytes > page.length) throw this.#bad(table, number, "has a value that goes beyond it");
        yield { table, key, value: page.subarray(keyEnd, keyEnd + bytes) };
      }
    }
  }

  /** Offsets of the nodes of a page; they and their pointers must lie within it. */
  #nodes(table: string, number: number, page: Buffer): number[] {
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    if (lower % 2 !== 0 || lower > upper || upper + PAGE_HEADER > page.length) {
      throw this.#bad(table, number, "has bounds that cannot be");
    }
    return Array.from({ length: lower / 2 }, (_, i) => {
      const at = page.readUInt16LE(PAGE_HEADER + i * 2) + PAGE_HEADER;
      if (at < upper + PAGE_HEADER || at + NODE_HEADER > page.length) {
        throw this.#bad(table, number, "points outside of itself");
      }
      return at;
    });
  }

  #overflow(walk: Walk, from: number, page: Buffer, at: number, bytes: number): Buffer | undefined {
    const { table, values, count } = walk;
    if (at + 8 > page.length) throw this.#bad(table, from, "has a value that goes beyond it");
    const number = Number(page.readBigUInt64LE(at));
    const pages = Math.ceil((bytes + PAGE_HEADER) / this.#meta.psize);
    count.overflows += pages;
    const found = this.#read(table, number, pages, values ? pages : 1);
    if ((found.readUInt16LE(18) & 0xff) !== OVERFLOW || found.readUInt32LE(20) !== pages) {
      throw this.#bad(table, number, "is of another kind");
    }
    return values ? found.subarray(PAGE_HEADER, PAGE_HEADER + bytes) : undefined;
  }

  /** Marks `pages` as used, and reads the first `wanted` of them. */
  #read(table: string, number: number, pages: number, wanted = pages): Buffer {
    const { psize, lastPage, txn } = this.#meta;
    if (!(number >= 2 && number + pages - 1 <= lastPage))
      throw this.#bad(table, number, "is not in the file");
    for (let i = number; i < number + pages; i++) {
      // The pages of the table list are read more than once.
      const mark = table === "(tables)" ? 2 : 1;
      if (this.#seen[i] !== 0 && !(mark === 2 && this.#seen[i] === 2))
        throw this.#bad(table, i, "is used twice");
      this.#seen[i] = mark;
    }
    const bytes = Buffer.allocUnsafe(wanted * psize);
    const read =
      number * psize + bytes.length > this.#size
        ? 0
        : readSync(this.#fd, bytes, 0, bytes.length, number * psize);
    if (read !== bytes.length) throw this.#bad(table, number, "lies behind the end of the file");
    if (Number(bytes.readBigUInt64LE(0)) !== number)
      throw this.#bad(table, number, "is not the page it should be");
    if (Number(bytes.readBigUInt64LE(8)) > txn) throw this.#bad(table, number, "is of a transaction to come");
    return bytes;
  }

  #bad(table: string, page: number, what: string): DamagedLmdb {
    return damaged(`page ${page} (byte ${page * this.#meta.psize}), of ${table}, ${what}`);
  }

  /** The meta block that LMDB will use: the newest, or after a power failure the newest flushed one. */
  #readMeta(): Meta {
    const first = this.#metaAt(0, true);
    const boot = bootId();
    const pick = (a: Meta, b: Meta): Meta => {
      const latest = a.txn >= b.txn ? a : b;
      if (b.txn === 0) return a;
      if ((latest.boot !== 0n && latest.boot === boot) || (latest.flags & NOT_FLUSHED) === 0) return latest;
      return a.txn > b.txn ? b : a;
    };
    const flushed = this.#metaAt(first.psize / 2, false);
    return pick(pick(first, flushed), this.#metaAt(first.psize, true));
  }

  #metaAt(at: number, whole: boolean): Meta {
    const bytes = Buffer.alloc(PAGE_HEADER + META_BYTES);
    if (readSync(this.#fd, bytes, 0, bytes.length, at) !== bytes.length)
      throw damaged("its first pages are cut");
    const meta = bytes.subarray(PAGE_HEADER);
    if (whole && (meta.readUInt32LE(0) !== MAGIC || meta.readUInt32LE(4) !== DATA_VERSION)) {
      throw damaged(`the head at byte ${at} is none of LMDB`);
    }
    const psize = meta.readUInt32LE(24);
    const txn = Number(meta.readBigUInt64LE(128));
    if ((whole || txn > 0) && ![4096, 8192, 16384, 32768].includes(psize)) {
      throw damaged(`the head at byte ${at} names pages of ${psize} bytes`);
    }
    return {
      psize,
      flags: meta.readUInt16LE(28),
      free: treeAt(meta, 24),
      main: treeAt(meta, 24 + DB_BYTES),
      lastPage: Number(meta.readBigUInt64LE(120)),
      txn,
      boot: meta.readBigInt64LE(136),
    };
  }
}

function treeAt(bytes: Buffer, at: number): Tree {
  if (bytes.length < at + DB_BYTES) throw damaged("a table is described in too few bytes");
  const root = bytes.readBigUInt64LE(at + 40);
  const count = (from: number) => Number(bytes.readBigUInt64LE(at + from));
  return {
    depth: bytes.readUInt16LE(at + 6),
    branches: count(8),
    leaves: count(16),
    overflows: count(24),
    entries: count(32),
    root: root === NO_PAGE ? undefined : Number(root),
  };
}

/**
 * Distinguishes a crashed process from a rebooted machine. Parsed like LMDB does: the first group of digits, in
 * hexadecimal.
 */
function bootId(): bigint {
  const [first = ""] = bootName()?.split("-") ?? [];
  return /^[0-9a-f]+$/i.test(first) ? BigInt(`0x${first}`) : 0n;
}

const damaged = (what: string): DamagedLmdb => new DamagedLmdb(what);
