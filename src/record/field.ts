/**
 * Fields of an object as columns of a ClickHouse table, in RowBinary. A table's columns are declared in the shape of the
 * object, one line per field; name, type, writer and reader of a column come from that line.
 */
import { RowBinaryReader, type RowBinaryWriter } from "./row-binary.ts";

export interface Column {
  readonly name: string;
  /** ClickHouse's name of the type. */
  readonly type: string;
  /** The first row layout that has the column. */
  readonly since: number;
  /** Its value in the object that declares it. */
  valueOf(object: unknown): unknown;
  /** Reads its value from a row. @throws RangeError if the bytes end too early */
  read(from: RowBinaryReader): unknown;
}

/** A field with its columns, which are adjacent. */
export interface Field<T> {
  readonly columns: readonly Column[];
  /** Set for a field of {@link repeating}: the same for all fields of one call of it. */
  readonly run?: Run;
  write(to: RowBinaryWriter, value: T): void;
  /** Columns that this layout lacks are read as empty or 0. @throws RangeError if the bytes end too early */
  read(from: RowBinaryReader, layout: number): T;
}

interface ColumnField<T> extends Field<T> {
  readonly columns: readonly [Column];
}

/** A field for each required member of an object; optional members are not stored. */
export type Fields<T> = {
  readonly [K in keyof T as object extends Pick<T, K> ? never : K]: Field<T[K]>;
};
type ColumnFields<T> = { readonly [K in keyof T]: ColumnField<T[K]> };

/** The layout of release 0.1.0, the oldest that can be read. */
export const FIRST_LAYOUT = 2;

interface Since {
  /** The layout that adds the column: one more than the last release's. */
  readonly since?: number;
}

/** Zeros: every type reads them as empty or 0. */
const ZEROS = new Uint8Array(8);

function column<T>(
  type: string,
  write: (to: RowBinaryWriter, value: T) => void,
  read: (from: RowBinaryReader) => unknown,
) {
  return <V extends T>(name: string, { since = FIRST_LAYOUT }: Since = {}): ColumnField<V> => ({
    columns: [{ name, type, since, valueOf: (value) => value, read }],
    write,
    read: (from, layout) => read(layout < since ? new RowBinaryReader(ZEROS, 0) : from) as V,
  });
}

const writeText = (to: RowBinaryWriter, value: string) => to.text(value);
const readText = (from: RowBinaryReader) => from.text();
const write64 = (to: RowBinaryWriter, value: number) => to.u64(value);
const read64 = (from: RowBinaryReader) => from.u64();

export const string = column("String", writeText, readText);
/** For columns with few different values: names, not texts. */
export const lowCardinality = column("LowCardinality(String)", writeText, readText);
export const bool = column<boolean>(
  "Bool",
  (to, value) => to.bool(value),
  (from) => from.bool(),
);
export const uint8 = column<number>(
  "UInt8",
  (to, value) => to.u8(value),
  (from) => from.u8(),
);
export const uint16 = column<number>(
  "UInt16",
  (to, value) => to.u16(value),
  (from) => from.u16(),
);
export const uint32 = column<number>(
  "UInt32",
  (to, value) => to.u32(value),
  (from) => from.u32(),
);
export const uint64 = column("UInt64", write64, read64);
/** Not negative. */
export const int64 = column("Int64", write64, read64);
export const float64 = column<number>(
  "Float64",
  (to, value) => to.f64(value),
  (from) => from.f64(),
);
/** Milliseconds since 1970. */
export const dateTime64 = column<number>("DateTime64(3, 'UTC')", (to, value) => to.time(value), read64);
/** Microseconds since 1970. */
export const micros = column("DateTime64(6, 'UTC')", write64, read64);
export const names = column<readonly string[]>(
  "Array(LowCardinality(String))",
  (to, value) => to.list(value, writeText),
  (from) => from.list(readText),
);
export const textMap = column<Readonly<Record<string, string>>>(
  "Map(LowCardinality(String), String)",
  (to, value) => {
    const entries = Object.entries(value);
    to.varint(entries.length);
    for (const [key, text] of entries) {
      to.text(key);
      to.text(text);
    }
  },
  (from) => Object.fromEntries(from.list((entry) => [entry.text(), entry.text()])),
);

/** `Object.entries` with the type that a mapped type loses. */
const entriesOf = (fields: object) => Object.entries(fields) as [string, Field<unknown>][];

const member = (object: unknown, key: string): unknown => (object as Readonly<Record<string, unknown>>)[key];

/** Identifies fields that are written together. */
type Run = Readonly<Record<never, never>>;

/**
 * Fields with few different combinations of values, such as those that a key and an endpoint determine. What they wrote for
 * the last combinations is kept, and copied where all of them are the same again. They must be adjacent in a {@link group}.
 */
export function repeating<T extends Readonly<Record<string, Field<never>>>>(fields: T): T {
  const run: Run = {};
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, { ...field, run }])) as T;
}

/** An object's fields, one after another. */
export function group<T extends object>(fields: Fields<T>): Field<T> {
  const entries = entriesOf(fields);
  return {
    columns: entries.flatMap(([key, { columns }]) =>
      columns.map((part) => ({ ...part, valueOf: (object: unknown) => part.valueOf(member(object, key)) })),
    ),
    write: writerOf(entries),
    read: (from, layout) =>
      Object.fromEntries(entries.map(([key, field]) => [key, field.read(from, layout)])) as T,
  };
}

type Entry = readonly [key: string, Field<unknown>];
type Write = Field<unknown>["write"];

/**
 * Generates a function with one line per field, as if written by hand: a loop that reads the values by key costs two
 * microseconds more per call. The code is made from declared keys only, never from data.
 */
function writerOf<T>(entries: readonly Entry[]): Field<T>["write"] {
  const writes: Write[] = [];
  const lines: string[] = [];
  for (let at = 0; at < entries.length; ) {
    const [key, { run, write }] = entries[at] as Entry;
    const rest = entries.slice(at);
    const end = run === undefined ? 1 : rest.findIndex(([, field]) => field.run !== run);
    const together = end < 0 ? rest : rest.slice(0, end);
    lines.push(`write${writes.length}(to, ${run === undefined ? `value.${key}` : "value"});`);
    writes.push(run === undefined ? write : repeatingWriter(together));
    at += together.length;
  }
  return generated(writes, lines);
}

/** Combinations that are kept of each run; what one wrote is a few hundred bytes. */
const KEPT = 16;

/** Writes the fields of a run. A kept combination is compared value by value: most are the same strings as before. */
function repeatingWriter(entries: readonly Entry[]): Write {
  const kept: object[] = [];
  let next = 0;
  const keep = (combination: object): void => {
    kept[next] = combination;
    next = (next + 1) % KEPT;
  };
  const values = entries.map(([key], n) => `const v${n} = value.${key};`);
  const equal = entries.map((_, n) => `k.v${n} === v${n}`).join(" && ");
  const members = entries.map((_, n) => `v${n}`).join(", ");
  const lines = [
    ...values,
    `for (let i = 0; i < kept.length; i++) { const k = kept[i]; if (${equal}) { to.raw(k.bytes); return; } }`,
    "const from = to.length;",
    ...entries.map((_, n) => `write${n}(to, v${n});`),
    `keep({ ${members}, bytes: to.copy(from) });`,
  ];
  return generated(
    entries.map(([, { write }]) => write),
    lines,
    { kept, keep },
  );
}

/** A function `(to, value)` of these lines, in which `write0`, `write1`, … are the writers. */
function generated(writes: readonly Write[], lines: readonly string[], others: object = {}): Write {
  const names = [...writes.map((_, n) => `write${n}`), ...Object.keys(others)];
  const bind = new Function(...names, `return (to, value) => { ${lines.join(" ")} };`);
  return bind(...writes, ...Object.values(others));
}

/** A text that may be absent: it is stored as an empty one. */
export function optional(field: ColumnField<string>): ColumnField<string | undefined> {
  const [column] = field.columns;
  return {
    columns: [
      {
        ...column,
        valueOf: (value) => value ?? "",
        read: (from) => column.read(from) || undefined,
      },
    ],
    write: (to, value) => field.write(to, value ?? ""),
    read: (from, layout) => field.read(from, layout) || undefined,
  };
}

/** A list of objects as a Nested: one array per field, called `name.part`. */
export function nested<T>(name: string, fields: ColumnFields<T>): Field<readonly T[]> {
  const entries = entriesOf(fields) as [string, ColumnField<unknown>][];
  const parts = entries.map(([key, { columns }]) => ({ key, part: columns[0] }));
  const columns = parts.map(({ key, part }) => ({
    name: `${name}.${part.name}`,
    type: `Array(${part.type})`,
    since: part.since,
    valueOf: (list: unknown) => (list as readonly T[]).map((item) => part.valueOf(member(item, key))),
    read: (from: RowBinaryReader) => from.list(part.read),
  }));
  return {
    columns,
    write: generated(
      entries.map(([, { write }]) => write),
      entries.map(
        ([key], n) =>
          `to.varint(value.length); for (let i = 0; i < value.length; i++) write${n}(to, value[i].${key});`,
      ),
    ),
    read(from, layout) {
      const lists = columns.map(({ since, read }) => (layout < since ? [] : read(from)));
      const length = Math.max(0, ...lists.map((list) => list.length));
      return Array.from({ length }, (_, at) =>
        Object.fromEntries(
          parts.map(({ key, part }, n) => [key, lists[n]?.[at] ?? part.read(new RowBinaryReader(ZEROS, 0))]),
        ),
      ) as T[];
    },
  };
}

/** A list, preceded by a UInt8 column with its length. */
export function counted<T>(name: string, list: Field<readonly T[]>): Field<readonly T[]> {
  const length = uint8(name);
  const columns = length.columns.map((part) => ({
    ...part,
    valueOf: (value: unknown) => (value as readonly T[]).length,
  }));
  return {
    columns: [...columns, ...list.columns],
    write(to, value) {
      length.write(to, value.length);
      list.write(to, value);
    },
    read(from, layout) {
      length.read(from, layout);
      return list.read(from, layout);
    },
  };
}
