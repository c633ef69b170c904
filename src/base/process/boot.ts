/**
 * Id of the machine's current boot. Within one boot monotonic times of different processes are comparable, so a
 * restarted process can detect that the wall clock was set meanwhile.
 */
import { readFileSync } from "node:fs";

/** Undefined on systems other than Linux. */
export function bootName(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
