/**
 * A process that runs test files one behind the other, as `run.ts` asks it to by its one argument, a JSON `Job`. It tells of each
 * on a line of its own (`Progress`), so that whoever started it knows where it is when it hangs.
 *
 * All run in one process and by Node's own import: sources are loaded once, and V8's offsets are those of the sources.
 */
import { join, relative, sep } from "node:path";
import {
  type Reporter,
  type SerializedError,
  startVitest,
  type TestModule,
  type TestSpecification,
} from "vitest/node";
import { type Job, PROGRESS_MARK, type Progress } from "./run.ts";

const job: Job = JSON.parse(process.argv[2] ?? "{}");
const root = process.cwd();

/** In the order in which they were asked for. */
class AsAsked {
  shard = (files: TestSpecification[]): TestSpecification[] => files;
  sort = (files: TestSpecification[]): TestSpecification[] => {
    const place = new Map(job.files.map((file, i) => [join(root, file), i]));
    return files.sort((a, b) => (place.get(a.moduleId) ?? 0) - (place.get(b.moduleId) ?? 0));
  };
}

const pathOf = ({ moduleId }: TestModule): string => relative(root, moduleId).replaceAll(sep, "/");

const reporter: Reporter = {
  onTestModuleQueued: (module) => tell({ kind: "started", file: pathOf(module) }),
  onTestModuleEnd: (module) => {
    const tests = [...module.children.allTests()];
    const failed = tests.find((test) => test.result().state === "failed");
    const why = failed?.fullName ?? module.errors()[0]?.message ?? "outside of its tests";
    if (module.ok()) tell({ kind: "passed", file: pathOf(module) });
    else tell({ kind: "failed", file: pathOf(module), why });
  },
  onTestRunEnd: (_, errors: readonly SerializedError[]) => {
    const [error] = errors;
    if (error !== undefined) tell({ kind: "broken", why: error.message });
  },
};

function tell(progress: Progress): void {
  console.log(`${PROGRESS_MARK}${JSON.stringify(progress)}`);
}

const stripped = `--import=${join(root, "test/stripped.mjs")}`;
const vitest = await startVitest(
  "test",
  job.files.map((file) => join(root, file)),
  {
    root,
    config: false,
    watch: false,
    cache: false,
    pool: "forks",
    isolate: false,
    maxWorkers: 1,
    fileParallelism: false,
    bail: job.untilFailure ? 1 : 0,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 5_000,
    maxConcurrency: 16,
    include: ["test/**/*.test.ts"],
    env: { NODE_OPTIONS: stripped },
    execArgv: [stripped],
    setupFiles: job.measures ? [join(root, "scripts/mutants/coverage.setup.ts")] : [],
    reporters: [reporter],
    sequence: { sequencer: AsAsked },
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
);
await vitest.close();
process.exit();
