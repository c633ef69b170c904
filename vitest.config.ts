/**
 * How the tests run: a lane is a folder, and a project of vitest (test/README.md). In child processes, because LMDB, ClickHouse and
 * uWebSockets.js hold state per process that threads would share. Files of a lane share these processes, which spares a third of the
 * time: what a file changes of its process, it puts back.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LaneSequencer } from "./scripts/test-run/lane-sequencer.ts";
import { ANY_CELL_PROJECT, filesOf, LANES, type Lane, PART_VARIABLE, partOf } from "./scripts/test-run/lanes.ts";
import { reportPlugin } from "./scripts/test-run/report.ts";
import { ANY_CELL } from "./test/cells/any-cell.ts";

const part = partOf(process.env[PART_VARIABLE]);
/** Tests of the cells' own are skipped where Redis cannot be had; those of one gateway do not know of it. */
const mayHaveRedis = ["redis-server", "apt-get"].some((program) =>
  (process.env.PATH ?? "").split(":").some((folder) => existsSync(`${folder}/${program}`)),
);
if (part !== "quick" && !mayHaveRedis) {
  console.warn("Tests are not run against several cells: there is no redis-server on PATH.");
}
const STRIPPED = `--import=${new URL("test/stripped.mjs", import.meta.url)}`;

/** A process takes up to a gigabyte. */
const MOST_WORKERS = 6;
/** These tests wait for sockets, timers, threads and processes for more than a third of their time: one more than there are processors. */
const WORKERS = Math.min(availableParallelism() + 1, MOST_WORKERS);
/** Starts processes of its own. */
const WITH_CHILDREN = { maxWorkers: WORKERS, sequence: { groupOrder: 1 } };

function turnOf(lane: Lane) {
  if (lane.isAlone) return { maxWorkers: 1, sequence: { groupOrder: 2 } };
  if (!lane.isQuick) return WITH_CHILDREN;
  return { maxWorkers: WORKERS, sequence: { groupOrder: 0 } };
}

/** It would cost what `timed` measures. */
const setupOf = (lane: Lane) => ({ setupFiles: lane.isAlone ? [] : ["test/left-reads.setup.ts"] });

const lanes = LANES.map((lane) => ({
  extends: true as const,
  test: { name: lane.name, include: filesOf(lane, part), ...setupOf(lane), ...turnOf(lane) },
}));

export default defineConfig({
  // What `npm test` decides by whether a failure counts: docs/testing.md.
  plugins: [reportPlugin()],
  test: {
    pool: "forks",
    isolate: false,
    // Node loads tests and product itself, as it does the product for a user: Vite takes several seconds of a processor to transform
    // them for the first time, and calls each import by way of an object. It is without vi.mock, which no test needs.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Against hangs alone: a wait ends after two minutes, and says what it saw (test/support/wait.ts). A test may have several.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 5_000,
    // Tests that run at the same time wait for something and hardly use a processor.
    maxConcurrency: 16,
    globalSetup: ["memory-folder", "run-folder", "stripped"].map((name) => `test/${name}.setup.mjs`),
    sequence: { sequencer: LaneSequencer },
    // For the processes that tests start, and for those that run tests, which start threads of the product.
    // A start of theirs need not be warm.
    env: { NODE_OPTIONS: STRIPPED, WARM_UP_MS: "0", [PART_VARIABLE]: part },
    execArgv: [STRIPPED],
    projects: [
      ...lanes,
      {
        extends: true,
        test: {
          name: ANY_CELL_PROJECT,
          include: mayHaveRedis && part !== "quick" ? ANY_CELL : [],
          // No other part runs any of this project, so the files that are in two parts run all that they have.
          env: { WEIR_TEST_CELLS: "3", [PART_VARIABLE]: "all" },
          ...WITH_CHILDREN,
        },
      },
    ],
  },
});
