/** `weir recover` and `weir check --data`, and starts that name file and cure. */
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openOutbox } from "../../../src/analytics/outbox/outbox.ts";
import { checkData } from "../../../src/host/commands/check-data.ts";
import { recover } from "../../../src/host/commands/recover.ts";
import { openLmdbFile } from "../../../src/store/lmdb/lmdb-file.ts";
import { assertReadable } from "../../../src/store/recovery/inspection.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { record } from "../../support/analytics/records.ts";
import { audit, ManualClock, openCredits, wholeLedger } from "../../support/credits/fixtures.ts";
import { fingerprint, flipBit, overwrite, segmentsOf } from "../../support/store/fixtures.ts";
import { until } from "../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-commands-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);
const clock = new ManualClock("2026-03-01T10:00:00Z");
const placesOf = (bytes: Buffer, text: string): number[] => {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
};
const MAIN = join(import.meta.dirname, "../../../src/main.ts");

/** A copy of the folder as it is at this moment, as kill -9 would leave it. */
function snapshot(folder: string): string {
  const copy = newFolder();
  expect(spawnSync("cp", ["-a", "--sparse=always", folder, copy]).status).toBe(0);
  return copy;
}

/** Settles one after the other, each with its record: one frame each. */
async function settle(store: Store, names: readonly string[]): Promise<void> {
  const credits = openCredits({ store, clock });
  const outbox = openOutbox(store);
  await credits.post("org_a", { kind: "grant", amountMicroUsd: 1_000_000, refType: "grant", refId: "first" });
  for (const requestId of names) {
    const hold = credits.hold("org_a", 100);
    if (hold === undefined) throw new Error("no credit");
    const also = () => outbox.add(record({ requestId }));
    await credits.settle(hold, { requestId, amountMicroUsd: 10, atMs: clock.now(), also });
  }
}

/** A folder that a kill left, with five settles in its journal of which LMDB has none. */
async function killed(): Promise<string> {
  // LMDB has them a moment after the first one: on a late machine that is before the copy, and it is made again.
  const made = await until(
    "a copy is made before LMDB has any of the entries",
    async () => {
      const folder = newFolder();
      const store = openStore(folder);
      await settle(store, ["req_1", "req_2", "req_3", "req_4", "req_5"]);
      const copy = snapshot(folder);
      await store.close();
      const file = openLmdbFile(join(copy, "weir.lmdb"));
      const entries = [...(file?.rows("ledger") ?? [])].length;
      file?.close();
      return { copy, entries };
    },
    ({ entries }) => entries === 0,
  );
  // The copy's claim is of this process, which lives; another one would be refused.
  return made.copy;
}

async function run(act: (out: (line: string) => void) => Promise<number>): Promise<[number, string]> {
  const lines: string[] = [];
  return [await act((line) => lines.push(line)), lines.join("\n")];
}
const recovered = (dataDir: string, yes: boolean) => run((out) => recover({ dataDir, yes, clock }, out));
const checked = (dataDir: string) => run((out) => checkData({ dataDir }, out));
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => `${path} ${fingerprint(path)}`);

test("O1: recover tells first, changes nothing, and then gives up what it told and keeps the files", async () => {
  const folder = await killed();
  const path = segmentsOf(folder).at(-1) ?? "";
  const damagedAt = readFileSync(path).indexOf("req_3");
  flipBit(path, damagedAt);
  const bad = readFileSync(path);
  const before = filesOf(folder);
  expect(() => openStore(folder)).toThrow("weir recover");
  const [code, told] = await recovered(folder, false);
  expect([code, told]).toEqual([1, expect.stringMatching(/is damaged at byte \d+.*\n3 frames are kept\n/)]);
  expect(told).toMatch(/Lost: 2 readable frames .* with 2 ledger entries, 2 records/);
  expect(told).toMatch(/Lost: 1 frames that cannot be read/);
  expect(filesOf(folder)).toEqual(before);

  expect((await recovered(folder, true))[0]).toBe(0);
  const [aside = ""] = readdirSync(folder).filter((name) => name.startsWith("damaged-"));
  const [copy = ""] = readdirSync(join(folder, aside));
  expect(readFileSync(join(folder, aside, copy)).equals(bad)).toBe(true);
  expect(statSync(join(folder, aside)).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, aside, copy)).mode & 0o777).toBe(0o600);
  expect(await checked(folder)).toEqual([0, expect.stringMatching(/3 entries of 1 orgs\nEverything/)]);

  const store = openStore(folder);
  const credits = openCredits({ store, clock });
  const entries = wholeLedger(credits, "org_a");
  expect([entries.length, audit(entries)]).toEqual([3, credits.balance("org_a").balanceMicroUsd]);
  await settle(store, ["req_6"]);
  await store.close();
  expect((await checked(folder))[0]).toBe(0);
  expect(await recovered(folder, true)).toEqual([0, expect.stringContaining("nothing to recover")]);
});

test("O1: recover keeps frames behind a bad one of which LMDB lacks only the records", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  await settle(store, ["req_1", "req_2", "req_3"]);
  await store.act(() => store.table("rows").put("x", 1));
  await store.caughtUp();
  await settle(store, ["req_4", "req_5"]);
  const copy = snapshot(folder);
  await store.close();
  const path = segmentsOf(copy).at(-1) ?? "";
  flipBit(path, readFileSync(path).indexOf("req_2"));
  const [, told] = await recovered(copy, true);
  expect(told).toMatch(/Lost: the records of 1 frames/);
  expect(told).toMatch(/Lost: 0 readable frames/);
  const again = openStore(copy);
  const outbox = openOutbox(again);
  expect(wholeLedger(openCredits({ store: again, clock }), "org_a")).toHaveLength(6);
  expect(["req_1", "req_2", "req_3", "req_4", "req_5"].map((id) => outbox.recent(id)?.requestId)).toEqual([
    "req_1",
    undefined,
    "req_3",
    "req_4",
    "req_5",
  ]);
  await again.close();
});

test("O7: a truncated weir.lmdb, a page of zeros, one that is gone: one line with the file and the cure", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  await settle(
    store,
    Array.from({ length: 300 }, (_, i) => `req_${i}`),
  );
  await store.close();
  const path = join(folder, "weir.lmdb");
  const whole = readFileSync(path);
  const damages: [string, () => unknown][] = [
    ["cut in half", () => truncateSync(path, Math.floor(whole.length / 8192) * 4096)],
    ["cut to a page", () => truncateSync(path, 4096)],
    ["cut to nothing", () => truncateSync(path, 0)],
    ["gone", () => rmSync(path)],
    // Pages that were freed hold older copies of it.
    ["an entry", () => placesOf(whole, "req_123").map((at) => flipBit(path, at))],
    ["the head", () => flipBit(path, 24)],
  ];
  for (const [name, damage] of damages) {
    writeFileSync(path, whole);
    damage();
    expect([name, (await checked(folder))[0]]).toEqual([name, 1]);
    expect(() => openStore(folder), name).toThrow(/^[^\n]*weir\.lmdb is damaged: [^\n]* backup[^\n]*$/);
  }
  writeFileSync(path, whole);
  for (let page = 2; page * 4096 < whole.length; page++) {
    writeFileSync(path, whole);
    overwrite(path, page * 4096, Buffer.alloc(4096));
    const [code, told] = await checked(folder);
    // A free page is no damage.
    if (code === 0) await openStore(folder).close();
    else expect(() => openStore(folder), told).toThrow("weir.lmdb is damaged");
    writeFileSync(path, whole);
  }
});

test("O7: check --data finds a ledger that does not add up, a gap and a lost reference, and writes nothing", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  await settle(store, ["req_1", "req_2", "req_3"]);
  expect((await checked(snapshot(folder)))[1]).toMatch(/Everything/);
  const ledger = store.table<unknown[]>("ledger");
  await store.act(() => {
    ledger.put(["org_a", 3], [0, -10, 5, 0, "req_2"]);
    ledger.put(["org_a", 6], [0, -10, 5, 0, "req_9"]);
    store.table("ledger.references").remove(["org_a", "grant", "first"]);
  });
  await store.close();
  const before = filesOf(folder);
  const [code, told] = await checked(folder);
  expect(code).toBe(1);
  expect(told).toMatch(/balance at entry 3 is not the sum/);
  expect(told).toMatch(/entry 6 follows 4/);
  expect(told).toMatch(/org_a grant first is not found by its reference/);
  expect(filesOf(folder)).toEqual(before);
});

test("O7: a row that is damaged after the start is an error of its reader, and names the table", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  const rows = store.table<string>("rows");
  await store.act(() => rows.put("a", "some text of a row"));
  await store.caughtUp();
  flipBit(join(folder, "weir.lmdb"), readFileSync(join(folder, "weir.lmdb")).lastIndexOf("some text"));
  expect(() => rows.get("a")).toThrow('row "a" of rows cannot be read');
  await store.close();
});

test("O7: no flipped bit in a page of the ledger changes what a start serves", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  await settle(
    store,
    Array.from({ length: 120 }, (_, i) => `req_${i}`),
  );
  await store.close();
  const path = join(folder, "weir.lmdb");
  const whole = readFileSync(path);
  const ledger = () => {
    const file = openLmdbFile(path);
    const rows = [...(file?.rows("ledger") ?? [])].map(
      ({ key, value }) => `${key.toString("hex")}${value.toString("hex")}`,
    );
    file?.close();
    return rows;
  };
  const rows = ledger();
  const page = Math.floor(whole.indexOf("req_60") / 4096) * 4096;
  let refused = 0;
  // Each byte once, at a bit that differs from byte to byte.
  for (let byte = page; byte < page + 4096; byte += 3) {
    flipBit(path, byte, byte % 8);
    let isRefused = false;
    try {
      assertReadable(folder, ["ledger"], () => {});
    } catch {
      isRefused = true;
    }
    if (isRefused) refused++;
    else expect([byte, ledger()]).toEqual([byte, rows]);
    flipBit(path, byte, byte % 8);
  }
  expect(refused).toBeGreaterThan(300);
});

test("O7: a key is one key in all its forms, also for the checksum", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  const table = store.table<number>("rows");
  const bytes = store.bytes("outbox_apart");
  await store.act(() => table.put(["one"], 1));
  expect([table.get(["one"]), table.get("one")]).toEqual([1, 1]);
  await store.act(() => bytes.put(["b", 1.5], Buffer.from([0xc1, 1, 2, 3, 4, 5, 6])));
  await store.caughtUp();
  expect([table.get(["one"]), table.get("one")]).toEqual([1, 1]);
  expect([...table.range()]).toEqual([{ key: "one", value: 1 }]);
  expect(Buffer.from(bytes.get(["b", 1.5]) ?? []).toString("hex")).toBe("c1010203040506");
  await store.close();
  expect((await checked(folder))[0]).toBe(0);
});

test("O7: the command line: check and recover end with their codes", () => {
  const folder = newFolder();
  const weir = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: "utf8" });
    return [status, stdout + stderr];
  };
  expect(weir("check", "--data", folder)).toEqual([1, `${folder} does not exist\n`]);
  mkdirSync(folder);
  expect(weir("check", "--data", folder)).toEqual([
    0,
    expect.stringContaining("Everything is as it should be"),
  ]);
  expect(weir("recover", "--data", folder)).toEqual([0, expect.stringContaining("nothing to recover")]);
});

test("O7: a start on a full disk says so", (context) => {
  const disk = newFolder();
  mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]).status !== 0) {
    return context.skip("only root may mount a small file system");
  }
  try {
    expect(() => openStore(join(disk, "data"))).toThrow(/data cannot be written: No space left .* MB free/);
  } finally {
    spawnSync("umount", ["-l", disk]);
  }
});
