#!/usr/bin/env node
/**
 * Starts Weir (`src/main.ts`) on a Node that runs TypeScript, with the flags used in measurements: in this process if
 * both apply, else in a child process of the Node 22 in the packages. Runs on any Node: plain JavaScript, built-in
 * modules only.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

/**
 * Also passed by `npm start` (docs/performance.md says what each saves). Short-lived objects of a call under load fit
 * into 8 MB. V8 must not guess from its first calls which objects live long: a wrong guess keeps the text of every body.
 * It must not collect twice a second at a heap of 40 MB, nor let the garbage of long streams grow to three times what is
 * alive. A collection of an idle process frees what compiled code refers to: the next calls would start uncompiled. And what
 * a warm-up makes hot at once must find room in the compiler's queue. Two threads collect and compile beside the one that serves: each has
 * 5 MB of the allocator's for itself.
 */
const FLAGS = [
  "--max-semi-space-size=8",
  "--no-allocation-site-pretenuring",
  "--initial-old-space-size=64",
  "--heap-growing-percent=40",
  "--no-memory-reducer",
  "--concurrent-recompilation-queue-length=256",
  "--v8-pool-size=2",
];
/**
 * Also set by `npm start`, for glibc's allocator, which reads them when a process starts: it gives back what is free at the end of its
 * memory beyond 2 MB, where it would keep up to 64, and has two arenas for all threads. 25 MB of a busy gateway.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "1048576",
  MALLOC_TRIM_THRESHOLD_: "2097152",
};
/** Set in the environment of the launcher's child, so that the child does not start another. */
const MARK = "WEIR_LAUNCHED";

const bundled = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url));
const isChild = process.env[MARK] !== undefined;
const hasFlags = FLAGS.every((flag) => process.execArgv.includes(flag));
delete process.env[MARK];

if (runsTypeScript() && (hasFlags || isChild)) await here();
else if (runsTypeScript()) launch(process.execPath);
else if (existsSync(bundled) && !isChild) launch(bundled);
else {
  console.error(
    `Weir runs on Node 22.18 or newer, and this is ${process.version}. Install that, or run "npm install" in ${fileURLToPath(new URL("..", import.meta.url))}: it brings one.`,
  );
  process.exit(1);
}

async function here() {
  if (isChild && process.channel) {
    // If the launcher is killed with -9, the gateway drains and ends, as after SIGTERM.
    process.channel.unref();
    process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  }
  if (!existsSync(fileURLToPath(new URL("../node_modules/pino", import.meta.url)))) {
    console.error('Weir\'s packages are not installed: run "npm start" (or "npm install") once.');
    process.exit(1);
  }
  const [{ keepStripped }, cache] = [
    await import("../src/base/process/stripped-sources.mjs"),
    fileURLToPath(new URL("../node_modules/.cache/weir/stripped.json", import.meta.url)),
  ];
  keepStripped(cache, new URL("..", import.meta.url).href);
  await import("../src/main.ts");
}

function launch(node) {
  const child = spawn(node, [...FLAGS, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    env: { ...ALLOCATOR, ...process.env, [MARK]: "1" },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  // Ctrl-C reaches launcher and gateway; the gateway ignores a signal that is repeated within two seconds.
  const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2", "SIGQUIT"];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`${node} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
    process.disconnect?.();
    if (signal === null) process.exit();
    // The launcher ends by the same signal as its child, so that its parent sees the same.
    for (const heard of signals) process.removeAllListeners(heard);
    process.kill(process.pid, signal);
  });
}

function runsTypeScript() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}
