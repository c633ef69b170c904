/**
 * The Redis server that a killed supervisor left behind. It goes on living and has the folder's files open: it is taken over
 * where it answers and is set as required, and ended otherwise. Two servers on one folder would destroy its files.
 */
import { readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { RedisLog } from "../cells/redis/redis.ts";
import { REQUIRED_SETTINGS } from "../cells/redis/required-settings.ts";
import { settingsOf } from "../cells/redis/trust.ts";
import { askRedis } from "./asked-redis.ts";
import { REDIS_PID, REDIS_SOCKET } from "./redis-server.ts";

const ANSWER_MS = 3000;
/** Time for a clean stop: the append-only file is written after every command, so little is left to do. */
const END_MS = 10_000;
const LOOK_MS = 20;

/**
 * Finds the server that runs on the folder. Resolves with its process id where it can be taken over, and with undefined where
 * none runs any more. @throws Error for the operator where one runs and cannot be ended
 */
export async function adoptable(
  folder: string,
  socket: string,
  clock: Clock,
  log: RedisLog,
): Promise<number | undefined> {
  const said = await askRedis(folder, socket, ANSWER_MS, async (link) =>
    String(await link.call("INFO", "server")),
  );
  const answered = Number(/^process_id:(\d+)\r?$/m.exec(said ?? "")?.[1]);
  const pid = Number.isInteger(answered) ? answered : writtenPid(folder);
  if (pid === undefined || !runsIn(pid, folder)) {
    if (said === undefined) return undefined;
    throw new Error(
      `a server that is no process of this machine answers on ${join(folder, REDIS_SOCKET)}: stop it, two on one folder would destroy its files`,
    );
  }
  const fault = said === undefined ? "it does not answer" : await settingFault(folder, socket);
  if (fault === undefined) return pid;
  log.warn({ redisPid: pid, fault }, "a Redis server that an earlier start left is ended");
  await endProcess(pid, folder, clock);
  return undefined;
}

/** Ends the server: by SIGTERM, and by SIGKILL if it takes too long. @throws Error if it lives on */
export async function endProcess(pid: number, folder: string, clock: Clock): Promise<void> {
  // One that is stopped (SIGSTOP) would not hear the other signal.
  for (const signal of ["SIGTERM", "SIGCONT"] as const) send(pid, signal);
  if (await gone(pid, folder, clock)) return;
  send(pid, "SIGKILL");
  if (await gone(pid, folder, clock)) return;
  throw new Error(`the Redis server with process id ${pid} on ${folder} does not end: end it by hand`);
}

async function gone(pid: number, folder: string, clock: Clock): Promise<boolean> {
  const endMs = clock.monotonic() + END_MS;
  while (runsIn(pid, folder)) {
    if (clock.monotonic() > endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}

/** What is not as it must be, or undefined. */
async function settingFault(folder: string, socket: string): Promise<string | undefined> {
  const found = await askRedis(folder, socket, ANSWER_MS, settingsOf);
  for (const [name, value] of Object.entries(REQUIRED_SETTINGS)) {
    const text = found?.get(name) ?? "not known";
    if (text !== value) return `${name} is ${text}, not ${value}`;
  }
  return undefined;
}

function writtenPid(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(folder, REDIS_PID), "utf8"));
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether this process lives and is a server of this folder: by now its id may belong to another program. Where the system does
 * not say what a process is (no `/proc`), a living process is taken for the server.
 */
export function runsIn(pid: number, folder: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  try {
    // A process that has ended and is not yet collected by its parent has no folder.
    if (readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")) return false;
    const program = basename(readlinkSync(`/proc/${pid}/exe`)).replace(" (deleted)", "");
    return /^(redis|valkey)-/.test(program) && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
  } catch (error) {
    return process.platform !== "linux" && (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
