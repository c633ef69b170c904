/**
 * What a build of the console was made from, as one digest: its sources, the script that bundles them, and the versions of the packages
 * in the bundle. `scripts/install.mjs` compares it before `npm start`, on the Node that runs npm: plain JavaScript.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** Below the root: where the bundles are. The file in it that says what they were made from is written last. */
export const BUILT = "console/dist";
export const MADE_FROM = "made-from.json";

const BUNDLED = ["preact", "@preact/signals", "@preact/signals-core", "uplot", "esbuild"];
const BUILDERS = ["scripts/console.ts", "scripts/console-digest.mjs"];

/** @param {string} root of the repository @returns {string} hex */
export function consoleDigest(root) {
  const hash = createHash("sha256");
  const built = join(root, BUILT);
  const sources = readdirSync(join(root, "console"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(built + sep))
    .map((path) => relative(root, path).split(sep).join("/"));
  for (const path of [...sources, ...BUILDERS].sort()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update("\0");
  }
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  for (const name of BUNDLED) hash.update(`${name} ${packages[`node_modules/${name}`]?.version}\0`);
  return hash.digest("hex");
}
