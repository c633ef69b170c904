/**
 * What a cell in a process of its own has in common with others, which a test kills. Arguments: folder, cell, dataset, socket of Redis,
 * then its own, and a seed. What it says is in `<folder>.<kind>`, a line of JSON each.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { seededRandom, systemClock } from "../../../../src/base/clock.ts";
import { type Cell, openCell } from "../../../../src/cluster/cells/cell.ts";
import { openStore } from "../../../../src/store/store.ts";
import { rest } from "../../../support/pace.ts";

const [folder = "", name = "", datasetId = "", redisUrl = "", ...more] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

/** Its name, and its own arguments without the seed. */
export { name };
export const own = more.slice(0, -1);
export const random = seededRandom(Number(more.at(-1)));
export const local = openStore(folder);

export const append = (kind: string, rows: readonly unknown[]): void =>
  appendFileSync(`${folder}.${kind}`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

/** Opens it. Its end by anything but its standard input is told by an exit code. */
export const openProcessCell = (): Promise<Cell> =>
  openCell({
    cell: name,
    datasetId,
    redisUrl,
    clock: systemClock,
    log: { warn() {} },
    local,
    isShared: (table) => !table.startsWith("local."),
    onOutdated() {},
    onEnd: (reason) => {
      console.error(reason);
      process.exit(3);
    },
  });

/** Makes calls, eight at a time and one behind the other, until standard input ends. */
export async function callUntilOver(call: () => Promise<void>): Promise<void> {
  let isOver = false;
  process.stdin.on("end", () => {
    isOver = true;
  });
  process.stdin.resume();
  console.log("ready");
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (!isOver) await call();
    }),
  );
}

/** As long as an upstream takes, at most. */
export const whileCalled = (mostMs: number): Promise<void> => rest(mostMs);
