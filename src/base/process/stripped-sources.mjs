/**
 * Sources without their types and comments, kept from one start to the next. Node strips the types of a thousand sources at each start,
 * which is more than a third of its processor time, and unlike compiled code it keeps nothing of that. V8 holds each source as long as
 * the process lives: comments would be a third of that memory.
 *
 * Plain JavaScript: what strips types in Node is 11 MB of WebAssembly and of text that stay in memory, and a source of TypeScript that is
 * loaded before this one would bring it. The types are in `stripped-sources.d.mts`.
 */
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * By address: digest of the source, and the source without types.
 * @typedef {Record<string, readonly [digest: string, stripped: string]>} Sources
 */

/**
 * What ends it, by file: the launcher begins it, and the program that it loads asks for the end.
 * @type {Map<string, () => void>}
 */
const endings = new Map();

/**
 * Modules below `root` that are imported from now on are taken from the file, as far as they have not changed since.
 * @param {string} file code from it is run: nobody may write it who may not change the sources. If it cannot be written, nothing is kept.
 * @param {string} root address of a folder, with a slash at its end
 * @returns {() => void} ends it, and keeps what was imported; of two calls for a file both return the same
 */
export function keepStripped(file, root) {
  const ending = endings.get(file) ?? keep(file, root);
  endings.set(file, ending);
  return ending;
}

/** @type {typeof keepStripped} */
function keep(file, root) {
  let kept = readKept(file);
  /** @type {Sources} */
  let imported = {};
  let isNew = false;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (isZodsLanguages(specifier, context.parentURL)) return EMPTY;
      const isOurs = specifier.startsWith(".") && context.parentURL?.startsWith(root) === true;
      const url = isOurs ? new URL(specifier, context.parentURL).href : "";
      // Node would look for the file and for its package, once for each source that imports it. It tells what is missing, and by whom.
      return Object.hasOwn(kept, url)
        ? { url, format: "module", shortCircuit: true }
        : next(specifier, context);
    },
    load(url, context, next) {
      if (!url.startsWith(root) || !url.endsWith(".ts") || url.includes("/node_modules/")) {
        return next(url, context);
      }
      const source = readFileSync(fileURLToPath(url), "utf8");
      const digest = hash("sha256", source, "base64");
      const known = kept[url];
      const entry = known?.[0] === digest ? known : [digest, strip(source)];
      isNew ||= entry !== known;
      imported[url] = entry;
      return { format: "module", source: entry[1], shortCircuit: true };
    },
  });
  return () => {
    endings.delete(file);
    hooks.deregister();
    // Other commands import other sources.
    if (isNew) write(file, { node: process.version, sources: { ...stillThere(kept), ...imported } });
    // Megabytes, which whoever may end it again would hold.
    [kept, imported] = [{}, {}];
  };
}

const EMPTY = { url: "data:text/javascript,", format: "module", shortCircuit: true };

/**
 * Zod's messages in sixty languages, that zod offers and nothing here asks for: a source each, 2 MB of resident memory. English, its own
 * language, is imported by itself.
 * @param {string} specifier
 * @param {string | undefined} parent address of who imports it
 */
const isZodsLanguages = (specifier, parent) =>
  specifier === "../locales/index.js" && parent?.includes("/node_modules/zod/") === true;

/**
 * Empty where there is no such file, or another Node wrote it.
 * @param {string} file
 * @returns {Sources}
 */
function readKept(file) {
  try {
    const { node, sources } = JSON.parse(readFileSync(file, "utf8"));
    return node === process.version && typeof sources === "object" && sources !== null ? sources : {};
  } catch {
    return {};
  }
}

/** @param {Sources} sources */
const stillThere = (sources) =>
  Object.fromEntries(Object.entries(sources).filter(([url]) => existsSync(fileURLToPath(url))));

/**
 * As Node does when it loads a source: it says of the function alone, once, that it is experimental.
 * @param {string} source
 */
function strip(source) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return withoutComments(stripTypeScriptTypes(source));
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Lines that are comments become empty, and no line ends with blanks: each place keeps its line and column. Such a line cannot be part of
 * a text unless a template goes over several lines. A source that may have one stays as it is: then a line has an odd number of
 * backticks.
 * @param {string} source
 */
export function withoutComments(source) {
  const lines = [];
  let inComment = false;
  for (const line of source.split("\n")) {
    const text = line.trim();
    const begins = !inComment && text.startsWith("/*");
    if (!inComment && !begins) {
      if (hasOddBackticks(line)) return source;
      lines.push(text.startsWith("//") ? "" : line.trimEnd());
      continue;
    }
    lines.push("");
    const end = text.indexOf("*/", begins ? 2 : 0);
    // Code behind a comment, on its last line.
    if (end >= 0 && end + 2 < text.length) return source;
    inComment = end < 0;
  }
  return lines.join("\n");
}

/** @param {string} line */
const hasOddBackticks = (line) =>
  line.includes("`") && line.replaceAll("\\`", "").split("`").length % 2 === 0;

/**
 * Whole or not at all: other processes may start at the same time.
 * @param {string} file
 * @param {{ node: string, sources: Sources }} kept the Node that stripped them, and the sources
 */
function write(file, kept) {
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(unfinished, JSON.stringify(kept), { mode: 0o600 });
    renameSync(unfinished, file);
  } catch {
    remove(unfinished);
  }
}

/**
 * As far as that is allowed: in a folder of another user even the look fails.
 * @param {string} file
 */
function remove(file) {
  try {
    rmSync(file, { force: true });
  } catch {
    // Then nothing was written either.
  }
}
