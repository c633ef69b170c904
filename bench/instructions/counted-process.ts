/** Starts the gateway that is counted (`counted.ts`). The caller says what is done when a window of calls begins and when it ends. */
import { on } from "node:events";
import { join } from "node:path";
import type { Processes, Started } from "../processes.ts";
import type { CountMessage, CountPlan } from "./counted.ts";

/**
 * V8 optimises in one order, on one thread, and earlier than by default, so that a short warm-up suffices. Its young generation is so
 * large that none of its collections falls into a window by itself, only the one at the end that `counted.ts` asks for: one more or less
 * would be 3 % of a burst. The old generation has room too, since a full collection is a tenth of a window.
 */
const NODE_FLAGS = [
  "--min-semi-space-size=128",
  "--max-semi-space-size=128",
  "--no-allocation-site-pretenuring",
  "--initial-old-space-size=3000",
  "--max-old-space-size=4000",
  "--no-memory-reducer",
  "--predictable",
  "--hash-seed=1",
  "--random-seed=1",
  "--expose-gc",
  "--invocation-count-for-turbofan=200",
  "--minimum-invocations-after-ic-update=50",
];

export const PLAN: Omit<CountPlan, "scratchDir" | "windows"> = {
  warmUp: { "json-1k": 480, "burst-64": 192, "stream-16": 192, "stream-272": 48 },
  warmUpRounds: 8,
  calls: { "json-1k": 480, "burst-64": 320, "stream-16": 128, "stream-272": 64 },
  settlePauseMs: 250,
};

/** `HOST` in its environment: valgrind names its pipes after it. */
export const COUNTED_HOST = "127.0.0.1";

/** Settings of whoever starts the bench are not for the gateway that is counted. */
const ENV = {
  CLICKHOUSE_URL: "",
  REDIS_URL: "",
  CELL: "",
  CELLS: "",
  WEIR_SECRETS_KEY: "",
  NODE_OPTIONS: "",
  NODE_COMPILE_CACHE: "",
  TZ: "UTC",
  HOST: COUNTED_HOST,
};

export interface CountedRun {
  readonly repoDir: string;
  readonly plan: CountPlan;
  /** What the process is called in the bench's logs; several may run at a time. */
  readonly name?: string;
  /** A program with its arguments that runs Node. */
  readonly under?: readonly string[];
  /** Further flags of Node. */
  readonly flags?: readonly string[];
}

/** What it says before it ends or fails; it waits until the act for it has ended. */
export type CountedStep = Exclude<CountMessage, { readonly kind: "done" | "failed" }>;

/** @throws Error where the gateway fails, or ends before it is done, and what `act` throws */
export async function conductCounted(
  processes: Processes,
  { repoDir, plan, name = "counted", under = [], flags = [] }: CountedRun,
  act: (step: CountedStep, started: Started) => Promise<void> | void,
): Promise<void> {
  const script = join(repoDir, "bench/instructions/counted.ts");
  const node = [process.execPath, ...NODE_FLAGS, ...flags, script, JSON.stringify(plan)];
  const [command = "", ...args] = [...under, ...node];
  const started = await processes.start(name, command, args, { ipc: true, cwd: repoDir, env: ENV });
  for await (const [received] of on(started.child, "message", { close: ["exit"] })) {
    const message = received as CountMessage;
    if (message.kind === "failed") throw new Error(`the counted gateway failed: ${message.reason}`);
    // Under valgrind it would take its part of a core while others are counted.
    if (message.kind === "done") return await processes.stop(started);
    await act(message, started);
    started.child.send({});
  }
  throw new Error(`the counted gateway ended: ${started.log()}`);
}
