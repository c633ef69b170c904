/** Each file that a start opens, makes, writes, syncs or renames fails: the start ends with one sentence that names it, why, and what helps. */
import { mkdtempSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { unpacked } from "../../releases/opened.ts";
import { compileDiskFaults } from "../../support/disk-faults.fixtures.ts";
import { removeFolder } from "../../support/gateway.ts";
import { MAIN, place, REPO, run } from "../../support/process.fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-start-faults-"));
afterAll(() => removeFolder(home));
const disk = compileDiskFaults(home);
const WITHOUT = disk.missing;

const WHY = {
  EIO: "the disk failed (EIO). See the system's log (dmesg), and mend or replace the disk, then try again",
  ENOSPC: "the disk is full (ENOSPC). Free some space on it, then try again",
  EROFS:
    "the file system is read-only (EROFS). Mount it for writing, or name a folder elsewhere, then try again",
  EACCES: "this user may not (EACCES). Give this user the right to it (chown, chmod), then try again",
};
type Errno = keyof typeof WHY;

const SAFE = "; nothing was lost";
const lmdbSays = (what: string) =>
  `cannot be written: ${what}. Free some space on its disk, or mend the disk, and start again${SAFE}`;
const told = (what: string, errno: Errno, end = "") => `cannot be ${what}: ${WHY[errno]}${end}`;
const [OPENED, READ, WRITTEN, SYNCED, NAMED, MADE] = [
  "opened",
  "read",
  "written",
  "written to the disk",
  "given its name",
  "made",
] as [string, string, string, string, string, string];
const FIRST_SEGMENT = "data/journal/000000000001.journal";
const NEXT_SEGMENT = "data/journal/000000000002.journal";

type Row = [operation: string, part: string, errno: Errno, file: string, sentence: string];
/** Files of a first start, of a gateway alone, in the order in which it comes to them. */
const ROWS: readonly Row[] = [
  ["open", "config/weir.yaml", "EIO", "config/weir.yaml", told(OPENED, "EIO")],
  ["open", "config/plans.yaml", "EACCES", "config/plans.yaml", told(OPENED, "EACCES")],
  ["open", "config/supplier.yaml", "EIO", "config/supplier.yaml", told(OPENED, "EIO")],
  ["open", "config/fx.yaml", "EACCES", "config/fx.yaml", told(OPENED, "EACCES")],
  ["mkdir", "/data", "EACCES", "data", "cannot be used: this user may not write there"],
  ["mkdir", "/data", "EROFS", "data", "cannot be used: the file system is read-only"],
  ["open", "/weir.lmdb", "EIO", "data/weir.lmdb", told(OPENED, "EIO", SAFE)],
  ["open", "/weir.lmdb-lock", "EIO", "data/weir.lmdb-lock", told(OPENED, "EIO", SAFE)],
  ["open", "/weir.lmdb-lock", "EROFS", "data/weir.lmdb-lock", told(OPENED, "EROFS", SAFE)],
  ["open", "/weir.lmdb-disk", "EACCES", "data/weir.lmdb-disk", told(OPENED, "EACCES", SAFE)],
  ["write", "/weir.lmdb-disk", "ENOSPC", "data/weir.lmdb-disk", told(WRITTEN, "ENOSPC", SAFE)],
  ["write", "/weir.lmdb-disk", "EIO", "data/weir.lmdb-disk", told(WRITTEN, "EIO", SAFE)],
  ["sync", "/weir.lmdb", "EIO", "data/weir.lmdb", lmdbSays("Input/output error")],
  ["mkdir", "/journal", "EROFS", "data/journal", told(MADE, "EROFS", SAFE)],
  ["open", ".journal", "EACCES", FIRST_SEGMENT, told(OPENED, "EACCES", SAFE)],
  ["write", ".journal", "ENOSPC", FIRST_SEGMENT, told(WRITTEN, "ENOSPC", SAFE)],
  ["sync", ".journal", "EIO", FIRST_SEGMENT, told(SYNCED, "EIO", SAFE)],
  ["open", "/secrets.key", "EIO", "data/secrets.key", told(OPENED, "EIO")],
  ["open", "/secrets.key.unfinished", "EROFS", "data/secrets.key.unfinished", told(OPENED, "EROFS")],
  ["write", "/secrets.key", "ENOSPC", "data/secrets.key", told(WRITTEN, "ENOSPC")],
  ["sync", "/secrets.key", "EIO", "data/secrets.key", told(SYNCED, "EIO")],
  ["rename", "/secrets.key", "EACCES", "data/secrets.key", told(NAMED, "EACCES")],
  ["write", "/first-key", "ENOSPC", "data/first-key", told(WRITTEN, "ENOSPC")],
  ["rename", "/first-test-key", "EROFS", "data/first-test-key", told(NAMED, "EROFS")],
  ["sync", "/operator-key", "EIO", "data/operator-key", told(SYNCED, "EIO")],
];

/** Files of a later start, on the folder that a killed gateway left. */
const LATER_ROWS: readonly Row[] = [
  ["read", "config/weir.yaml", "EIO", "config/weir.yaml", told(READ, "EIO")],
  ["read", "/weir.lmdb", "EIO", "data/weir.lmdb", told(READ, "EIO", SAFE)],
  ["open", ".journal", "EACCES", FIRST_SEGMENT, told(OPENED, "EACCES", SAFE)],
  ["read", ".journal", "EIO", FIRST_SEGMENT, told(READ, "EIO", SAFE)],
  ["write", "/weir.lmdb-disk", "ENOSPC", "data/weir.lmdb-disk", told(WRITTEN, "ENOSPC", SAFE)],
  ["sync", "/weir.lmdb", "EIO", "data/weir.lmdb", lmdbSays("Input/output error")],
  ["sync", ".journal", "EIO", NEXT_SEGMENT, told(SYNCED, "EIO", SAFE)],
  ["read", "/secrets.key", "EIO", "data/secrets.key", told(READ, "EIO")],
  ["read", "assets/docs.css", "EIO", "src/edge/assets/docs.css", told(READ, "EIO")],
];

/** A start in a new place, with this disk. */
async function started(rule: string, words: readonly string[] = [], env: Record<string, string> = {}) {
  const where = await place({ CONFIG_DIR: join(REPO, "config"), ...env, ...disk.env });
  disk.set(rule);
  const one = run(process.execPath, [MAIN, ...words], { env: where.env, stdio: ["ignore", "pipe", "pipe"] });
  const own = (file: string) =>
    file.startsWith("data") ? where.env.DATA_DIR + file.slice("data".length) : join(REPO, file);
  return { ...one, where, own };
}

describe.skipIf(WITHOUT !== "")("C6: a first start on a disk that fails", () => {
  test.each(ROWS)(
    `C6: %s of %s with %s names the file and what to do${WITHOUT}`,
    async (operation, part, errno, file, sentence) => {
      const { ended, output, own } = await started(`${operation} ${part} ${constants.errno[errno]}`);
      const { code } = await ended;
      const name = sentence.startsWith("cannot be used") ? `DATA_DIR=${own(file)}` : own(file);
      expect([code, output()]).toEqual([1, `${name} ${sentence}\n`]);
    },
  );

  test.each(LATER_ROWS)(
    `C6: %s of %s with %s at a later start names the file and what to do${WITHOUT}`,
    async (operation, part, errno, file, sentence) => {
      const { folder } = unpacked("0.1.0");
      onTestFinished(() => removeFolder(folder));
      const rule = `${operation} ${part} ${constants.errno[errno]}`;
      const { ended, output, own } = await started(rule, [], { DATA_DIR: join(folder, "data") });
      const { code } = await ended;
      // The log may go on while it closes: the engine that is not there is told of when that is known.
      const words = output()
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith('{"level":'));
      const last = words.at(-1);
      expect([code, last]).toEqual([1, `${own(file)} ${sentence}`]);
      expect(output()).not.toMatch(/^ {4}at /m);
    },
  );

  test(`C6: a model file that cannot be read is named with the reason and what to do${WITHOUT}`, async () => {
    const { ended, output, own } = await started(`open models/weir.yaml ${constants.errno.EIO}`);
    const { code } = await ended;
    const why = WHY.EIO.replace("the disk failed (EIO)", "cannot be read (EIO): the disk failed");
    const line = `${own("config/models/weir.yaml")}:1:1 ${why.replace(", then try again", "")}`;
    expect([code, output()]).toEqual([1, `the catalog is refused:\n  ${line}\n`]);
  });

  test(`C6: the engine's address cannot be written: the gateway serves, and says so${WITHOUT}`, async () => {
    const rule = `open clickhouse.json.next ${constants.errno.EACCES}`;
    const { child, ended, output, where, own } = await started(rule, [], { CLICKHOUSE_URL: "" });
    await until("it says so", () => output().includes("analysts' tools do not find it"));
    expect(output()).toContain(own("data/clickhouse.json"));
    await where.ready();
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  });
});

const missing = WITHOUT || missingRedis();
describe.skipIf(missing)("C6: a first start of two cells on a disk that fails", () => {
  const ROWS_OF_CELLS: readonly Row[] = [
    ["mkdir", "/data/redis", "EROFS", "data/redis", told(MADE, "EROFS")],
    ["mkdir", "/data/cells", "EROFS", "data/cells/2", "cannot be used: the file system is read-only"],
    ["open", "cells/2/weir.lmdb-disk", "EIO", "data/cells/2/weir.lmdb-disk", told(OPENED, "EIO", SAFE)],
  ];
  test.each(ROWS_OF_CELLS)(
    "C6: %s of %s with %s names the file and what to do",
    async (operation, part, errno, file, sentence) => {
      const rule = `${operation} ${part} ${constants.errno[errno]}`;
      const { ended, output, own } = await started(rule, ["--cells", "2"]);
      expect((await ended).code).toBe(1);
      const lines = output().split("\n");
      const name = sentence.startsWith("cannot be used") ? `DATA_DIR=${own(file)}` : own(file);
      expect(lines).toContain(`${name} ${sentence}`);
      expect(output()).not.toMatch(/^ {4}at /m);
    },
  );
});
