/**
 * How the tests run: in child processes, because LMDB, chDB and uWebSockets.js hold state per process that threads would share,
 * and two at a time on two cores. Files share these processes, which spares a third of the time: what a file changes of its
 * process, it puts back. Tests of how long something takes run behind all others, one at a time.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { reportPlugin } from "./scripts/test-run/report.ts";

/** Rooms that hold no state, in processes of their own that stay small: some of these tests measure memory. */
const STATELESS = ["wire", "routing", "catalog", "fuzz", "simulator"].map(
  (room) => `test/unit/${room}/**/*.test.ts`,
);
/** What replaces a module of the product finds it loaded in a process that others share. */
const OWN_PROCESS = ["test/unit/store/journal.test.ts"];
/** The slowest of `ANY_CELL`: three cells answer each test's questions for all records of all cells. */
const ANY_CELL_SLOW = [
  ...["chat", "completions", "responses", "messages", "generate"].map((format) => `conformance/${format}`),
  ...["routes/access", "routes/document", "routes/lists", "routes/separation", "inquire/inquire", "tail"],
  ...["idempotency", "analytics/exports.readers", "analytics/request-forms", "responses.history", "money/books"],
  ...["money/org-limits", "money/exact", "byok", "privacy", "policies/e2e", "policies/replay.e2e"],
];
/**
 * Run once more against three cells behind a proxy: what these tests ask of one gateway, any cell must do. See test/README.md. Tests
 * that move the clock of their gateway are not among them: cells go by the clock of Redis.
 */
const ANY_CELL = [
  ...["scim", "scim.members", "scim.published", "sign-in", "sign-out", "locked-orgs", "clients.references"],
  ...["operator", "operator-key", "billing", "billing.bad-input", "payments", "payment-webhooks"],
  ...["plans", "plans.unlimited", "limits", "context", "analytics/exports", "erasure/dpa"],
  ...["routes/specification", "openapi.fields", "conformance/bytes"],
  ...(process.env.WEIR_THOROUGH === undefined ? [] : ANY_CELL_SLOW),
].map((name) => `test/gateway/${name}.test.ts`);
/** Tests of the cells' own are skipped where Redis cannot be had; those of one gateway do not know of it. */
const mayHaveRedis = ["redis-server", "apt-get"].some((program) =>
  (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, program))),
);
if (!mayHaveRedis) console.warn("Tests are not run against several cells: there is no redis-server on PATH.");
const STRIPPED = `--import=${new URL("test/stripped.mjs", import.meta.url)}`;
const TIMED = [
  ...["latency", "first-calls", "hostile-bodies", "hostile-heads"].map((name) => `test/gateway/${name}.test.ts`),
  "test/unit/**/*.speed.test.ts",
];

export default defineConfig({
  // What `npm test` decides by whether a failure counts: docs/testing.md.
  plugins: [reportPlugin()],
  test: {
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    // Wide enough for real sockets and engines on a busy machine, whose code may have to be read from a busy disk again; a test
    // that waits for minutes is a hang.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 5_000,
    // Tests that run at the same time wait for something and hardly use a processor.
    maxConcurrency: 16,
    globalSetup: ["test/memory-folder.setup.mjs", "test/stripped.setup.mjs"],
    // Of the processes that tests start, and of those that run tests, which start threads of the product.
    env: { NODE_OPTIONS: STRIPPED },
    execArgv: [STRIPPED],
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["test/**/*.test.ts"],
          exclude: ["node_modules/**", ...STATELESS, ...OWN_PROCESS, ...TIMED],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "stateless", include: STATELESS, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: { name: "own process", include: OWN_PROCESS, isolate: true, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: "cells", include: mayHaveRedis ? ANY_CELL : [], env: { WEIR_TEST_CELLS: "3" }, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: "timed", include: TIMED, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
