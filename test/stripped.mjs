/**
 * For processes that tests start (`node --import`), and for those of the tests: takes sources whose types were stripped once
 * for the whole run, by `stripped.setup.mjs`. Node would do the same work in each of them, half a second of a processor each
 * time. What is not there, or has changed since, Node strips itself. The product starts its threads and the engine's process
 * without the flags and the environment of the process that they belong to: here they get this one flag beside their own.
 */
import childProcess from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import workerThreads from "node:worker_threads";

/** Told in the address to what has no environment of ours. */
const told = new URL(import.meta.url).searchParams.get("folder");
const folder = told ?? process.env.WEIR_STRIPPED;

/** Where the stripped form of a source lies: another file for each state of the source. */
export function strippedFile(parent, path) {
  const { mtimeMs, size } = statSync(path);
  return join(parent, `${createHash("sha256").update(`${path} ${mtimeMs} ${size}`).digest("hex")}.js`);
}

// Older Nodes, which some tests start, have no such hooks.
if (folder && nodeModule.registerHooks !== undefined) {
  nodeModule.registerHooks({
    load(url, context, next) {
      const source =
        url.startsWith("file:") && url.endsWith(".ts") ? stripped(fileURLToPath(url)) : undefined;
      return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
  // Nor is a source compiled anew each time; a gateway sees to that itself.
  if (told !== null) nodeModule.enableCompileCache(join(folder, "compiled"));
  passOn();
}

function stripped(path) {
  try {
    return readFileSync(strippedFile(folder, path), "utf8");
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
