/** Backups of a store in this process: full disks, holds that ended too early, and what is damaged already. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Holder, makeBackup } from "../../../../src/host/backup/make.ts";
import { lastRestore } from "../../../../src/host/backup/marker.ts";
import { restoreBackup } from "../../../../src/host/backup/restore.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";

const home = mkdtempSync(join(tmpdir(), "weir-make-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);

async function filled(besideBytes = 3_000_000): Promise<{ dataDir: string; store: Store }> {
  const dataDir = newFolder();
  const store = openStore(dataDir);
  const rows = store.table<Buffer>("rows");
  for (let n = 0; n < 30; n++) await store.act(() => rows.put(n, Buffer.alloc(100_000, n)));
  mkdirSync(join(dataDir, "identity"));
  writeFileSync(join(dataDir, "identity/people.json"), "x".repeat(besideBytes));
  return { dataDir, store };
}

/** Holds the store until the copy has begun; then does what the test wants. */
function holder(store: Store, then: () => unknown = () => {}, ahead = 0): Holder {
  let release = () => {};
  return {
    begin: () =>
      new Promise((resolve) => {
        void store.still((frame) => {
          resolve({ id: "0".repeat(24), frame: frame + ahead, release: "0.1.0", records: "none" });
          return new Promise<void>((ended) => {
            release = ended;
          });
        });
      }),
    async freeze() {
      release();
      then();
      return undefined;
    },
    end: async () => release(),
  };
}

const make = (dataDir: string, to: string, of: Holder) =>
  makeBackup({ dataDir, to, nowMs: Date.parse("2026-11-23T10:00:00Z"), withMasterKey: true, holder: of });
const restore = (from: string, dataDir: string, release = "0.1.0") =>
  restoreBackup({ from, dataDir, release, nowMs: Date.parse("2026-11-24T10:00:00Z") });

/** A small file system; undefined where this user may not mount one. */
function smallDisk(megabytes: number): string | undefined {
  const folder = newFolder();
  mkdirSync(folder);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  return status === 0 ? folder : undefined;
}

test("each restore is a copy with an id of its own, and knows which backup it came from", async () => {
  const { dataDir, store } = await filled();
  const to = newFolder();
  await make(dataDir, to, holder(store));
  await store.close();
  const ids: (string | undefined)[] = [];
  for (let n = 0; n < 2; n++) {
    const folder = newFolder();
    const { copyId } = await restore(to, folder);
    expect(readdirSync(folder).sort()).toEqual(["identity", "journal", "weir.lmdb", "weir.lmdb-disk"]);
    const copy = openStore(folder);
    const row = lastRestore(copy);
    expect(row).toMatchObject({ copyId, backupId: "0".repeat(24), madeAt: "2026-11-23T10:00:00.000Z" });
    expect([...copy.table("rows").range()]).toHaveLength(30);
    ids.push(row?.copyId);
    await copy.close();
  }
  expect(new Set(ids).size).toBe(2);
});

test("a disk that is too small, or that fills while the backup is made: told so, and nothing is left there", async (context) => {
  const disk = smallDisk(24);
  if (disk === undefined) return context.skip("only root may mount a small file system");
  const { dataDir, store } = await filled();
  try {
    const fill = () =>
      spawnSync("dd", ["if=/dev/zero", `of=${join(disk, "filler")}`, "bs=4096", "count=100000"]);
    const to = join(disk, "backup");
    await expect(make(dataDir, to, holder(store, fill))).rejects.toThrow(
      /too full|is full|could not be copied/,
    );
    expect(existsSync(to)).toBe(false);
    await expect(make(dataDir, to, holder(store))).rejects.toThrow(
      /too full: \d+ MB are needed, and \d MB are free/,
    );
    expect(readdirSync(disk)).toEqual(["filler"]);
    rmSync(join(disk, "filler"));
    const large = await filled(24_000_000);
    await expect(make(large.dataDir, to, holder(large.store))).rejects.toThrow(
      /is full; nothing of the backup is left|could not be copied/,
    );
    await large.store.close();
    expect(readdirSync(disk)).toEqual([]);
    await make(dataDir, to, holder(store));
    writeFileSync(join(disk, "filler"), Buffer.alloc(4_000_000));
    await expect(restore(to, join(disk, "data"))).rejects.toThrow(/is too full/);
    expect(readdirSync(disk).sort()).toEqual(["backup", "filler"]);
  } finally {
    await store.close();
    spawnSync("umount", ["-l", disk]);
  }
});

test("a hold that ended before the copy began is noticed by its frame", async () => {
  const { dataDir, store } = await filled();
  const to = newFolder();
  await expect(
    make(
      dataDir,
      to,
      holder(store, () => {}, -1),
    ),
  ).rejects.toThrow("the store has gone on");
  expect(existsSync(to)).toBe(false);
  await store.close();
});

test("a ledger that does not add up is no backup, and is never restored", async () => {
  const { dataDir, store } = await filled();
  await store.act(() => store.table("ledger").put(["org_a", 2], [3, 5, 5, 0, "grant", "x"]));
  const to = newFolder();
  await expect(make(dataDir, to, holder(store))).rejects.toThrow("ledger of org_a: entry 2 follows 0");
  expect(existsSync(to)).toBe(false);
  await store.close();
});

test("a backup of a later release is refused by its manifest", async () => {
  const { dataDir, store } = await filled();
  const to = newFolder();
  await make(dataDir, to, holder(store));
  await store.close();
  await expect(restore(to, newFolder(), "0.0.9")).rejects.toThrow(
    /manifest\.json is of release 0\.1\.0; this is 0\.0\.9/,
  );
  expect(readFileSync(join(to, "manifest.json"), "utf8")).toContain('"format": 1');
});
