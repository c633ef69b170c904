/**
 * For processes that tests start (`node --import`): takes sources whose types were stripped once for the whole run, by
 * `stripped.setup.mjs`. Node would do the same work in each of them, half a second of a processor each time. What is not
 * there, or has changed since, Node strips itself.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.env.WEIR_STRIPPED;

/** Where the stripped form of a source lies: another file for each state of the source. */
export function strippedFile(parent, path) {
  const { mtimeMs, size } = statSync(path);
  return join(parent, `${createHash("sha256").update(`${path} ${mtimeMs} ${size}`).digest("hex")}.js`);
}

// Older Nodes, which some tests start, have no such hooks.
if (folder !== undefined && nodeModule.registerHooks !== undefined) {
  nodeModule.registerHooks({
    load(url, context, next) {
      const source =
        url.startsWith("file:") && url.endsWith(".ts") ? stripped(fileURLToPath(url)) : undefined;
      return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

function stripped(path) {
  try {
    return readFileSync(strippedFile(folder, path), "utf8");
  } catch {
    return undefined;
  }
}
