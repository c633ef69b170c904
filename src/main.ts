#!/usr/bin/env node
/** The entry: hands the words of the command line to the command that they name. `scripts/weir.mjs` brings Node 22. */
import { writeSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { runCommandLine } from "./commands/command-line.ts";

enableCompileCache();
const say = (fd: number) => (text: string) => void writeSync(fd, text);
try {
  process.exit(await runCommandLine(process.argv.slice(2), { out: say(1), err: say(2) }));
} catch (error) {
  say(2)(`${error instanceof Error ? error.message : String(error)}\n`);
  if (process.env.LOG_LEVEL === "debug") console.error(error);
  process.exit(1);
}
