/**
 * Loads a large package piece by piece. Loading one runs all its modules in one turn of the event loop, which for hundreds of them
 * keeps every call waiting for a tenth of a second; here each has a turn of its own, behind the modules that
 * it needs.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { nextTurn } from "../clock.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** How deep the packages are followed on which the package depends; packages that are deeper still are small. */
const LEVELS = 5;

/**
 * Loads a package and what it depends on, a module at a time.
 * @param name of a package
 * @param from the module that will import it
 */
export const loadPieces = (name: string, from: string): Promise<void> => load(name, from, LEVELS, new Set());

async function load(name: string, from: string, levels: number, seen: Set<string>): Promise<void> {
  const entry = entryOf(name, from);
  const folder = entry && folderOf(name, entry);
  if (entry === undefined || folder === undefined || seen.has(folder)) return;
  seen.add(folder);
  const manifest = join(folder, "package.json");
  const { dependencies = {} } = JSON.parse(await readFile(manifest, "utf8")) as Manifest;
  if (levels > 0)
    for (const inner of Object.keys(dependencies)) await load(inner, manifest, levels - 1, seen);
  for (const file of await modulesBefore(entry)) {
    await nextTurn();
    // What cannot be loaded alone says so when it is imported with the rest.
    await import(pathToFileURL(file).href).catch(() => undefined);
  }
  await nextTurn();
}

/** The path of the module that a name stands for; undefined where no such module is installed. */
function entryOf(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

/** Undefined for a package that is not a folder of its own, such as one of Node's. */
function folderOf(name: string, entry: string): string | undefined {
  const end = `${sep}node_modules${sep}${name.replaceAll("/", sep)}`;
  const at = entry.lastIndexOf(end);
  return at < 0 ? undefined : entry.slice(0, at + end.length);
}

/** What a module imports or requires of its own package. A line that only looks like that costs a look at a file. */
const OWN = /(?:\bfrom|\bimport|\brequire\()\s*["'](\.[^"']*)["']/g;

/** A module behind all modules of its package that it needs, where they do not need each other. */
async function modulesBefore(entry: string): Promise<Set<string>> {
  const met = new Set<string>();
  const ordered = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (met.has(file)) return;
    met.add(file);
    const source = await readFile(file, "utf8").catch(() => undefined);
    if (source === undefined) return;
    for (const [, path = ""] of source.matchAll(OWN)) {
      const inner = entryOf(path, file);
      if (inner !== undefined && /\.[cm]?js$/.test(inner)) await visit(inner);
    }
    ordered.add(file);
  };
  await visit(entry);
  return ordered;
}
