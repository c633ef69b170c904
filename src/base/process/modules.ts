/**
 * Loads a large package piece by piece. Loading one runs all its modules in one turn of the event loop, which for hundreds of them
 * keeps every call waiting for a tenth of a second; here each has a turn of its own. What depends on others comes after these as
 * far as the folders say: a package's outermost modules import the inner ones.
 */
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { nextTurn } from "../clock.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * @param name of a package
 * @param from the module that will import it
 * @param depth how many levels of the packages that it depends on are loaded one by one, too
 */
export async function loadPieces(name: string, from: string, depth = 2): Promise<void> {
  const folder = await folderOf(name, from);
  if (folder === undefined) return;
  const manifest = join(folder, "package.json");
  const { dependencies = {} } = JSON.parse(await readFile(manifest, "utf8")) as Manifest;
  if (depth > 0) for (const inner of Object.keys(dependencies)) await loadPieces(inner, manifest, depth - 1);
  for (const file of await modulesIn(join(folder, "lib"))) {
    await nextTurn();
    // What cannot be loaded alone says so when it is imported with the rest.
    await import(pathToFileURL(file).href).catch(() => undefined);
  }
  await nextTurn();
}

/** Undefined for a package that is not a folder of its own, such as one of Node's. */
async function folderOf(name: string, from: string): Promise<string | undefined> {
  let entry: string;
  try {
    entry = createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
  const end = `${sep}node_modules${sep}${name.replaceAll("/", sep)}`;
  const at = entry.lastIndexOf(end);
  return at < 0 ? undefined : entry.slice(0, at + end.length);
}

/** Those of inner folders first. */
async function modulesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile() && /\.[cm]?js$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const depthOf = (path: string) => path.split(sep).length;
  return files.sort((a, b) => depthOf(b) - depthOf(a) || a.localeCompare(b));
}
