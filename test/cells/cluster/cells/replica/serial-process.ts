/**
 * A cell in a process of its own, which a test kills: acts at random, five at a time, until standard input ends.
 * Arguments: folder, cell, dataset, socket of Redis, seed. It appends the mark of each act that was answered to `<folder>.told`, and of
 * each that was answered with the word that it did not happen to `<folder>.refused`. In place of the seed "puts:<n>": n acts each 10 ms
 * that each put a row of the table "counts", and are not told of.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { seededRandom, systemClock } from "../../../../../src/base/clock.ts";
import { WeirError } from "../../../../../src/base/errors.ts";
import { openCell } from "../../../../../src/cluster/cells/cell.ts";
import { openStore } from "../../../../../src/store/store.ts";
import { rest } from "../../../../support/pace.ts";
import { randomAct } from "./serial-acts.ts";

const [folder = "", name = "", datasetId = "", redisUrl = "", seed = "0"] = process.argv.slice(2);
/** Rows of each cell in the table "counts". */
const ROWS = 60;
const random = seededRandom(Number(seed));
mkdirSync(folder, { recursive: true });

const end = (reason: Error) => {
  console.error(reason);
  process.exit(3);
};
const cell = await openCell({
  cell: name,
  datasetId,
  redisUrl,
  clock: systemClock,
  log: { warn() {} },
  local: openStore(folder),
  isShared: (table) => !table.startsWith("cells."),
  onOutdated: end,
  onEnd: end,
});
await cell.opened();

let isOver = false;
let acts = 0;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();
console.log("ready");

/** So many acts each 10 ms, whether those before them were answered or not. */
async function putAll(count: number): Promise<void> {
  const counts = cell.store.table<number>("counts");
  const put = () => {
    const number = ++acts;
    return cell.store.act(() => counts.put([number % ROWS, name], number), { isOwed: true });
  };
  const done: Promise<void>[] = [];
  while (!isOver) {
    for (let n = 0; n < count; n++) done.push(put());
    await rest(10);
  }
  await Promise.all(done);
}

if (seed.startsWith("puts:")) await putAll(Number(seed.slice(5)));
else
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      while (!isOver) {
        const mark = `${name}.${cell.entered.life}.${++acts}`;
        try {
          await randomAct(cell.store, random, mark);
          appendFileSync(`${folder}.told`, `${mark}\n`);
        } catch (error) {
          if (!(error instanceof WeirError)) throw error;
          if (error.details?.outcome !== "unknown") appendFileSync(`${folder}.refused`, `${mark}\n`);
        }
      }
    }),
  );
await cell.store.close();
process.exit(0);
