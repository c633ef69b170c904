/** First start: what it makes, and that no crash point leaves a key nobody knows. Crashes are real: kill -9. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { firstStart } from "../../../src/account/first-start.ts";
import { Keyring } from "../../../src/account/keyring.ts";
import { LastUsed } from "../../../src/account/keys/last-used.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/store.ts";

const PLAN = { rpm: 60, tpm: 10_000, concurrency: 5, keys: 50, projects: 5, autoApprove: 1 };
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "weir-first-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const read = (file: string) => readFileSync(join(dataDir, file), "utf8");

/** A start in this process on whatever the folder holds. */
async function start(also?: () => void) {
  const store = openStore(dataDir);
  const accounts = new AccountTables(store);
  try {
    const made = await firstStart({
      accounts,
      clock: systemClock,
      dataDir,
      planId: "free",
      ...(also && { also }),
    });
    const ring = new Keyring({
      accounts,
      clock: systemClock,
      plan: () => PLAN,
      lastUsed: new LastUsed(accounts),
    });
    const keys = ["first-key", "first-test-key"].map((file) => ring.resolve(read(file).trim()));
    const working = accounts.workingKeys(keys[0]?.orgId ?? "", systemClock.now());
    return { made, keys, working };
  } finally {
    await store.close();
  }
}

/** A start in a process that is killed at a step. */
function startKilledAt(step: "first file" | "second file" | "transaction" | "end") {
  const source = (file: string) => JSON.stringify(new URL(`../../../src/${file}`, import.meta.url).href);
  const program = `
    import { firstStart } from ${source("account/first-start.ts")};
    import { saveSecret } from ${source("base/process/secret-file.ts")};
    import { AccountTables } from ${source("account/tables.ts")};
    import { systemClock } from ${source("base/clock.ts")};
    import { openStore } from ${source("store/store.ts")};
    const [dataDir, step] = process.argv.slice(1);
    const at = (name) => { if (name === step) process.kill(process.pid, "SIGKILL"); };
    await firstStart({
      accounts: new AccountTables(openStore(dataDir)), clock: systemClock, dataDir, planId: "free",
      saveSecret: (path, secret) => { at(path.endsWith("test-key") ? "second file" : "first file"); saveSecret(path, secret); },
      also: () => at("transaction"),
    });
    at("end");`;
  const args = ["--input-type=module", "-e", program, dataDir, step];
  const { signal, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(signal, stderr).toBe("SIGKILL");
}

test("an empty folder gets an org, a project, an owner's live key, a plain test key, and what the caller adds", async () => {
  let added = 0;
  const { made, keys, working } = await start(() => added++);
  expect(keys).toMatchObject([
    { keyId: working[1]?.id, orgId: made?.orgId, projectId: made?.projectId, environment: "live" },
    { keyId: working[0]?.id, orgId: made?.orgId, projectId: made?.projectId, environment: "test" },
  ]);
  expect(keys[0]?.scopes.size).toBe(11);
  expect([...(keys[1]?.scopes ?? [])]).toEqual(["inference", "read:usage"]);
  expect(added).toBe(1);
  expect(read("first-key")).toBe(`${made?.liveSecret}\n`);
  expect(read("first-test-key")).toBe(`${made?.testSecret}\n`);
  for (const file of ["first-key", "first-test-key"]) {
    expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
  }
});

test("a folder that has an org is left alone, with or without its files", async () => {
  await start();
  const before = read("first-key");
  expect((await start()).made).toBeUndefined();
  expect(read("first-key")).toBe(before);
  rmSync(join(dataDir, "first-key"));
  const store = openStore(dataDir);
  const accounts = new AccountTables(store);
  expect(await firstStart({ accounts, clock: systemClock, dataDir, planId: "free" })).toBeUndefined();
  expect(existsSync(join(dataDir, "first-key"))).toBe(false);
  await store.close();
});

test.each(["first file", "second file", "transaction", "end"] as const)(
  "killed -9 at the %s, the next start leaves one org whose two keys are those in the files",
  async (step) => {
    startKilledAt(step);
    const left = existsSync(join(dataDir, "first-key")) ? read("first-key") : undefined;
    const { made, keys, working } = await start();
    expect(made === undefined).toBe(step === "end");
    if (step !== "first file") expect(read("first-key")).toBe(left);
    expect(working.map((key) => key.id).sort()).toEqual(keys.map((key) => key.keyId).sort());
    expect(readdirSync(dataDir).filter((file) => file.includes("unfinished"))).toEqual([]);
  },
);

test("if a part of the seed fails, nothing is written, and the next start writes it", async () => {
  await expect(
    start(() => {
      throw new Error("no grant");
    }),
  ).rejects.toThrow("no grant");
  const left = read("first-key");
  const { made, working } = await start();
  expect(made?.liveSecret).toBe(left.trim());
  expect(working).toHaveLength(2);
});

test("a file without a secret of its environment is replaced", async () => {
  writeFileSync(join(dataDir, "first-key"), "svc-live-half");
  writeFileSync(join(dataDir, "first-key.unfinished"), "", { mode: 0o644 });
  const { made } = await start();
  expect(read("first-key")).toBe(`${made?.liveSecret}\n`);
  expect(statSync(join(dataDir, "first-key")).mode & 0o777).toBe(0o600);
});

test("two callers at once make one org", async () => {
  const store = openStore(dataDir);
  const accounts = new AccountTables(store);
  const options = { accounts, clock: systemClock, dataDir, planId: "free" };
  const made = await Promise.all([firstStart(options), firstStart(options)]);
  expect(made.filter((m) => m !== undefined)).toHaveLength(1);
  await store.close();
});
