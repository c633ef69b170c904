/**
 * The process that the test of acts kills: runs the acts of its seed as fast as the store takes them, prints the number of each
 * once it is committed, and kills itself at a moment that the seed decides. Run: `node test/crash/store/acts.writer.ts <folder> <seed>`.
 */
import { writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { seededRandom } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/store.ts";
import { actsOf, Subject } from "./acts.program.ts";

export const ACTS = 1500;

const [, script, folder, seedText] = process.argv;
if (script === import.meta.filename && folder !== undefined) {
  const seed = Number(seedText);
  const random = seededRandom(seed);
  const store = openStore(folder);
  const subject = new Subject(store);
  const done = store.table<number>("done");
  const killAt = Math.floor(random() * ACTS);
  for (const [number, steps] of actsOf(seed, ACTS).entries()) {
    const committed = subject
      .act(steps, () => done.put(seed, number + 1))
      .then(
        () => void writeSync(1, `${number + 1}\n`),
        () => {},
      );
    if (random() < 0.2) await committed;
    else if (random() < 0.3) await turn();
    if (number === killAt) process.kill(process.pid, "SIGKILL");
  }
}
