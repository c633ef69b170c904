/** The interface of a target: it accepts chat-completions calls on loopback and forwards them to the simulator. */
import type { Processes } from "../processes.ts";

export interface RunningTarget {
  /** Base URL of `/v1/chat/completions`. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its name for the simulator's model. */
  readonly model: string;
  /** The measured process; undefined where there is none between client and upstream. */
  readonly pid: number | undefined;
  /** Work that belongs to calls may begin this much after them, such as the insertion of their records. Milliseconds. */
  readonly laterMs?: number;
}

export interface TargetContext {
  readonly processes: Processes;
  /** The simulator, `http://127.0.0.1:port`. */
  readonly upstreamUrl: string;
  /** Folder for this run; removed afterwards. */
  readonly scratchDir: string;
  /** Folder for installed packages; kept. */
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
  /** The environment variable with the path of its binary, where no package registry has it. */
  readonly binaryVariable?: string;
  /** @throws Unavailable when it cannot run on this machine; any other error is a bug of the bench or the target. */
  start(context: TargetContext): Promise<RunningTarget>;
}

/** The target cannot run here; the report prints the reason. */
export class Unavailable extends Error {}
