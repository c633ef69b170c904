/**
 * Once before all tests: strips the types of every source that a process of a test may load, for `stripped.mjs`. What is stripped is
 * kept in the cache of the packages, for the next run; a source that has changed since is stripped again.
 */
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { basename, join } from "node:path";
import { strippedFile } from "./stripped.mjs";

const REPO = join(import.meta.dirname, "..");
/** Who may write there may change the packages as well. */
const KEPT = join(REPO, "node_modules/.cache/weir-tests", process.version);

export function setup() {
  mkdirSync(KEPT, { recursive: true });
  const kept = new Set(readdirSync(KEPT).filter((name) => name.endsWith(".js")));
  const warn = process.emitWarning;
  // Node says once that the function is experimental; what it does when it loads a source itself is the same.
  process.emitWarning = () => {};
  for (const file of globSync("{src,simulator,test,bench}/**/*.ts", { cwd: REPO })) {
    const path = join(REPO, file);
    const stripped = strippedFile(KEPT, path);
    if (!kept.delete(basename(stripped))) write(stripped, stripTypeScriptTypes(readFileSync(path, "utf8")));
  }
  process.emitWarning = warn;
  // They are of earlier states. A run beside this one that misses one strips it itself.
  for (const name of kept) rmSync(join(KEPT, name), { force: true });
  process.env.WEIR_STRIPPED = KEPT;
}

/** Whole or not at all, also for a run that began at the same time. */
function write(path, text) {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}
