/**
 * Damage at random places of a folder that a killed process left: a start refuses it in one line, or serves a ledger that is
 * complete. `WEIR_DAMAGE_ROUNDS=200` is the full run; WEIR_DAMAGE_SEED repeats a run's choices.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Random, seededRandom } from "../../../src/base/clock.ts";
import { MONEY_TABLES } from "../../../src/credits/ledger/audit.ts";
import { checkData } from "../../../src/host/commands/check-data.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { audit, ManualClock, openCredits, wholeLedger } from "../../support/credits/fixtures.ts";
import { amount } from "../../support/effort.ts";
import { flipBit, overwrite, segmentsOf } from "../../support/store/fixtures.ts";

const ROUNDS = Number(process.env.WEIR_DAMAGE_ROUNDS ?? amount(24, 12));
const SEED = Number(process.env.WEIR_DAMAGE_SEED ?? Date.now() % 1_000_000);
/** What is damaged grows with each: few rounds do not hit many folders. */
const LIVES = ROUNDS < 24 ? 2 : 4;

const home = mkdtempSync(join(tmpdir(), "weir-damaged-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const SETTLER = join(import.meta.dirname, "../credits/ledger/settler.ts");

/** Settles until so many calls are acknowledged, then dies. Adds what it acknowledged. */
async function settleUntilKilled(folder: string, seed: number, calls: number, into: string[]): Promise<void> {
  const child = spawn(process.execPath, [SETTLER, folder, String(seed)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > calls) child.kill("SIGKILL");
  });
  await once(child, "close");
  into.push(...said.split("\n").slice(0, -1));
}

interface Life {
  readonly folder: string;
  readonly acknowledged: readonly string[];
}

/** Folders of ever more lives: short and long journals, a small and a larger LMDB. */
async function lives(random: Random): Promise<Life[]> {
  const found: Life[] = [];
  const acknowledged: string[] = [];
  const folder = join(home, "live");
  for (let life = 1; life <= LIVES; life++) {
    await settleUntilKilled(folder, life, 200 + Math.floor(random() * 3000), acknowledged);
    const copy = join(home, `life${life}`);
    cpSync(folder, copy, { recursive: true });
    found.push({ folder: copy, acknowledged: [...acknowledged] });
  }
  return found;
}

const ZEROS = Buffer.alloc(65_536);

/** Bytes before the zeros at the end; at least one. */
function usedBytes(bytes: Buffer): number {
  let used = bytes.length;
  while (used > ZEROS.length && bytes.subarray(used - ZEROS.length, used).equals(ZEROS)) used -= ZEROS.length;
  while (used > 1 && bytes[used - 1] === 0) used--;
  return used;
}

/** What was done. Damage hits bytes that are in use: files end in long zeros. */
function damage(folder: string, random: Random): string {
  const journal = random() < 0.5;
  const path = journal ? (segmentsOf(folder).at(-1) ?? "") : join(folder, "weir.lmdb");
  const used = usedBytes(readFileSync(path));
  const at = Math.floor(random() * used);
  const name = journal ? "journal" : "weir.lmdb";
  const how = random();
  if (how < 0.45) {
    flipBit(path, at, Math.floor(random() * 8));
    return `${name}: a flipped bit at ${at} of ${used}`;
  }
  if (how < 0.65) {
    truncateSync(path, at);
    return `${name}: cut at ${at} of ${used}`;
  }
  if (how < 0.92) {
    const page = Math.floor(at / 4096) * 4096;
    overwrite(path, page, Buffer.alloc(Math.min(4096, statSync(path).size - page)));
    return `${name}: a page of zeros at ${page} of ${used}`;
  }
  rmSync(path);
  return `${name}: gone`;
}

/** The store, or the line by which the start is refused. */
function started(folder: string): Store | string {
  try {
    return openStore(folder, { checkFirst: MONEY_TABLES });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `<org> <request> <cost>` of every settle of a ledger that adds up. */
async function served(store: Store): Promise<Set<string>> {
  const credits = openCredits({ store, clock: new ManualClock("2026-03-01T10:00:00Z") });
  const lines = new Set<string>();
  for (const org of ["org_a", "org_b"]) {
    const entries = wholeLedger(credits, org);
    expect(audit(entries)).toBe(credits.balance(org).balanceMicroUsd);
    for (const entry of entries) {
      if (entry.kind === "settle") lines.add(`${org} ${entry.requestId} ${-entry.amountMicroUsd}`);
    }
  }
  await store.close();
  return lines;
}

test(`O1: damage at ${ROUNDS} random places: refused in one line, or a ledger that is complete`, {
  timeout: 60_000 + ROUNDS * 3000,
}, async () => {
  console.log(`WEIR_DAMAGE_SEED=${SEED}`);
  const random = seededRandom(SEED);
  const before = await lives(random);
  const counts = { refused: 0, served: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const life = before[Math.floor(random() * before.length)] as Life;
    const folder = join(home, "damaged");
    rmSync(folder, { recursive: true, force: true });
    cpSync(life.folder, folder, { recursive: true });
    const what = `round ${round}, seed ${SEED}, ${life.folder}: ${damage(folder, random)}`;
    const looked: string[] = [];
    const found = await checkData({ dataDir: folder }, (line) => looked.push(line));
    const store = started(folder);
    if (typeof store === "string") {
      counts.refused++;
      // One line, which names a file and the cure.
      expect([what, store]).toEqual([
        what,
        expect.stringMatching(/^[^\n]*(weir\.lmdb|\.journal) [^\n]*(backup|weir recover)[^\n]*$/),
      ]);
      expect([what, found, looked]).toEqual([what, 1, looked]);
      continue;
    }
    counts.served++;
    const charged = await served(store).catch((error: unknown) => expect.fail(`${what}: ${error}`));
    const costly = life.acknowledged.filter((line) => !line.endsWith(" 0"));
    expect([what, costly.filter((line) => !charged.has(line))]).toEqual([what, []]);
  }
  console.log(`refused: ${counts.refused}, served whole: ${counts.served}`);
  expect(counts.refused).toBeGreaterThan(ROUNDS / 4);
});
