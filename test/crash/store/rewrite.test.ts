/**
 * weir.lmdb is written anew, and killed at each of its file operations, or the disk is full, or two processes want it at once: the
 * store then has every row, nothing of removed ones once it has been rewritten, and no file is left behind.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../../src/store/store.ts";
import { compileDiskFaults } from "../../support/disk-faults.fixtures.ts";
import { amount } from "../../support/effort.ts";
import { removeFolder } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

const OPENER = join(import.meta.dirname, "rewrite.opener.ts");
const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(20, 2));
const home = mkdtempSync(join(tmpdir(), "weir-rewrite-"));
afterAll(() => removeFolder(home));
const disk = compileDiskFaults(home);
const GONE = "zqgone0123456789";
const ROWS = 3000;

/** A folder with rows, and with bytes of removed ones in free pages. With a note that asks for the rewriting, if it is asked for. */
async function template(name: string, rows: number, isAsked: boolean): Promise<string> {
  const folder = join(home, name);
  const store = openStore(folder);
  const table = store.table<string>("rows");
  for (let n = 0; n < rows; n += 500) {
    await store.act(() => {
      for (let i = n; i < n + 500; i++) table.put(`k${i}`, `row ${i} `.repeat(20));
    });
  }
  const removed = store.table<string>("removed");
  const many = Array.from({ length: 50 }, (_, i) => i);
  // More than later writes need of free pages.
  await store.act(() => {
    for (const i of many) removed.put(i, GONE.repeat(2000));
  });
  await store.caughtUp();
  await store.act(() => {
    for (const i of many) removed.remove(i);
  });
  await store.caughtUp();
  await store.close();
  if (isAsked) await opener(folder, "asking", { what: "die" }).ended;
  return folder;
}

interface Ended {
  readonly lines: readonly string[];
  readonly by: NodeJS.Signals | null;
  readonly code: number | null;
}

function opener(
  folder: string,
  row: string,
  options: { what?: "forget" | "die" | undefined; env?: object } = {},
) {
  const child = spawn(process.execPath, [OPENER, folder, row, options.what ?? ""], {
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "inherit"],
    // A group of its own, which `killall` ends.
    detached: true,
  });
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  const lines = () => said.split("\n").slice(0, -1);
  const ended = once(child, "close").then(([code, by]): Ended => ({ lines: lines(), by, code }));
  return { child, lines, ended };
}

const nextFiles = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("weir.lmdb-next"));
const isAskedIn = (folder: string) => existsSync(join(folder, "weir.lmdb-rewrite"));
const isGoneFrom = (folder: string) => !readFileSync(join(folder, "weir.lmdb")).includes(GONE);

/** Every row of the template, those that were added, and nothing else. @param added rows that were acknowledged */
async function expectRows(folder: string, rows: number, added: readonly string[]): Promise<void> {
  const store = openStore(folder);
  const table = store.table<string>("rows");
  const found = new Map([...table.range()].map(({ key, value }) => [String(key), value]));
  const removed = [...store.table("removed").range()].length;
  await store.close();
  const missing = Array.from({ length: rows }, (_, i) => i).filter(
    (i) => found.get(`k${i}`) !== `row ${i} `.repeat(20),
  );
  expect([missing, removed, added.filter((row) => found.get(row) !== row)]).toEqual([[], 0, []]);
}

/** A start without faults finishes what a kill left. */
async function expectWhole(
  folder: string,
  rows: number,
  added: readonly string[],
  what?: "forget",
): Promise<void> {
  const last = await opener(folder, "last", { what }).ended;
  expect(last).toMatchObject({ lines: ["opened", "added", "closed"], code: 0 });
  expect([nextFiles(folder), isAskedIn(folder), isGoneFrom(folder)]).toEqual([[], false, true]);
  await expectRows(folder, rows, [...added, "last"]);
}

describe.skipIf(disk.missing !== "")("killed at each file operation of the rewriting", () => {
  let asked: string;
  let plain: string;
  beforeAll(async () => {
    disk.set();
    asked = await template("asked", ROWS, true);
    plain = await template("plain", ROWS, false);
    // What is looked for is there.
    expect([isGoneFrom(asked), isGoneFrom(plain)]).toEqual([false, false]);
  });

  /** @returns the calls that were counted */
  async function killedAt(step: number, from: string, rule: string, what?: "forget"): Promise<number> {
    const folder = join(home, `killed-${rule}-${step}-${what}`);
    cpSync(from, folder, { recursive: true });
    disk.set(`${rule} weir.lmdb ${step}`);
    const { lines } = await opener(folder, "first", { what, env: disk.env }).ended;
    const calls = disk.counted();
    disk.set();
    await expectWhole(folder, ROWS, lines.includes("added") ? ["first"] : [], what);
    removeFolder(folder);
    return calls;
  }

  test.each([
    ["at a start, the process that does it", () => asked, "kill", undefined],
    ["at a start, all processes", () => asked, "killall", undefined],
    ["at a stop, all processes", () => plain, "killall", "forget"],
  ] as const)(`%s${disk.missing}`, { timeout: 60_000 + ROUNDS * 60_000 }, async (_, from, rule, what) => {
    const all = await killedAt(1_000_000, from(), rule, what);
    expect(all).toBeGreaterThan(20);
    const stride = Math.max(1, Math.floor(all / (ROUNDS * 2)));
    for (let step = 1; step <= all; step += stride)
      expect(await killedAt(step, from(), rule, what)).toBeGreaterThanOrEqual(step);
  });

  test(`on a full disk the old file stays in force and the start says so once${disk.missing}`, async () => {
    const folder = join(home, "full");
    cpSync(asked, folder, { recursive: true });
    disk.set(`write weir.lmdb-next ${constants.errno.ENOSPC}`);
    const { lines, code } = await opener(folder, "first", { env: disk.env }).ended;
    disk.set();
    expect(lines.map((line) => line.replace(/(rewritten): .*?\. Nothing/s, "$1: …. Nothing"))).toEqual([
      expect.stringMatching(/^notice weir.lmdb could not be rewritten: …. Nothing is lost/),
      "opened",
      "added",
      "closed",
    ]);
    expect([code, nextFiles(folder), isAskedIn(folder)]).toEqual([0, [], true]);
    await expectWhole(folder, ROWS, ["first"]);
  });
});

describe("with more than one process", () => {
  const MANY = amount(60_000, 20_000);
  let asked: string;
  beforeAll(async () => {
    asked = await template("many", MANY, true);
  });

  test("a start right behind a kill is not disturbed by the copying process that was left", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = join(home, `orphan-${round}`);
      cpSync(asked, folder, { recursive: true });
      // Long enough to be seen, also where this process is late; without a compiler most copies are.
      if (disk.missing === "") disk.set("slow weir.lmdb-next 2000");
      const one = opener(folder, "first", disk.missing === "" ? { env: disk.env } : {});
      await until("the copy has begun", () => nextFiles(folder).length > 0);
      one.child.kill("SIGKILL");
      await one.ended;
      if (disk.missing === "") disk.set();
      const second = await opener(folder, "second").ended;
      expect(second).toMatchObject({ lines: ["opened", "added", "closed"], code: 0 });
      const third = await opener(folder, "third").ended;
      expect(third).toMatchObject({ lines: ["opened", "added", "closed"], code: 0 });
      await until("nothing is left", () => nextFiles(folder).length === 0);
      expect([isAskedIn(folder), isGoneFrom(folder)]).toEqual([false, true]);
      await expectRows(folder, MANY, ["second", "third"]);
      removeFolder(folder);
    }
  });

  test("of starts at the same time one rewrites, and no acknowledged row is lost", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = join(home, `both-${round}`);
      cpSync(asked, folder, { recursive: true });
      const starts = ["a", "b", "c"].map((row) => opener(folder, row));
      const all = await Promise.all(starts.map(({ ended }) => ended));
      const added = all.flatMap(({ lines }, i) =>
        lines.includes("added") ? [["a", "b", "c"][i] as string] : [],
      );
      expect(added.length).toBeGreaterThan(0);
      for (const { lines } of all) if (!lines.includes("opened")) expect(lines[0]).toMatch(/^refused /);
      await expectWhole(folder, MANY, added);
      removeFolder(folder);
    }
  });

  test("a start while another process stops and rewrites is refused, or finds the new file", async () => {
    const plain = await template("stopping", MANY, false);
    let refused = 0;
    // A late process may begin each start when the other one has closed: then there are more rounds.
    for (let round = 0; round < ROUNDS || (refused === 0 && round < 5 * ROUNDS); round++) {
      const folder = join(home, `stopping-${round}`);
      cpSync(plain, folder, { recursive: true });
      // Long enough to be seen, also where this process is late; without a compiler most copies are.
      if (disk.missing === "") disk.set("slow weir.lmdb-next 2000");
      const env = disk.missing === "" ? disk.env : {};
      const one = opener(folder, "first", { what: "forget", env });
      const added = ["first"];
      let tries = 0;
      await until("it copies, or has", () => nextFiles(folder).length > 0 || one.lines().includes("closed"));
      if (disk.missing === "") disk.set();
      for (let hasOpened = false; !hasOpened; tries++) {
        const { lines } = await opener(folder, `try${tries}`).ended;
        hasOpened = lines.includes("opened");
        if (hasOpened) added.push(`try${tries}`);
        else expect(lines[0]).toMatch(/^refused .*in use by process/);
      }
      if (tries > 1) refused++;
      await one.ended;
      await expectWhole(folder, MANY, added);
      removeFolder(folder);
    }
    expect(refused, "rounds in which a start met the other process").toBeGreaterThan(0);
  });
});
