/** The heap of this process without its garbage. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects what earlier tests of this process have left, before a measurement pays for it. */
export function collectGarbage(): void {
  // Twice: what the first one lets go of may hold more.
  collect();
  collect();
}

/** Bytes in use, once garbage is collected. */
export function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
