/** Small libraries in C that tests compile and load into processes with LD_PRELOAD, where a fault cannot be had in another way. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";

const COMPILERS = ["cc", "gcc", "clang"];

export interface Preloaded {
  /** Why a test cannot have it, for its title; empty where it can. */
  readonly missing: string;
  /** Path of the library. */
  readonly library: string;
}

/**
 * @param name of the file beside this one, without ".c"
 * @param folder for the library
 */
export function compilePreloaded(name: string, folder: string): Preloaded {
  const library = join(folder, `${name}.so`);
  const compiler =
    process.platform === "linux"
      ? COMPILERS.find((program) => spawnSync(program, ["--version"]).status === 0)
      : undefined;
  if (compiler === undefined) return { missing: " (skipped: needs Linux and a C compiler)", library };
  const source = join(import.meta.dirname, `${name}.c`);
  execFileSync(compiler, ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  return { missing: "", library };
}
