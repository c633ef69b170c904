/** Rows that say of which version they are: a table changes its rows without rewriting those that are there. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { FrameWriter, readFrame } from "../../../src/store/journal/frame.ts";
import { HEAD_BYTES, newSegment, readSegment, TAIL_BYTES } from "../../../src/store/journal/segment.ts";
import { inspect } from "../../../src/store/recovery/inspection.ts";
import { openStore, type RowVersions, type Store } from "../../../src/store/store.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-row-versions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Person {
  readonly name: string;
  readonly langs: readonly string[];
}
/** The first version had one language or none, the second any number, the third a name in one piece. */
const SECOND: RowVersions<{ first: string; last: string; langs: readonly string[] }> = {
  version: 2,
  upgrade(row) {
    const { lang, ...rest } = row as { first: string; last: string; lang?: string };
    return { ...rest, langs: lang === undefined ? [] : [lang] };
  },
};
const THIRD: RowVersions<Person> = {
  version: 3,
  upgrade(row, version) {
    const second = version === 2 ? (row as ReturnType<typeof SECOND.upgrade>) : SECOND.upgrade(row, version);
    return { name: `${second.first} ${second.last}`, langs: second.langs };
  },
};

async function withStore<T>(act: (store: Store) => T | Promise<T>): Promise<T> {
  const store = openStore(folder);
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

test("rows of every version read as the newest, from the journal and from LMDB, and stay as they were written", async () => {
  await withStore((store) => {
    const first = store.table<object>("people");
    return store.act(() => {
      first.put(1, { first: "Ada", last: "L", lang: "en" });
      first.put(2, { first: "Bo", last: "M" });
    });
  });
  await withStore((store) => {
    const second = store.table("people", SECOND);
    return store.act(() => second.put(3, { first: "Cy", last: "N", langs: ["fr", "de"] }));
  });
  await withStore(async (store) => {
    const third = store.table("people", THIRD);
    const all = () => Array.from(third.range(), ({ value }) => value);
    const people = [
      { name: "Ada L", langs: ["en"] },
      { name: "Bo M", langs: [] },
      { name: "Cy N", langs: ["fr", "de"] },
    ];
    expect(all()).toEqual(people);
    await store.act(() => third.put(4, { name: "Di", langs: [] }));
    expect(all()).toEqual([...people, { name: "Di", langs: [] }]);
    await store.caughtUp();
    expect(third.get(4)).toEqual({ name: "Di", langs: [] });
  });
});

test("a row of a later release is refused with a line that names it, and is no damage", async () => {
  const line = "row 4 of people was written by a later release, which must be run on this data folder";
  await withStore((store) => {
    for (const table of [store.table("people", SECOND), store.table("people")]) {
      expect(() => table.get(4)).toThrow(line);
    }
  });
  expect(inspect(folder, ["people"], () => {}).findings).toEqual([]);
});

test("C5: a write of a kind that only a later release knows is refused, not taken for a removal", () => {
  const writer = new FrameWriter();
  writer.add({ table: "people", key: 1, text: "1", value: Buffer.from("row") });
  const frame = writer.take(1).subarray(HEAD_BYTES, -TAIL_BYTES);
  expect(readFrame(frame).writes).toHaveLength(1);
  // The kind of the first write is behind the number of the frame.
  frame[8] = 7;
  expect(() => readFrame(frame)).toThrow("a write of kind 7 was written by a later release");
});

test("a file of the journal whose version only a later release knows is refused, not taken for damage", () => {
  const file = newSegment({ salt: 1, number: 1, base: 0, size: 8192 });
  const laterBy = (versions: number) => {
    const later = Buffer.from(file);
    later.writeUInt32LE(later.readUInt32LE(8) + versions, 8);
    later.writeUInt32LE(crc32(later.subarray(0, 40)), 40);
    return later;
  };
  expect(readSegment(laterBy(0))).toBeDefined();
  expect(() => readSegment(laterBy(1))).toThrow("a file of version 4 was written by a later release");
});
