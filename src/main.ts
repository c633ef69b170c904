#!/usr/bin/env node
/**
 * The process's entry point: runs the command line. Needs Node 22.18; `scripts/weir.mjs` starts it on a suitable Node.
 */
import { enableCompileCache } from "node:module";
import { runCommandLine } from "./commands/command-line.ts";
import { print } from "./process/output.ts";

// Files created by a command, here or in a child process, are readable only by this user.
process.umask(0o077);
enableCompileCache();
try {
  const terminal = { out: (text: string) => print(1, text), err: (text: string) => print(2, text) };
  process.exit(await runCommandLine(process.argv.slice(2), terminal));
} catch (error) {
  print(2, `${error instanceof Error ? error.message : String(error)}\n`);
  if (process.env.LOG_LEVEL === "debug" && error instanceof Error) print(2, `${error.stack}\n`);
  process.exit(1);
}
