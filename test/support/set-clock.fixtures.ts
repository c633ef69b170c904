/** Wall clocks that a test sets, each for some of the processes that it starts (set-clock.c). */
import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import { basename, delimiter, join } from "node:path";
import { compilePreloaded } from "./preloaded.ts";

export interface SetClocks {
  /** Why a test cannot have them, for its title; empty where it can. */
  readonly missing: string;
  /** For the environment of a process, which has the clock that is named like its `CELL`. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets clocks to run ahead of the real one by so many milliseconds, or behind it. They must have been named at the beginning. */
  set(names: readonly string[], aheadMs: number): void;
  /**
   * For a program that is started without the environment of the process that starts it.
   * @param program path
   * @returns a PATH, in whose first folder a program of this name has the clock `name`
   */
  wrapped(program: string, name: string): string;
  close(): void;
}

/**
 * @param folder for the library and the clocks
 * @param names of the clocks
 */
export function openSetClocks(folder: string, names: readonly string[], aheadMs = 0): SetClocks {
  const clocks = join(folder, "clocks");
  const { missing, library } = compilePreloaded("set-clock", folder);
  const env = { LD_PRELOAD: library, WEIR_CLOCKS: clocks };
  const files = new Map<string, number>();
  const set = (which: readonly string[], ms: number) => {
    const bytes = bytesOf(ms);
    // One write into the file that is mapped: a new file would be another one.
    for (const name of which) writeSync(files.get(name) as number, bytes, 0, bytes.length, 0);
  };
  mkdirSync(clocks);
  for (const name of names) files.set(name, openSync(join(clocks, name), "w"));
  set(names, aheadMs);
  return {
    missing,
    env,
    set,
    wrapped(program, name) {
      const bin = join(folder, "bin");
      const wrapper = join(bin, basename(program));
      const variables = Object.entries({ ...env, CELL: name }).map(([key, value]) => `${key}='${value}'`);
      mkdirSync(bin, { recursive: true });
      writeFileSync(wrapper, `#!/bin/sh\nexport ${variables.join(" ")}\nexec '${program}' "$@"\n`);
      chmodSync(wrapper, 0o755);
      return [bin, process.env.PATH ?? ""].join(delimiter);
    },
    close() {
      for (const file of files.values()) closeSync(file);
    },
  };
}

function bytesOf(ms: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigInt64(0, BigInt(Math.round(ms)), endianness() === "LE");
  return new Uint8Array(bytes.buffer);
}
