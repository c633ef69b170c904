/**
 * Which boot of the machine this is. Within one boot monotonic times of different processes compare, so a restart of the
 * process can tell whether the wall clock was set meanwhile.
 */
import { readFileSync } from "node:fs";

/** Undefined on systems other than Linux, which do not tell. */
export function bootName(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
