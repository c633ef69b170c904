/**
 * Fields of an object as columns of a ClickHouse table, in RowBinary. A table's columns are declared in the shape of the
 * object, one line per field; name, type, writer and reader of a column come from that line.
 */
import { RowBinaryReader, type RowBinaryWriter } from "./row-binary.ts";
import * as code from "./row-code.ts";

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
  /** Writes it, as a part of a generated function. */
  readonly code: code.Code;
  /** Columns that this layout lacks are read as empty or 0. @throws RangeError if the bytes end too early */
  read(from: RowBinaryReader, layout: number): T;
}

interface ColumnField<T> extends Field<T> {
  readonly columns: readonly [Column];
}

/** Fields that are written by themselves. */
export interface Group<T> extends Field<T> {
  write(to: RowBinaryWriter, value: T): void;
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

function column<T>(type: string, written: code.Code, read: (from: RowBinaryReader) => unknown) {
  return <V extends T>(name: string, { since = FIRST_LAYOUT }: Since = {}): ColumnField<V> => ({
    columns: [{ name, type, since, valueOf: (value) => value, read }],
    code: written,
    read: (from, layout) => read(layout < since ? new RowBinaryReader(ZEROS, 0) : from) as V,
  });
}

const writeText = (to: RowBinaryWriter, value: string) => to.text(value);
const readText = (from: RowBinaryReader) => from.text();
const read64 = (from: RowBinaryReader) => from.u64();

export const string = column<string>("String", code.textCode, readText);
/** For columns with few different values: names, not texts. */
export const lowCardinality = column<string>("LowCardinality(String)", code.textCode, readText);
export const bool = column<boolean>("Bool", code.boolCode, (from) => from.bool());
export const uint8 = column<number>("UInt8", code.uint8Code, (from) => from.u8());
export const uint16 = column<number>("UInt16", code.uint16Code, (from) => from.u16());
export const uint32 = column<number>("UInt32", code.uint32Code, (from) => from.u32());
export const uint64 = column<number>("UInt64", code.uint64Code, read64);
/** Not negative. */
export const int64 = column<number>("Int64", code.uint64Code, read64);
export const float64 = column<number>("Float64", code.float64Code, (from) => from.f64());
/** Milliseconds since 1970. */
export const dateTime64 = column<number>("DateTime64(3, 'UTC')", code.timeCode, read64);
/** Microseconds since 1970. */
export const micros = column<number>("DateTime64(6, 'UTC')", code.uint64Code, read64);
export const names = column<readonly string[]>(
  "Array(LowCardinality(String))",
  code.seldom((to, value: readonly string[]) => to.list(value, writeText)),
  (from) => from.list(readText),
);
export const textMap = column<Readonly<Record<string, string>>>(
  "Map(LowCardinality(String), String)",
  code.outside((to, value: Readonly<Record<string, string>>) => {
    const entries = Object.entries(value);
    to.varint(entries.length);
    for (const [key, text] of entries) {
      to.text(key);
      to.text(text);
    }
  }),
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
export function group<T extends object>(fields: Fields<T>): Group<T> {
  const entries = entriesOf(fields);
  const written = code.partsCode(entries.map(partOf));
  return {
    columns: entries.flatMap(([key, { columns }]) =>
      columns.map((part) => ({ ...part, valueOf: (object: unknown) => part.valueOf(member(object, key)) })),
    ),
    code: written,
    write: code.compiled(written),
    read: (from, layout) =>
      Object.fromEntries(entries.map(([key, field]) => [key, field.read(from, layout)])) as T,
  };
}

const partOf = ([key, field]: readonly [string, Field<unknown>]): code.Part => ({
  key,
  code: field.code,
  run: field.run,
});

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
    code: (value, bind) => field.code(`(${value} ?? "")`, bind),
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
    code: code.listsCode(entries.map(partOf)),
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
    code: (value, bind) => `${length.code(`${value}.length`, bind)} ${list.code(value, bind)}`,
    read(from, layout) {
      length.read(from, layout);
      return list.read(from, layout);
    },
  };
}
