/** A disk that fails or is slow on demand, for a process that a test starts (disk-faults.c). */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilePreloaded } from "./preloaded.ts";

export interface DiskFaults {
  /** Why a test cannot have it, for its title; empty where it can. */
  readonly missing: string;
  /** For the process's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The rules from now on, such as `write /journal/ 28` or `slow .journal 50`; none: the disk is well. */
  set(...rules: string[]): void;
  /** Calls that rules `kill` and `killall` have counted since the rules were set last. */
  counted(): number;
  /** The syncs that were slowed since the rules were set last. */
  slowed(): { readonly onMainThread: boolean; readonly path: string }[];
}

/** @param folder for the library and its rules */
export function compileDiskFaults(folder: string): DiskFaults {
  const { missing, library } = compilePreloaded("disk-faults", folder);
  const [rules, log] = [join(folder, "rules"), join(folder, "log")];
  if (missing === "") writeFileSync(rules, "");
  return {
    missing,
    env: { LD_PRELOAD: library, WEIR_DISK_FAULTS: rules, WEIR_DISK_LOG: log },
    set(...lines) {
      writeFileSync(log, "");
      writeFileSync(rules, lines.map((line) => `${line}\n`).join(""));
    },
    counted: () => (existsSync(log) ? statSync(log).size : 0),
    slowed() {
      const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : [];
      return lines.map((line) => {
        const [thread, ...path] = line.split(" ");
        return { onMainThread: thread === "main", path: path.join(" ") };
      });
    },
  };
}
