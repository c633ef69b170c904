/** The Redis server that a supervisor starts for its own cells: the program, its settings, and what its log lines mean. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { REQUIRED_SETTINGS, redisArguments } from "../cells/redis/required-settings.ts";

export const REDIS_SOCKET = "redis.sock";
export const REDIS_PID = "redis.pid";

/** Redis's own, or its free successor. The first that is found is taken. */
const PROGRAMS = ["redis-server", "valkey-server"];

/** Path of the program. @throws Error for the operator where there is none */
export function findRedisServer(path: string | undefined = process.env.PATH): string {
  const folders = (path ?? "").split(delimiter).filter(isAbsolute);
  for (const program of PROGRAMS) {
    const found = folders.map((folder) => join(folder, program)).find(isProgram);
    if (found !== undefined) return found;
  }
  throw new Error(
    `several cells share their state in Redis, and neither ${PROGRAMS.join(" nor ")} is on PATH: install redis-server or set REDIS_URL`,
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Arguments of the server, which runs in its folder: paths are relative, because that of a socket must be short. */
export const REDIS_ARGUMENTS: readonly string[] = redisArguments({
  ...REQUIRED_SETTINGS,
  // A line cut off by a power failure was never acknowledged: it is dropped, and the start says so.
  "aof-load-truncated": "yes",
  save: "",
  dir: ".",
  port: "0",
  unixsocket: REDIS_SOCKET,
  unixsocketperm: "700",
  pidfile: REDIS_PID,
  databases: "1",
  daemonize: "no",
  supervised: "no",
  logfile: "",
  loglevel: "notice",
  "always-show-logo": "no",
});

export interface RedisLine {
  readonly level: "debug" | "warn" | "error";
  readonly text: string;
  /** What it means for the operator, where the line alone does not say it. */
  readonly meaning?: string;
}

const MAX_LINE = 1000;

/** Marked as warnings by Redis, and said at every start and stop. */
const ROUTINE =
  /is starting|Redis version=|Configuration loaded|Server initialized|User requested shutdown|ready to exit/;

const MEANINGS: readonly (readonly [pattern: RegExp, level: "warn" | "error", meaning: string])[] = [
  [/No space left on device/i, "error", "the disk that holds the data folder is full: Redis stores nothing"],
  [
    /Truncating the AOF|AOF loaded anyway because aof-load-truncated/i,
    "warn",
    "the end of Redis's append-only file was damaged and is cut off: the last write before the crash was not whole",
  ],
  [
    /Bad file format reading the append only file|Unexpected end of file reading the append only file/i,
    "error",
    "Redis's append-only file is damaged: copy the folder, then repair it with redis-check-aof --fix",
  ],
];

/** Reads a line of the log, `123:M 02 Jan 2026 10:00:00.000 # text`: `#` is a warning. The server has no secrets to log. */
export function redisLine(line: string): RedisLine | undefined {
  const found = /^\d+:[A-Z] \d+ \w+ \d{4} [\d:.]+ ([.*#-]) (.*)$/.exec(line.slice(0, MAX_LINE));
  const text = (found?.[2] ?? line.slice(0, MAX_LINE)).trim();
  if (text === "") return undefined;
  const known = MEANINGS.find(([pattern]) => pattern.test(text));
  if (known !== undefined) return { level: known[1], text, meaning: known[2] };
  // Lines without the usual head are errors about the command line.
  const isWarning =
    (found === null || found[1] === "#") && !ROUTINE.test(text) && !text.includes("signal-handler");
  return { level: isWarning ? "warn" : "debug", text };
}
