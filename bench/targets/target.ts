/** What can be measured: something that takes chat-completions calls on loopback and passes them to the simulator. */
import type { Processes } from "../processes.ts";

export interface RunningTarget {
  /** Where `/v1/chat/completions` is. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its name for the simulator's model. */
  readonly model: string;
  /** The process that does the work; undefined where there is none between client and upstream. */
  readonly pid: number | undefined;
}

export interface TargetContext {
  readonly processes: Processes;
  /** The simulator, `http://127.0.0.1:port`. */
  readonly upstreamUrl: string;
  /** For what this run needs; removed after it. */
  readonly scratchDir: string;
  /** For what is installed once; kept. */
  readonly cacheDir: string;
  readonly repoDir: string;
  say(line: string): void;
}

export interface Target {
  readonly name: string;
  readonly about: string;
  /** Only with `--peers`, or when named. */
  readonly peer: boolean;
  /** Only when named. */
  readonly onlyNamed?: boolean;
  /** @throws Unavailable when this machine cannot have it; any other error is a fault of the bench or the target. */
  start(context: TargetContext): Promise<RunningTarget>;
}

/** A target that cannot be had here, with the reason that the report prints. */
export class Unavailable extends Error {}
