/** A disk that is full or fails, and no descriptors left: the store says so while it lasts, goes on after, and loses nothing. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../../src/store/store.ts";
import { compileDiskFaults } from "../../support/disk-faults.fixtures.ts";
import { removeFolder } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-faults-"));
afterAll(() => removeFolder(home));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);
const WRITER = join(import.meta.dirname, "writer.ts");

const disk = compileDiskFaults(home);
const WITHOUT = disk.missing;
const canFail = WITHOUT === "";
const fail = disk.set;

/** The writer, and what it has said. */
function writer(folder: string, options: { bytes?: number; env?: object; shell?: string } = {}) {
  const args = [WRITER, folder, String(options.bytes ?? 100)];
  const env = { ...process.env, ...options.env };
  const child =
    options.shell === undefined
      ? spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] })
      : spawn("sh", ["-c", `${options.shell}; exec "$0" "$@"`, process.execPath, ...args], {
          env,
          stdio: ["ignore", "pipe", "pipe"],
        });
  const ended = once(child, "close");
  let said = "";
  let errors = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  child.stderr.on("data", (data: Buffer) => (errors += data.toString()));
  const lines = () => said.split("\n").slice(0, -1);
  const numbers = (word: string) =>
    lines()
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => Number(line.split(" ")[1]));
  return {
    pid: child.pid as number,
    lines,
    done: () => numbers("done"),
    also: () => numbers("also"),
    health: () => lines().filter((line) => /healthy/.test(line)),
    alive: () => child.exitCode === null && child.signalCode === null,
    errors: () => errors,
    async stop() {
      child.kill("SIGTERM");
      const [code] = await ended;
      return code as number;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
type Writer = ReturnType<typeof writer>;

/** At least so many commits and transactions more. */
async function goesOn(one: Writer): Promise<void> {
  const done = one.done().length;
  const also = one.also().length;
  await until("the store goes on", () => one.done().length > done + 20 && one.also().length > also + 3);
}

async function unhealthy(one: Writer, message: RegExp): Promise<void> {
  await until("the store says so", () => message.test(one.health().at(-1) ?? "") || !one.alive());
  expect([one.alive(), one.errors()]).toEqual([true, one.errors()]);
  expect(one.health().at(-1)).toMatch(message);
}

async function allThere(folder: string, one: Writer): Promise<void> {
  const store = openStore(folder);
  const rows = new Set([...store.table("rows").range()].map(({ key }) => key));
  const others = new Set([...store.table("others").range()].map(({ key }) => key));
  expect(one.done().filter((n) => !rows.has(n))).toEqual([]);
  expect(one.also().filter((n) => !others.has(n))).toEqual([]);
  await store.close();
}

const { ENOSPC, EIO, EMFILE } = constants.errno;
/**
 * LMDB itself is made to fail only where it syncs: a write that fails may end its process (src/store/journal/disk.ts), which is why the
 * store looks at the disk before.
 */
const CASES: [string, string[], RegExp][] = [
  ["LMDB on a full disk", [`write weir.lmdb-disk ${ENOSPC}`], /unhealthy .*(ENOSPC|No space left)/],
  [
    "LMDB on a disk that fails to write",
    [`write weir.lmdb-disk ${EIO}`],
    /unhealthy .*(EIO|Input\/output error)/,
  ],
  ["LMDB on a disk that fails to sync", [`sync weir.lmdb ${EIO}`], /unhealthy .*Input\/output error/],
  ["the journal on a full disk", [`write .journal ${ENOSPC}`], /unhealthy ENOSPC/],
  ["the journal on a disk that fails to write", [`write .journal ${EIO}`], /unhealthy EIO/],
  ["the journal on a disk that fails to sync", [`sync .journal ${EIO}`], /unhealthy EIO/],
  ["both on a full disk", [`write .journal ${ENOSPC}`, `write weir.lmdb-disk ${ENOSPC}`], /unhealthy /],
];

// One process for all faults, one after the other: each begins with a store that goes on, and ends with one that does again.
describe.skipIf(!canFail)("O3: a disk that fails for a while", () => {
  const folder = newFolder();
  let one: Writer;
  beforeAll(async () => {
    fail();
    one = writer(folder, { env: disk.env });
    await goesOn(one);
  });
  afterAll(() => one.kill());

  test.each(CASES)(`O3: %s: the store says so while it lasts${WITHOUT}`, async (_name, rules, message) => {
    for (let round = 0; round < 2; round++) {
      fail(...rules);
      await unhealthy(one, message);
      fail();
      await until("the store is healthy again", () => one.health().at(-1) === "healthy" || !one.alive());
      await goesOn(one);
    }
  });

  test(`O3: behind all of them it stops cleanly and has lost nothing${WITHOUT}`, async () => {
    expect([await one.stop(), one.lines().at(-1)]).toEqual([0, "stopped"]);
    await allThere(folder, one);
  });
});

test.skipIf(!canFail)(
  `O3: killed while LMDB cannot write, everything acknowledged is there${WITHOUT}`,
  async () => {
    const folder = newFolder();
    fail();
    const one = writer(folder, { env: disk.env });
    await goesOn(one);
    fail(`write weir.lmdb-disk ${ENOSPC}`);
    await unhealthy(one, /ENOSPC|No space left/);
    await one.kill();
    await allThere(folder, one);
  },
);

test.skipIf(!canFail)(
  `O4: out of descriptors at a change of segment: it is over when they are back${WITHOUT}`,
  async () => {
    const folder = newFolder();
    fail();
    const one = writer(folder, { bytes: 1_000_000, env: disk.env });
    await goesOn(one);
    // LMDB and the logs of the process have theirs; only what is opened now gets none.
    fail(`open .journal ${EMFILE}`);
    await unhealthy(one, /unhealthy EMFILE/);
    const during = one.done().length;
    fail();
    await until("the store goes on", () => one.done().length > during + 30);
    expect([await one.stop(), one.lines().at(-1)]).toEqual([0, "stopped"]);
    await allThere(folder, one);
  },
);

test.skipIf(!canFail)(
  `O4: a new segment that cannot be written is undone, and the next try succeeds${WITHOUT}`,
  async () => {
    const folder = newFolder();
    fail();
    const one = writer(folder, { bytes: 1_000_000, env: disk.env });
    await goesOn(one);
    for (const rule of [`write .journal ${ENOSPC}`, `write .journal ${EIO}`]) {
      fail(rule);
      await unhealthy(one, /unhealthy E(NOSPC|IO)/);
      fail();
      const during = one.done().length;
      await until("the store goes on", () => one.done().length > during + 30);
    }
    expect(await one.stop()).toBe(0);
    await allThere(folder, one);
  },
);

/** A file system of its own, where this may be mounted. */
function smallDisk(megabytes: number): string | undefined {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  return mounted.status === 0 ? folder : undefined;
}

const noPrlimit = spawnSync("prlimit", ["--version"]).status !== 0;
const WITHOUT_LIMITS = "(skipped without prlimit)";

test.skipIf(noPrlimit)(
  `O3: a bound on the size of files: the store says so before LMDB meets it, recovery after ${WITHOUT_LIMITS}`,
  async () => {
    const folder = newFolder();
    const shell = `prlimit --pid $$ --fsize=${16 * 1024 * 1024}:`;
    const one = writer(folder, { bytes: 20_000, shell });
    await goesOn(one);
    await unhealthy(one, /unhealthy .*file too large/);
    spawnSync("prlimit", ["--pid", String(one.pid), "--fsize=unlimited:"]);
    await until("the store is healthy again", () => one.health().at(-1) === "healthy");
    await goesOn(one);
    expect([await one.stop(), one.lines().at(-1), one.errors()]).toEqual([0, "stopped", ""]);
    await allThere(folder, one);
  },
);

// There is room for one byte of the page that the store writes to look at the disk.
test.skipIf(noPrlimit)(
  `O3: a start that may write nothing says so, and leaves it to no other part ${WITHOUT_LIMITS}`,
  async () => {
    const folder = newFolder();
    const first = writer(folder);
    await goesOn(first);
    expect(await first.stop()).toBe(0);
    const one = writer(folder, { shell: "prlimit --pid $$ --fsize=1:" });
    await until("it has ended", () => !one.alive());
    expect(one.errors()).toContain(
      `${folder}/weir.lmdb-disk cannot be written: it may not grow that large (EFBIG). Raise \`ulimit -f\``,
    );
    expect(one.errors()).not.toContain("Write error");
    await allThere(folder, first);
  },
);

test("O3: on a disk that is really full: 503 while it is, recovery after, nothing lost", async (context) => {
  const disk = smallDisk(64);
  if (disk === undefined) return context.skip("only root may mount a small file system");
  try {
    const folder = join(disk, "data");
    const one = writer(folder, { bytes: 20_000 });
    await goesOn(one);
    const filler = join(disk, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4096", "count=100000"]);
    await unhealthy(one, /unhealthy .*(No space left|ENOSPC|Input\/output)/);
    rmSync(filler);
    await until("the store is healthy again", () => one.health().at(-1) === "healthy");
    expect([await one.stop(), one.lines().at(-1)]).toEqual([0, "stopped"]);
    await allThere(folder, one);
  } finally {
    spawnSync("umount", ["-l", disk]);
  }
});
