/** The charges of before there were cells reach the list once each, whatever ends the process that copies them. */
import { spawn } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { decodedEntry, type OrgEntry } from "../../../../src/analytics/outbox/ledger-rows.ts";
import { seededRandom } from "../../../../src/base/clock.ts";
import {
  FORMER_LEDGER,
  FormerLedger,
  isFormerListed,
  isFormerOver,
} from "../../../../src/cluster/cells/credit/former-ledger.ts";
import { storedEntry } from "../../../../src/credits/ledger/entry.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { settle, topUp } from "../../../support/analytics/ledger.fixtures.ts";
import { tempFolder } from "../../../support/credits/fixtures.ts";
import { amount } from "../../../support/effort.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { equals, until } from "../../../support/wait.ts";

const PROGRAM = new URL("./former-process.ts", import.meta.url).pathname;
const ORGS = ["org_1", "org_2", "org_3"];
/** Entries that a process may put beyond those at which it is killed: with more it kills itself, however late the kill is. */
const MOST_BEYOND = 1000;

let folder: string;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => removeFolder(folder));

/** A folder whose gateway was alone. */
async function fill(store: Store, entriesOfOrg: number): Promise<void> {
  const entries = store.table("ledger");
  for (const org of ORGS)
    await store.act(() => {
      for (let seq = 1; seq <= entriesOfOrg; seq++)
        entries.put([org, seq], storedEntry(seq === 1 ? topUp(org, seq) : settle(org, seq)));
    });
  await store.act(() => store.table(FORMER_LEDGER.table).put(FORMER_LEDGER.key, true));
}

const names = (entries: readonly (OrgEntry | undefined)[]) =>
  entries.map((entry) => `${entry?.orgId} ${entry?.seq}`);
/** In the order of copying. */
const allNames = (entriesOfOrg: number) =>
  ORGS.toReversed().flatMap((org) =>
    Array.from({ length: entriesOfOrg }, (_, at) => `${org} ${entriesOfOrg - at}`),
  );

test("a process that is killed again and again puts each entry once", async () => {
  const each = amount(8000, 3000);
  const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
  const random = seededRandom(seed);
  const seeded = openStore(folder);
  await fill(seeded, each);
  await seeded.close();
  let kills = 0;
  for (let isDone = false; !isDone; ) {
    const most = 1 + random() * 4000;
    const child = spawn(process.execPath, [PROGRAM, folder, String(most + MOST_BEYOND)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let [said, isKilled] = ["", false];
    child.stdout.on("data", (lines: Buffer) => {
      said += String(lines);
      // Its last word is no number.
      if (Number(said.trim().split("\n").at(-1)) > most) isKilled = child.kill("SIGKILL");
    });
    // By then all that it said has come.
    const code = await new Promise((resolve) => child.once("close", resolve));
    isDone = said.includes(`done ${ORGS.length * each}\n`) || said.includes("listed\n");
    // A kill may come behind its last word.
    if (isDone && !isKilled) expect(code, `seed ${seed}`).toBe(0);
    if (!isDone) {
      kills++;
      expect(code, `seed ${seed}, said ${said}`).toBe(null);
    }
    expect(code === 0 || code === null, `seed ${seed}, code ${code}`).toBe(true);
  }
  expect(kills).toBeGreaterThan(0);
  const store = openStore(folder);
  try {
    expect(isFormerListed(store)).toBe(true);
    const log = store.log("ledger_rows");
    const put: (OrgEntry | undefined)[] = [];
    for (let number = log.trimmed() + 1; number <= log.newest(); number++) {
      const bytes = log.get(number);
      if (bytes !== undefined) put.push(decodedEntry(bytes));
    }
    expect(names(put), `seed ${seed}`).toEqual(allNames(each));
  } finally {
    await store.close();
  }
});

test("all is listed only once the list has the last entry, and no more is on its way than a batch", async () => {
  const store = openStore(folder);
  try {
    await fill(store, 9000);
    const put: OrgEntry[] = [];
    const flushes: ((isListed: boolean) => void)[] = [];
    let done = 0;
    const failures: unknown[] = [];
    const former = new FormerLedger({
      name: "a",
      store,
      list: {
        put: (some) => void put.push(...some),
        flush: () => new Promise((resolve) => flushes.push(resolve)),
      },
      onFailure: (error) => failures.push(error),
      onDone: (entries) => {
        done = entries;
      },
    });
    former.start();
    for (const upTo of [10_000, 20_000, 27_000]) {
      await until("the list is asked", () => flushes.length > 0);
      expect([put.length, isFormerListed(store)]).toEqual([upTo, false]);
      flushes.shift()?.(true);
    }
    await until("it is done", () => done > 0);
    expect([done, isFormerListed(store), failures]).toEqual([27_000, true, []]);
    expect(names(put)).toEqual(allNames(9000));
    await former.stop();
  } finally {
    await store.close();
  }
});

test("a stop ends at once where the list is away, and the next start goes on", async () => {
  const store = openStore(folder);
  try {
    await fill(store, 100);
    const put: OrgEntry[] = [];
    const start = (isListed: boolean) => {
      let asked = 0;
      const former = new FormerLedger({
        name: "a",
        store,
        list: {
          put: (some) => void put.push(...some),
          async flush() {
            asked++;
            return isListed;
          },
        },
        onFailure: (error) => {
          throw error;
        },
        onDone() {},
      });
      former.start();
      return { former, asked: () => asked };
    };
    const away = start(false);
    await until("the list is asked", () => away.asked() > 0);
    await away.former.stop();
    expect([put.length, isFormerListed(store)]).toEqual([300, false]);
    const back = start(true);
    await until("it is listed", () => isFormerListed(store));
    await back.former.stop();
    expect(put.length).toBe(300);
    // Nothing is left to do.
    const idle = start(true);
    await idle.former.stop();
    expect(idle.asked()).toBe(0);
  } finally {
    await store.close();
  }
});

test("C2: nothing more comes once all is listed, or the cell that copies is retired; before it has begun it may", async () => {
  const store = openStore(folder);
  try {
    const { table, key } = FORMER_LEDGER;
    const isOver = async (...cells: [cell: string, status: string][]) =>
      await isFormerOver({
        store,
        listed: async () =>
          ({ version: 1, cells: cells.map(([cell, status]) => ({ cell, status })) }) as never,
      });
    expect(await isOver()).toBe(true);
    await fill(store, 10);
    const former = new FormerLedger({
      name: "a",
      store,
      list: { put() {}, flush: async () => false },
      onFailure() {},
      onDone() {},
    });
    expect(await isOver(["a", "retired"])).toBe(false);
    former.start();
    await until("it says that it copies", () => store.table(table).get(key), equals("a"));
    expect(await isOver(["a", "alive"], ["b", "retired"])).toBe(false);
    expect(await isOver(["a", "silent"])).toBe(false);
    expect(await isOver(["a", "retired"], ["b", "alive"])).toBe(true);
    await former.stop();
  } finally {
    await store.close();
  }
});
