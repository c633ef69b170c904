/**
 * For processes that tests start (`node --import`), and for those of the tests: takes sources whose types were stripped once
 * for the whole run, by `stripped.setup.mjs`. Node would do the same work in each of them, half a second of a processor each
 * time, and would look up 500 of them by 1,400 imports, each of which names its file: a tenth of a second more. What is not there,
 * or has changed since, Node finds and strips itself. The product starts its threads and the engine's process without the flags
 * and the environment of the process that they belong to: here they get this one flag beside their own.
 */
import childProcess from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import workerThreads from "node:worker_threads";

/** Told in the address to what has no environment of ours. */
const told = new URL(import.meta.url).searchParams.get("folder");
const folder = told ?? process.env.WEIR_STRIPPED;

const REPO = join(import.meta.dirname, "..");

/** Where the stripped form of a source lies: another file for each state of the source. */
export function strippedFile(parent, path) {
  const { mtimeMs, size } = statSync(path);
  return join(parent, `${relative(REPO, path).replaceAll(sep, "!")}.${mtimeMs}.${size}.js`);
}

// Older Nodes, which some tests start, have no such hooks.
if (folder && nodeModule.registerHooks !== undefined) {
  /** The stripped text of each source by its address, undefined where there is none; empty once it was loaded. */
  const found = new Map();
  const isThere = (url) => {
    if (!found.has(url)) found.set(url, stripped(url));
    return found.get(url) !== undefined;
  };
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const isSource = specifier.startsWith(".") && specifier.endsWith(".ts");
      const url = isSource ? new URL(specifier, context.parentURL).href : "";
      return isSource && isThere(url)
        ? { url, format: "module", shortCircuit: true }
        : next(specifier, context);
    },
    load(url, context, next) {
      // Behind a question mark stands what tells one loading of a test from another.
      if (!url.startsWith("file:") || !url.split("?", 1)[0].endsWith(".ts")) return next(url, context);
      // What was loaded is not kept: a source is loaded again where its address asks for that.
      const source = found.get(url) || stripped(url);
      if (source === undefined) return next(url, context);
      found.set(url, "");
      return { format: "module", source, shortCircuit: true };
    },
  });
  // Nor is a source compiled anew each time; a gateway sees to that itself.
  if (told !== null) nodeModule.enableCompileCache(join(folder, "compiled"));
  passOn();
}

function stripped(url) {
  try {
    return readFileSync(strippedFile(folder, fileURLToPath(url)), "utf8");
  } catch {
    return undefined;
  }
}

/** Threads and processes that are started with flags of their own. Others inherit the flag, or its environment. */
function passOn() {
  const address = new URL(import.meta.url);
  address.searchParams.set("folder", folder);
  const withFlag = (options) =>
    options?.execArgv === undefined
      ? options
      : { ...options, execArgv: [...options.execArgv, `--import=${address}`] };
  const { fork } = childProcess;
  childProcess.fork = (path, ...more) =>
    fork(path, ...more.map((each) => (Array.isArray(each) ? each : withFlag(each))));
  workerThreads.Worker = new Proxy(workerThreads.Worker, {
    construct: (target, [file, options], made) => Reflect.construct(target, [file, withFlag(options)], made),
  });
  nodeModule.syncBuiltinESMExports();
}
