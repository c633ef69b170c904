/** What a start does with a journal that a crash cannot have left: it refuses in one line and changes nothing. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { open } from "lmdb";
import { pack } from "msgpackr";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkData } from "../../../src/host/commands/check-data.ts";
import { FrameWriter } from "../../../src/store/journal/frame.ts";
import { endMark, HEAD_BYTES, readSegment, TAIL_BYTES } from "../../../src/store/journal/segment.ts";
import { MOST_TABLES } from "../../../src/store/recovery/inspection.ts";
import { openStore } from "../../../src/store/store.ts";
import {
  crashAfter,
  fingerprint,
  flipBit,
  overwrite,
  rowsOf,
  segmentsOf,
} from "../../support/store/fixtures.ts";
import { until } from "../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-damage-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);

const FIVE =
  "for (const key of ['a', 'b', 'c', 'd', 'e']) await store.act(() => rows.put(key, key.repeat(50)));";
const ALL = ["a", "b", "c", "d", "e"].map((key) => [key, key.repeat(50)]);

const crashed = newFolder();
beforeAll(() => crashAfter(crashed, FIVE));
/** What a process left that made five commits and died: a copy for one test. */
function folderOfFive(): string {
  const folder = newFolder();
  cpSync(crashed, folder, { recursive: true });
  return folder;
}

/** The newest file, and where a text stands in it. */
function find(folder: string, text: string): { path: string; at: number } {
  const path = segmentsOf(folder).at(-1) ?? "";
  return { path, at: readFileSync(path).indexOf(text) };
}

function refused(folder: string, message: RegExp): void {
  const before = segmentsOf(folder).map(fingerprint);
  // Twice: the first try leaves everything to the second.
  for (let i = 0; i < 2; i++) expect(() => openStore(folder)).toThrow(message);
  expect(segmentsOf(folder).map(fingerprint)).toEqual(before);
}

describe("O1: a damaged journal refuses the start and is kept as it is", () => {
  test("O1: one flipped bit in the newest file, with later frames behind it", async () => {
    const folder = folderOfFive();
    const { path, at } = find(folder, "bbbb");
    flipBit(path, at);
    refused(folder, /journal is damaged at byte \d+: .*frames 2 to 5 .*weir recover/);
    flipBit(path, at);
    expect(await rowsOf(folder)).toEqual(ALL);
  });

  test("O1: one flipped bit in the very last frame", async () => {
    const folder = folderOfFive();
    const { path, at } = find(folder, "eeee");
    flipBit(path, at);
    refused(folder, /damaged at byte \d+: .*frames 5 to 5 /);
  });

  test("O1: a page of zeros over the last frames", async () => {
    const folder = folderOfFive();
    const { path } = find(folder, "eeee");
    overwrite(path, 0, readFileSync(path).subarray(0, 48));
    overwrite(path, 48, Buffer.alloc(4096));
    refused(folder, /damaged at byte 48: .*frames 1 to 5 /);
  });

  test("O1: a cut in the middle of the newest file, wherever it is", async () => {
    const folder = folderOfFive();
    const { path, at } = find(folder, "cccc");
    const whole = readFileSync(path);
    for (const size of [at + 10, at - 300, at + 4000, whole.length - 1, 40, 0]) {
      writeFileSync(path, whole);
      truncateSync(path, size);
      refused(folder, new RegExp(`damaged at byte (${size}|0): |is gone`));
    }
  });

  test("O1: the newest file gone, also when LMDB has had all of it", async () => {
    for (const wait of ["", "await store.caughtUp();"]) {
      const folder = newFolder();
      await crashAfter(folder, FIVE + wait);
      const path = segmentsOf(folder).at(-1) ?? "";
      rmSync(path);
      refused(folder, /\.journal is gone/);
    }
  });

  test("O1: a file between two others gone, or the newest of several", async () => {
    const folder = newFolder();
    const large = "await store.act(() => rows.put('x', 'x'.repeat(17e6)));";
    await crashAfter(folder, `${FIVE}${large}${FIVE}`);
    const files = segmentsOf(folder);
    expect(files).toHaveLength(3);
    for (const path of files.slice(1)) {
      const bytes = readFileSync(path);
      rmSync(path);
      refused(folder, /\.journal (is gone|is damaged)/);
      writeFileSync(path, bytes);
    }
    expect((await rowsOf(folder)).length).toBe(6);
  });

  test("O1: a claim of the folder that cannot be read", async () => {
    const folder = folderOfFive();
    const path = join(folder, "weir.lmdb");
    const bytes = readFileSync(path);
    const claim = '{"pid":';
    for (let at = bytes.indexOf(claim); at >= 0; at = bytes.indexOf(claim, at + 1)) flipBit(path, at + 1, 7);
    refused(folder, /weir\.lmdb is damaged: row "claim" of process cannot be read\. .*backup/);
    const told: string[] = [];
    expect(await checkData({ dataDir: folder }, (line) => told.push(line))).toBe(1);
    expect(told.join("\n")).toContain('row "claim" of process cannot be read');
  });

  test("O1: LMDB ahead of the last readable frame", async () => {
    const folder = newFolder();
    await crashAfter(folder, `${FIVE} await store.caughtUp();`);
    const { path } = find(folder, "eeee");
    const bytes = readFileSync(path);
    const [first] = readSegment(bytes)?.frames ?? [];
    // Everything behind the first frame, marks included.
    overwrite(path, 48 + HEAD_BYTES + (first?.length ?? 0), Buffer.alloc(10_000));
    refused(folder, /ends with frame 1, but weir.lmdb has come to frame 5/);
  });
});

describe("O1: what a crash leaves is no damage", () => {
  test("O1: a torn last frame is dropped, told of, and copied", async () => {
    const folder = folderOfFive();
    const path = segmentsOf(folder)[0] ?? "";
    const frames = readSegment(readFileSync(path))?.frames ?? [];
    const end = frames.reduce((at, frame) => at + HEAD_BYTES + frame.length, 48);
    // The head of a frame of 9,000 bytes and less than that behind it, as a kill between two pages leaves it.
    const torn = Buffer.alloc(5000, "torn");
    torn.writeUInt32LE(9000, 0);
    overwrite(path, end, torn);
    const notices: string[] = [];
    const store = openStore(folder, { onNotice: (line) => notices.push(line) });
    await store.close();
    expect(notices).toEqual([
      expect.stringMatching(new RegExp(`at byte ${end}, was not written to its end`)),
    ]);
    const [copy = ""] = readdirSync(join(folder, "journal")).filter((name) => name.endsWith(".torn"));
    expect(readFileSync(join(folder, "journal", copy)).equals(torn)).toBe(true);
    expect(await rowsOf(folder)).toEqual(ALL);
  });

  test("O1: a clean stop leaves nothing that a start asks for, and a file that could not be removed is none", async () => {
    const folder = folderOfFive();
    const [path = ""] = segmentsOf(folder);
    const old = readFileSync(path);
    expect(await rowsOf(folder)).toEqual(ALL);
    expect(segmentsOf(folder)).toEqual([]);
    writeFileSync(path, old);
    expect(await rowsOf(folder)).toEqual(ALL);
    rmSync(join(folder, "journal"), { recursive: true });
    expect(await rowsOf(folder)).toEqual(ALL);
  });

  test("O1: a file that was made and never came into use is no gap", async () => {
    const folder = folderOfFive();
    writeFileSync(join(folder, "journal", "000000000007.journal"), Buffer.alloc(5000));
    writeFileSync(join(folder, "journal", "000000000009.journal"), "");
    expect(await rowsOf(folder)).toEqual(ALL);
  });
});

test("O1: what a client sent cannot pass for a frame", async () => {
  const folder = newFolder();
  // A row whose value is a whole frame of the first version, or an end mark, inside of a frame that is torn.
  const forged = Buffer.concat([endMark(0, { next: 99, newest: 99 }), v1Frame(99, [["forged", "forged"]])]);
  await crashAfter(
    folder,
    `await store.act(() => rows.put('a', Buffer.from("${forged.toString("hex")}", "hex")));`,
  );
  const [path = ""] = segmentsOf(folder);
  const bytes = readFileSync(path);
  const at = bytes.indexOf(forged);
  // Its head is broken, and all marks behind it: as torn as can be.
  flipBit(path, 50);
  overwrite(path, at + forged.length, Buffer.alloc(TAIL_BYTES));
  expect(await rowsOf(folder)).toEqual([]);
});

/** A frame as the first version of the journal wrote it. */
function v1Frame(number: number, rows: [string, string][]): Buffer {
  const writer = new FrameWriter();
  for (const [key, value] of rows) {
    writer.add({ table: "rows", key, text: JSON.stringify(key), value: pack(value) });
  }
  const frame = Buffer.from(writer.take(number)).subarray(0, -TAIL_BYTES);
  frame.writeUInt32LE(frame.length - HEAD_BYTES, 0);
  frame.writeUInt32LE(crc32(frame.subarray(HEAD_BYTES)), 4);
  return frame;
}

/** A folder as the version before left it: frames 1 and 2 in LMDB, 2 to 5 in the journal. */
async function v1Folder(): Promise<string> {
  const folder = newFolder();
  mkdirSync(join(folder, "journal"), { recursive: true });
  const root = open({ path: join(folder, "weir.lmdb"), maxDbs: MOST_TABLES });
  const rows = root.openDB<Uint8Array, string>("rows", { encoding: "binary" });
  for (const [key, value] of ALL.slice(0, 2)) await rows.put(key ?? "", pack(value));
  await root.openDB("journal", { encoding: "json" }).put("progress", { applied: 2, kept: 1 });
  await root.close();
  const frames = ALL.slice(1).map((row, i) => v1Frame(i + 2, [row as [string, string]]));
  writeFileSync(join(folder, "journal", "000000000003.journal"), Buffer.concat(frames));
  return folder;
}

describe("O1: a folder of the version before", () => {
  test("O1: opens with everything in it, also with a torn last frame", async () => {
    const folder = await v1Folder();
    const [path = ""] = segmentsOf(folder);
    writeFileSync(path, Buffer.concat([readFileSync(path), v1Frame(6, [["f", "f"]]).subarray(0, 20)]));
    expect(await rowsOf(folder)).toEqual(ALL);
    expect(await rowsOf(folder)).toEqual(ALL);
  });

  test("O1: is refused with a flipped bit in its newest file", async () => {
    const folder = await v1Folder();
    const { path, at } = find(folder, "cccc");
    flipBit(path, at);
    refused(folder, /damaged at byte \d+: .*frames 3 to 5 /);
  });
});

test("O1: frames that LMDB has had go with their file once the next one is in use", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  const rows = store.table<string>("rows");
  for (let i = 0; i < 6; i++) await store.act(() => rows.put(String(i), "x".repeat(9e6)));
  await until("ended files are removed", () => segmentsOf(folder).length === 1);
  await store.close();
  expect((await rowsOf(folder)).length).toBe(6);
});
