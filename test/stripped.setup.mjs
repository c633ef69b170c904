/** Once before all tests: strips the types of every source that a process of a test may load, for `stripped.mjs`. */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strippedFile } from "./stripped.mjs";

const REPO = join(import.meta.dirname, "..");

export function setup() {
  const folder = mkdtempSync(join(tmpdir(), "weir-stripped-"));
  const warn = process.emitWarning;
  // Node says once that the function is experimental; what it does when it loads a source itself is the same.
  process.emitWarning = () => {};
  for (const file of globSync("{src,simulator,test,bench}/**/*.ts", { cwd: REPO })) {
    const path = join(REPO, file);
    writeFileSync(strippedFile(folder, path), stripTypeScriptTypes(readFileSync(path, "utf8")));
  }
  process.emitWarning = warn;
  process.env.WEIR_STRIPPED = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
