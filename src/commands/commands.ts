/**
 * Every command of the command line. A row loads its module when it runs, so that `--help` and refusals need none of
 * the gateway.
 */
import type { Command } from "./command.ts";

export const COMMANDS: readonly Command[] = [
  {
    name: "start",
    summary: "Start the gateway. What `weir` without a command does.",
    options: {},
    run: async () => (await import("./start.ts")).start(process.env),
  },
  {
    name: "check",
    summary: "Check configuration, catalog and data folder, and say what a start would do.",
    options: {},
    run: async () => (await import("./check.ts")).check(process.env),
  },
  {
    name: "keys create",
    summary: "Make a live key in the first organisation while the gateway is stopped.",
    options: {
      scopes: {
        type: "string",
        value: "LIST",
        summary: "Scopes with commas between; every scope by default.",
      },
      name: { type: "string", value: "NAME", summary: "Name of the key." },
      out: { type: "string", value: "FILE", summary: "A new file for the secret, in place of the terminal." },
    },
    run: async ({ options }) => (await import("./create-key.ts")).createKey(process.env, options),
  },
];
