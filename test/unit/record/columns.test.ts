/** The list of columns of a call's record: what a line of it says is what is written, and what is read again. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { COLUMNS, LAYOUT, readRecord, readValues, valuesOf } from "../../../src/record/columns.ts";
import { bool, group, nested, string, uint32 } from "../../../src/record/field.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { decodeRow, encodeRow, insertableRow, rowParts } from "../../../src/record/row.ts";
import { RowBinaryReader, RowBinaryWriter } from "../../../src/record/row-binary.ts";

/** As ClickHouse takes a value of the type; `n` tells columns apart. */
const WRITERS: Readonly<Record<string, (to: RowBinaryWriter, n: number) => void>> = {
  String: (to, n) => to.text(`text ${n}`),
  "LowCardinality(String)": (to, n) => to.text(`name ${n}`),
  Bool: (to, n) => to.bool((n & 1) === 1),
  UInt8: (to, n) => to.u8(n),
  UInt16: (to, n) => to.u16(60_000 + n),
  UInt32: (to, n) => to.u32(4_000_000_000 + n),
  UInt64: (to, n) => to.u64(9_000_000_000_000 + n),
  Int64: (to, n) => to.u64(8_000_000_000_000 + n),
  Float64: (to, n) => to.f64(n + 0.25),
  "DateTime64(3, 'UTC')": (to, n) => to.time(1_760_000_000_000 + n),
  "DateTime64(6, 'UTC')": (to, n) => to.u64(1_760_000_000_000_000 + n),
  "Map(LowCardinality(String), String)": (to, n) =>
    to.list([n, n + 1], (entry, key) => {
      entry.text(`key ${key}`);
      entry.text(`value ${n}`);
    }),
};

/** A row with another value in each column; truth values differ by this bit of the column's number. */
function rowOf(bit: number): Buffer {
  const to = new RowBinaryWriter(4096);
  for (const [at, { name, type }] of COLUMNS.entries()) {
    const n = type === "Bool" ? at >> bit : at;
    const item = /^Array\((.*)\)$/.exec(type)?.[1];
    if (name === "attempts") to.u8(2);
    else if (item === undefined) WRITERS[type]?.(to, n);
    else to.list([n, n + 100], (element, value) => WRITERS[item]?.(element, value));
  }
  return to.take();
}

const recordOf = (row: Buffer): CallRecord => ({
  ...readRecord(new RowBinaryReader(row, 0), LAYOUT),
  redact: { presets: [], patterns: [] },
});
const rows = Array.from({ length: 7 }, (_, bit) => rowOf(bit));
const names = COLUMNS.map(({ name }) => name);

describe("the columns of a record", () => {
  test("have types that this test can write, and names of their own", () => {
    const types = COLUMNS.map(({ type }) => /^Array\((.*)\)$/.exec(type)?.[1] ?? type);
    expect(types.filter((type) => WRITERS[type] === undefined)).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("are read, each into a field of its own, and written back as they were", () => {
    for (const row of rows) {
      const record = recordOf(row);
      expect(insertableRow(encodeRow(record))?.requests.toString("hex")).toBe(row.toString("hex"));
      expect(decodeRow(encodeRow(record))).toEqual(record);
    }
  });

  test("are written anew where one of those that are copied from an earlier row has changed", () => {
    const [usual, other] = [recordOf(rowOf(0)), recordOf(rowOf(1))].map((record) => ({ ...record }));
    for (const key of Object.keys(usual as CallRecord) as (keyof CallRecord)[]) {
      // The first has equal truth values in places where the second has not.
      const value = typeof usual?.[key] === "boolean" ? !usual[key] : other?.[key];
      const changed = {
        ...usual,
        [key]: typeof value === "string" ? `${value}, changed` : value,
      } as CallRecord;
      for (const record of [usual, changed, usual] as CallRecord[])
        expect(decodeRow(encodeRow(record)), key).toEqual(record);
    }
  });

  test("are written as they are when there are more combinations than are kept", () => {
    const base = recordOf(rowOf(0));
    const records = Array.from({ length: 40 }, (_, n) => ({
      ...base,
      keyId: `key ${n % 20}`,
      httpStatus: 200 + (n % 3),
      userAgent: `agent ${"ä".repeat(n)}`,
    }));
    for (const record of [...records, ...records]) expect(decodeRow(encodeRow(record))).toEqual(record);
  });

  test("are called as their fields", () => {
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const OTHERS = { ts_ms: "ts", settled_at_us: "settled_at", total_micro_usd: "cost_micro" };
    const called = (name: string) => ({ ...OTHERS, price_version: "price_version_id" })[name] ?? name;
    for (const row of rows) {
      const { attempts, cost, usage, redact, ...plain } = recordOf(row);
      const { lines, ...totals } = cost;
      const expected: Record<string, unknown> = { attempts: attempts.length };
      const fields = { ...plain, ...usage, ...totals };
      for (const [name, value] of Object.entries(fields)) expected[called(snake(name))] = value;
      for (const [prefix, items] of [
        ["cost_lines", lines],
        ["attempt_rows", attempts],
      ] as const) {
        for (const name of Object.keys(items[0] ?? {})) {
          const values = (items as readonly object[]).map((item) => item[name as keyof typeof item]);
          expected[`${prefix}.${snake(name).replace("ts_ms", "ts")}`] = values;
        }
      }
      expect(valuesOf(recordOf(row), names)).toEqual(expected);
      expect(readValues(row, names)).toEqual([expected]);
    }
  });
});

describe("a row of release 0.1.0", () => {
  const kept = JSON.parse(readFileSync(new URL("../../releases/0.1.0.row.json", import.meta.url), "utf8"));
  const row = Buffer.from(kept.row, "base64");
  const { redact, ...recorded } = kept.record as CallRecord;

  test("reads as the record it was", () => {
    const { request, response, ...record } = decodeRow(row) ?? {};
    expect(record).toMatchObject({ ...recorded, redact });
    expect([request, response].map(String)).toEqual([kept.request, kept.response]);
  });

  test("is inserted with all columns of this release", () => {
    const requests = insertableRow(row)?.requests ?? Buffer.alloc(0);
    const reader = new RowBinaryReader(requests, 0);
    expect(readRecord(reader, LAYOUT)).toMatchObject(recorded);
    expect(reader.at).toBe(requests.length);
    expect(rowParts(row)).toMatchObject({
      rules: JSON.stringify([redact.presets, redact.patterns]),
      upstreamMessages: recorded.attempts.map(({ upstreamMessage }) => upstreamMessage),
    });
  });
});

test("C5: a row of layout 3 is read with the columns of layout 4, where it has them", () => {
  const kept = JSON.parse(readFileSync(new URL("../../releases/layout-4.row.json", import.meta.url), "utf8"));
  const attempts = kept.record.attempts.map((attempt: object) => ({ ...attempt, refusal: "" }));
  const record = { ...kept.record, attempts, errorMessage: "", errorDetails: "" };
  const row = Buffer.from(kept.row, "base64");
  for (const layout of [3, 4]) {
    row[0] = layout;
    expect(decodeRow(row)).toEqual(record);
    const whole = insertableRow(encodeRow(record))?.requests;
    expect(insertableRow(row)?.requests.toString("hex")).toBe(whole?.toString("hex"));
  }
});

test("a row whose columns do not fill it is damaged", () => {
  const row = encodeRow(recordOf(rowOf(0)));
  row[0] = 2;
  expect(decodeRow(row)).toBeUndefined();
});

test("a column that a row's layout lacks is empty, wherever it stands", () => {
  const item = { kind: string("kind"), count: uint32("count") };
  const before = group({ name: string("name"), items: nested("items", item), last: bool("last") });
  const since = { since: 3 };
  const after = group({
    first: uint32("first", since),
    name: string("name"),
    note: string("note", since),
    items: nested("items", { size: uint32("size", since), kind: item.kind, count: item.count }),
    last: bool("last"),
  });
  const to = new RowBinaryWriter(64);
  before.write(to, { name: "a", items: [{ kind: "b", count: 7 }], last: true });
  expect(after.read(new RowBinaryReader(to.take(), 0), 2)).toEqual({
    first: 0,
    name: "a",
    note: "",
    items: [{ kind: "b", size: 0, count: 7 }],
    last: true,
  });
});

describe("texts of a row", () => {
  const base = { ...recordOf(rowOf(0)), payloadState: "available" as const };
  const LENGTHS = [
    0, 1, 42, 43, 47, 48, 49, 63, 64, 95, 96, 97, 127, 128, 129, 4095, 4096, 4097, 16_384, 70_000,
  ];

  test("of any length and script are read as they were", () => {
    for (const letter of ["a", "é", "汉", "😀"]) {
      for (const length of LENGTHS) {
        const text = letter.repeat(length);
        const record = {
          ...base,
          routeTrace: text,
          requestId: text,
          tags: { [`k${text}`]: text },
          warnings: [text],
        };
        expect(decodeRow(encodeRow(record)), `${length} × ${letter}`).toEqual(record);
      }
    }
  });

  test("and payloads of any size leave the rows before them as they were", () => {
    const kept = LENGTHS.concat(20_000, 28_000, 28_672, 28_673, 300_000).map((length, n) => {
      const record = {
        ...base,
        requestId: `req ${n}`,
        request: Buffer.alloc(length, n),
        response: Buffer.alloc(n),
      };
      return { record, row: encodeRow(record) };
    });
    for (const { record, row } of [...kept, ...kept]) {
      expect(decodeRow(row)).toEqual(record);
      expect(rowParts(row)?.request).toEqual(record.request);
    }
  });
});
