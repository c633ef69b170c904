/**
 * Sources without their types and comments, kept from one start to the next. Node strips the types of a thousand sources at each start,
 * which is more than a third of its processor time, and unlike compiled code it keeps nothing of that. V8 holds each source as long as
 * the process lives: comments would be a third of that memory.
 */
import { hash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

/** By address: digest of the source, and the source without types. */
type Sources = Record<string, readonly [digest: string, stripped: string]>;

interface Kept {
  /** The Node that stripped them. */
  readonly node: string;
  readonly sources: Sources;
}

/**
 * Modules below `root` that are imported from now on are taken from the file, as far as they have not changed since.
 * @param file code from it is run: nobody may write it who may not change the sources. If it cannot be written, nothing is kept.
 * @param root address of a folder, with a slash at its end
 * @returns ends it, and keeps what was imported
 */
export function keepStripped(file: string, root: string): () => void {
  let kept = readKept(file);
  let imported: Sources = {};
  let isNew = false;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
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
      const entry = known?.[0] === digest ? known : ([digest, strip(source)] as const);
      isNew ||= entry !== known;
      imported[url] = entry;
      return { format: "module", source: entry[1], shortCircuit: true };
    },
  });
  return () => {
    hooks.deregister();
    // Other commands import other sources.
    if (isNew) write(file, { node: process.version, sources: { ...stillThere(kept), ...imported } });
    // Megabytes, which whoever may end it again would hold.
    [kept, imported] = [{}, {}];
  };
}

/** Empty where there is no such file, or another Node wrote it. */
function readKept(file: string): Sources {
  try {
    const { node, sources } = JSON.parse(readFileSync(file, "utf8")) as Kept;
    return node === process.version && typeof sources === "object" && sources !== null ? sources : {};
  } catch {
    return {};
  }
}

const stillThere = (sources: Sources): Sources =>
  Object.fromEntries(Object.entries(sources).filter(([url]) => existsSync(fileURLToPath(url))));

/** As Node does when it loads a source: it says of the function alone, once, that it is experimental. */
function strip(source: string): string {
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
 */
export function withoutComments(source: string): string {
  const lines: string[] = [];
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

const hasOddBackticks = (line: string): boolean =>
  line.includes("`") && line.replaceAll("\\`", "").split("`").length % 2 === 0;

/** Whole or not at all: other processes may start at the same time. */
function write(file: string, kept: Kept): void {
  const unfinished = `${file}.${process.pid}`;
  try {
    writeFileSync(unfinished, JSON.stringify(kept), { mode: 0o600 });
    renameSync(unfinished, file);
  } catch {
    remove(unfinished);
  }
}

/** As far as that is allowed: in a folder of another user even the look fails. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Then nothing was written either.
  }
}
