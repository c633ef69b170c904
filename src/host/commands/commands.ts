/**
 * The table of commands. Each loads its module when it runs, so that `--help` and wrong usage load nothing of the
 * gateway.
 */
import { systemClock } from "../../base/clock.ts";
import { readConfig } from "../settings/config.ts";
import type { Command, Shell } from "./command.ts";

/** Writes lines to standard output. */
const sayTo =
  ({ out }: Shell) =>
  (line: string): void => {
    out(`${line}\n`);
  };

const REASON = { type: "string", value: "TEXT", summary: "Shown to the organisation." } as const;

export const COMMANDS: readonly Command[] = [
  {
    name: "start",
    summary: "Start the gateway. What `weir` without a command does.",
    options: {
      cells: {
        type: "string",
        value: "N",
        summary:
          "Gateway processes on the port; else what CELLS says, or 1. They share their state in Redis.",
      },
    },
    run: async ({ options }, shell) => (await import("./start.ts")).start(shell, options.cells),
  },
  {
    name: "cells",
    summary:
      "List the processes of a supervisor on DATA_DIR, and the cells of the installation in REDIS_URL.",
    options: {},
    run: async (_, shell) => (await import("./cells.ts")).listCells(shell),
  },
  {
    name: "cells init",
    summary: "Make an installation of several cells in REDIS_URL from DATA_DIR, which may be empty.",
    options: {
      discard: { type: "boolean", summary: "First remove one that another folder began and did not finish." },
      once: {
        type: "boolean",
        summary: "Do nothing where REDIS_URL holds an installation already, also while cells run.",
      },
    },
    run: async (given, shell) => (await import("./cells.ts")).initCells(given, shell),
  },
  {
    name: "cells drain",
    operand: "CELL",
    summary: "Stop one cell of the supervisor on DATA_DIR in good order, while the others serve.",
    options: {},
    run: async (given, shell) => (await import("./cells.ts")).drainCell(given, shell),
  },
  {
    name: "cells start",
    operand: "CELL",
    summary: "Start a cell that was drained.",
    options: {},
    run: async (given, shell) => (await import("./cells.ts")).startCell(given, shell),
  },
  {
    name: "retire",
    operand: "CELL",
    summary:
      "End a cell that will not come back, and give back the credit that it leased. Asks for 35 s of silence, 95 s where no other cell runs.",
    options: {},
    run: async (given, shell) => (await import("./cells.ts")).retireCell(given, shell),
  },
  {
    name: "check",
    summary: "Check configuration, catalog and data folder, and say what a start would do.",
    options: {},
    run: async (_, shell) => (await import("./check.ts")).check(shell.env, sayTo(shell)),
  },
  {
    name: "check --data",
    operand: "DIR",
    summary:
      "Walk a whole data folder, DATA_DIR unless named, and say what is damaged. The gateway must be stopped.",
    options: {},
    run: async ({ operand }, shell) =>
      (await import("./check-data.ts")).checkData(
        { dataDir: operand ?? readConfig(shell.env).dataDir },
        sayTo(shell),
      ),
  },
  {
    name: "recover",
    summary: "Say what a damaged journal costs, and with --yes give it up and keep its files aside.",
    options: {
      data: { type: "string", value: "DIR", summary: "The data folder; DATA_DIR unless named." },
      yes: { type: "boolean", summary: "Do it; without, nothing is changed." },
    },
    run: async ({ options: { data, yes } }, shell) => {
      const dataDir = typeof data === "string" ? data : readConfig(shell.env).dataDir;
      return (await import("./recover.ts")).recover(
        { dataDir, yes: yes === true, clock: systemClock },
        sayTo(shell),
      );
    },
  },
  {
    name: "backup",
    operand: "TO",
    summary:
      "Copy the data folder into the new folder TO, consistently, while the gateway runs or is stopped.",
    options: {
      "no-records": { type: "boolean", summary: "Without the records in the embedded ClickHouse." },
      "no-master-key": {
        type: "boolean",
        summary: "Without secrets.key, which is then to be kept elsewhere.",
      },
    },
    run: async (given, shell) => (await import("./backup.ts")).backup(given, shell),
  },
  {
    name: "restore",
    operand: "FROM",
    summary: "Make DATA_DIR, which must be new or empty, from a backup, and prove its ledger.",
    options: {},
    run: async (given, shell) => (await import("./backup.ts")).restore(given, shell),
  },
  {
    name: "keys create",
    summary: "Make a live key in the first organisation while the gateway is stopped.",
    options: {
      scopes: {
        type: "string",
        value: "LIST",
        summary: "Scopes with commas between; by default all but read:payloads.",
      },
      name: { type: "string", value: "NAME", summary: "Name of the key." },
      out: { type: "string", value: "FILE", summary: "A new file for the secret, in place of the terminal." },
    },
    run: async ({ options }, shell) => (await import("./create-key.ts")).createKey(options, shell),
  },
  {
    name: "models import",
    operand: "FILE|URL",
    summary: "Bring models, prices and limits of models.dev or OpenRouter into new model files.",
    options: {
      from: {
        type: "string",
        value: "FORMAT",
        summary: "models.dev or openrouter; else told by the content.",
      },
      update: { type: "boolean", summary: "Also change existing files, whose comments stay." },
      "dry-run": { type: "boolean", summary: "Say what would change, and write nothing." },
    },
    run: async (given, shell) => (await import("./import-models.ts")).importModels(given, shell),
  },
  {
    name: "orgs",
    operand: "TEXT",
    summary: "List the organisations of the running gateway, or those whose name has TEXT.",
    options: {},
    run: async (given, shell) => (await import("./operate.ts")).listOrgs(given, shell),
  },
  {
    name: "suspend",
    operand: "ORG",
    summary: "Suspend an organisation: its keys stop, its people can only read.",
    options: { reason: REASON },
    run: async (given, shell) => (await import("./operate.ts")).setSuspended(given, shell, true),
  },
  {
    name: "resume",
    operand: "ORG",
    summary: "End a suspension.",
    options: { reason: REASON },
    run: async (given, shell) => (await import("./operate.ts")).setSuspended(given, shell, false),
  },
  {
    name: "grant",
    operand: "ORG",
    summary: "Give an organisation credit.",
    options: {
      usd: { type: "string", value: "AMOUNT", summary: "USD, such as 12.50." },
      reason: REASON,
      key: { type: "string", value: "KEY", summary: "A second grant with this key posts nothing more." },
    },
    run: async (given, shell) => (await import("./operate.ts")).grant(given, shell),
  },
  {
    name: "tickets",
    operand: "ID",
    summary: "List open tickets, or decide one.",
    options: {
      approve: { type: "boolean", summary: "Grant what it asks for." },
      reject: { type: "boolean", summary: "Refuse it." },
      close: { type: "boolean", summary: "End it otherwise." },
      answer: { type: "string", value: "TEXT", summary: "Shown to the organisation." },
    },
    run: async (given, shell) => (await import("./operate.ts")).tickets(given, shell),
  },
  {
    name: "plans",
    operand: "PLAN",
    summary: "List the plans in force, or the organisations on one and their keys with more than it gives.",
    options: { raised: { type: "boolean", summary: "Only organisations with such a key." } },
    run: async (given, shell) => (await import("./operate.ts")).plans(given, shell),
  },
  {
    name: "reconcile",
    summary:
      "Say what does not match on a day: payments, top-ups, refunds, ledger, invoices. Exit code 1 if anything.",
    options: {
      day: { type: "string", value: "YYYY-MM-DD", summary: "A day in India that is over; else yesterday." },
      heal: {
        type: "boolean",
        summary: "Do what the nightly run does: heal what is safe, park the rest, keep the report.",
      },
    },
    run: async (given, shell) => (await import("./reconcile.ts")).reconcile(given, shell),
  },
  {
    name: "provider-bill",
    operand: "FILE",
    summary: "Compare a provider's usage export, .csv or .json, with the records.",
    options: {
      provider: { type: "string", value: "ID", summary: "The provider's id in the catalog." },
      format: { type: "string", value: "NAME", summary: "plain, openai or anthropic; plain unless given." },
    },
    run: async (given, shell) => (await import("./reconcile.ts")).checkBill(given, shell),
  },
  {
    name: "verify-receipt",
    operand: "FILE",
    summary: "Check the signature of a receipt, - for standard input, and say what it states. Works offline.",
    options: {
      jwks: {
        type: "string",
        value: "FILE",
        summary: "The published keys, /.well-known/jwks.json; else the running gateway's.",
      },
    },
    run: async (given, shell) => (await import("./verify-receipt.ts")).verifyReceiptFile(given, shell),
  },
  {
    name: "receipts rotate",
    summary: "Sign receipts with a new key from now on. Earlier receipts still verify.",
    options: {},
    run: async (_, shell) => (await import("./operate.ts")).rotateReceiptKey(shell),
  },
  {
    name: "jobs",
    operand: "KIND/KEY",
    summary: "List jobs that were given up, or try one again.",
    options: { drop: { type: "boolean", summary: "Forget it instead." } },
    run: async (given, shell) => (await import("./operate.ts")).jobs(given, shell),
  },
];
