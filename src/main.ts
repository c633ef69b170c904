#!/usr/bin/env node
/**
 * The process's entry point: runs the command line. Needs Node 22.18; `scripts/weir.mjs` starts it on a suitable Node.
 */
import { enableCompileCache } from "node:module";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { endProcess } from "./base/process/exit.ts";
import { print } from "./base/process/output.ts";
import { keepStripped } from "./base/process/stripped-sources.mjs";

// Files created by a command, here or in a child process, are readable only by this user.
process.umask(0o077);
// The caches hold only modules that are loaded after these lines, or after the launcher's. Their folder is not Node's default, which lies below that of temporary
// files: another user could have made it, and this process would run code from it. If ours cannot be written, nothing is cached.
const cache = fileURLToPath(new URL("../node_modules/.cache/weir", import.meta.url));
const words = process.argv.slice(2);
// Node keeps in memory what it has taken of a cache of compiled code, until the end: 9 MB, for an eighth of a second of a start. A
// gateway lives long; the other commands end soon.
if (words.length > 0 && words[0] !== "start") enableCompileCache(cache);
const hasLoaded = keepStripped(`${cache}/stripped.json`, new URL("..", import.meta.url).href);
const { runCommandLine } = await import("./host/commands/command-line.ts");
const shell = {
  env: process.env,
  isTerminal: isatty(1),
  out: (text: string) => print(1, text),
  err: (text: string) => print(2, text),
  hasLoaded,
};
await endProcess(await runCommandLine(words, shell));
