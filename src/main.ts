#!/usr/bin/env node
/** The entry: hands the words of the command line to the command that they name. `scripts/weir.mjs` brings Node 22. */
import { enableCompileCache } from "node:module";
import { runCommandLine } from "./commands/command-line.ts";
import { print } from "./process/output.ts";

// Whatever a command makes, here or in a process of its own, is this user's alone.
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
