/** A table of the shared store: reads and puts of a running act go to its draft, all others to the cell's own folder. */
import { packContent, unpackContent } from "../../../store/lmdb/checked.ts";
import { decoded, first } from "../../../store/rows.ts";
import type { Store } from "../../../store/store.ts";
import {
  fits,
  keyText,
  type Range,
  type RowVersions,
  type StoreKey,
  type Table,
} from "../../../store/tables/table.ts";
import type { ActRun } from "./act-run.ts";
import type { Draft } from "./draft.ts";

/** What runs at the moment. */
export interface Running {
  readonly run: ActRun;
  /** Writes of the acts before it in the same group. */
  readonly before: Draft | undefined;
  /** The first run only finds out whether the act changes shared rows: tables of this cell alone are then used directly. */
  readonly isProbe: boolean;
}

export interface TableContext {
  readonly local: Store;
  readonly isShared: boolean;
  running(): Running | undefined;
  /** In which cells write now, see `formats.ts`. */
  format(): number;
}

interface Codec<V> {
  encode(value: V): Uint8Array;
  decode(bytes: Uint8Array, key: StoreKey): V;
}

export function sharedTable<V>(
  name: string,
  versions: RowVersions<V> | undefined,
  context: TableContext,
): Table<V> {
  return tableOf(name, context, context.local.table(name, versions), {
    encode: (value) => encoded(value, versions, context.format()),
    decode: (bytes, key) => unpackContent(name, keyText(key), bytes, versions),
  });
}

/** In the version of the table's rows that all cells read. */
function encoded<V>(value: V, versions: RowVersions<V> | undefined, format: number): Uint8Array {
  const older = versions?.older;
  if (older === undefined || format >= older.beforeFormat) return packContent(value, versions?.version);
  return packContent(older.downgrade(value), older.version);
}

export function sharedBytes(name: string, context: TableContext): Table<Uint8Array> {
  const codec = { encode: (value: Uint8Array) => value, decode: (bytes: Uint8Array) => bytes };
  return tableOf(name, context, context.local.bytes(name), codec);
}

function tableOf<V>(name: string, context: TableContext, direct: Table<V>, codec: Codec<V>): Table<V> {
  const { local, isShared } = context;
  const rows = local.bytes(name);
  /** Undefined: the table itself serves the caller. */
  const running = () => {
    const now = context.running();
    return now === undefined || (now.isProbe && !isShared) ? undefined : now;
  };
  const write = (key: StoreKey, encoded: () => Uint8Array | undefined) => {
    const now = running();
    if (now === undefined) {
      if (isShared) throw new Error(`${name} was written outside an act`);
      return false;
    }
    if (!fits(key)) throw new RangeError(`a key of ${name} is too long`);
    now.run.draft.put({ table: name, key, text: keyText(key), value: encoded() });
    return true;
  };
  return {
    get(key) {
      const now = running();
      if (now === undefined) return direct.get(key);
      const drafted = now.run.draft.find(name, key) ?? now.before?.find(name, key);
      if (drafted !== undefined) return drafted.value && codec.decode(drafted.value, key);
      if (isShared) now.run.didRead(name, key);
      return direct.get(key);
    },
    range(range: Range = {}) {
      const now = running();
      if (now === undefined) return direct.range(range);
      if (isShared) now.run.didReadRange(name, range);
      const { limit, ...all } = range;
      const stored = rows.range(all);
      const below = now.before?.over(name, stored, range) ?? stored;
      return decoded(first(now.run.draft.over(name, below, range), limit), codec.decode);
    },
    put(key, value) {
      if (!write(key, () => codec.encode(value))) direct.put(key, value);
    },
    putLast(key, value) {
      if (!write(key, () => codec.encode(value))) direct.putLast(key, value);
    },
    remove(key) {
      if (!write(key, () => undefined)) direct.remove(key);
    },
    watch: (changed) => direct.watch(changed),
  };
}
