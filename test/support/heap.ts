/** The heap of this process without its garbage. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes in use, once garbage is collected. */
export function heapBytes(): number {
  // Twice: what the first one lets go of may hold more.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
