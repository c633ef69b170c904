/** The real supervisor with real gateways and a real Redis server, as processes. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Agent, request } from "node:http";
import { onTestFinished } from "vitest";
import type { SupervisorStatus } from "../../../src/cluster/supervisor/supervisor.ts";
import { supervisorStatus } from "../../../src/cluster/supervisor/supervisor.ts";
import { rest } from "../pace.ts";
import { MAIN, type Placed, place, run } from "../process.fixtures.ts";
import { missingRedis } from "../redis-server.ts";
import { Hopeless, until } from "../wait.ts";

const missing = missingRedis();
export const hasRedis = missing === undefined;
export const why = hasRedis ? "" : ` (skipped: ${missing})`;

export interface Running extends ReturnType<typeof run> {
  readonly where: Placed;
  readonly pid: number;
  status(): Promise<SupervisorStatus | undefined>;
  /** Process ids of the cells, in their order. */
  pids(): Promise<number[]>;
  allReady(): Promise<void>;
  /** The page of the supervisor's port: each cell by its label, or the sum over all. */
  metrics(path?: "" | "/sum"): Promise<string>;
}

export const startCells = async (cells: number, more: Record<string, string> = {}): Promise<Running> =>
  startAt(await place(more), cells);

/** Starts a supervisor; whatever it leaves behind is killed when the test is over. */
export function startAt(where: Placed, cells: number, args: readonly string[] = []): Running {
  const started = run(process.execPath, [...args, MAIN, "--cells", String(cells)], {
    // Tests run beside each other: the port of metrics is any free one.
    env: { METRICS_PORT: "0", ...where.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    for (const pid of processesOf(where.dataDir)) process.kill(pid, "SIGKILL");
  });
  const status = () => supervisorStatus(where.dataDir);
  return {
    ...started,
    where,
    pid: started.child.pid ?? 0,
    status,
    pids: async () => ((await status())?.cells ?? []).map(({ pid }) => pid ?? 0),
    async metrics(path = "") {
      return await (await fetch(`${(await status())?.metricsUrl}${path}`)).text();
    },
    async allReady() {
      await until("all cells are ready", async () => {
        if (started.child.exitCode !== null) throw new Hopeless(`the supervisor ended: ${started.output()}`);
        const known = (await status())?.cells ?? [];
        return known.length === cells && known.every(({ state }) => state === "ready");
      });
    },
  };
}

/** Processes that have this data folder, by their environment or their working folder: cells, supervisors, Redis, the engine. */
export function processesOf(dataDir: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isOf(pid, dataDir));
}

function isOf(pid: number, dataDir: string): boolean {
  try {
    if (readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")) return false;
    const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    if (variables.some((v) => v === `DATA_DIR=${dataDir}` || v.startsWith(`DATA_DIR=${dataDir}/`)))
      return true;
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(dataDir);
  } catch {
    return false;
  }
}

export const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
};

export interface Load {
  /** Answers in good order. */
  readonly good: number;
  /** Whatever else came: error codes of connections, other statuses. */
  readonly bad: readonly string[];
  end(): Promise<void>;
}

/**
 * A steady stream of requests.
 * @param agent connections that are used again; without it each request has its own
 */
export function load(
  url: string,
  { everyMs = 2, atOnce = 4, keepAlive = false, headers = {}, body = "" } = {},
): Load {
  const agent = keepAlive
    ? new Agent({ keepAlive: true, maxSockets: atOnce })
    : new Agent({ keepAlive: false });
  const result = { good: 0, bad: [] as string[] };
  let isOver = false;
  const ask = () =>
    new Promise<void>((resolve) => {
      const sent = request(url, { agent, headers, method: body === "" ? "GET" : "POST" }, (answer) => {
        answer.resume().on("end", () => {
          if (answer.statusCode === 200) result.good++;
          else result.bad.push(String(answer.statusCode));
          resolve();
        });
        answer.on("error", (error) => resolve(void result.bad.push(`body: ${error.message}`)));
      });
      sent.on("error", (error: NodeJS.ErrnoException) => {
        result.bad.push(`${error.code}${sent.reusedSocket ? " on a used connection" : ""}`);
        resolve();
      });
      sent.end(body === "" ? undefined : body);
    });
  const stream = async () => {
    while (!isOver) {
      await ask();
      await rest(everyMs);
    }
  };
  const streams = Promise.all(Array.from({ length: atOnce }, stream));
  return {
    get good() {
      return result.good;
    },
    get bad() {
      return result.bad;
    },
    async end() {
      isOver = true;
      await streams;
      agent.destroy();
    },
  };
}

/**
 * Errors of a load other than resets of connections that were being opened: where Linux does not hand these to another listener of
 * the port (ip-sysctl, tcp_migrate_req), it resets them when their cell leaves, and the supervisor says so.
 */
export function faultsOf({ bad }: Load): readonly string[] {
  return MIGRATES ? bad : bad.filter((error) => error !== "ECONNRESET");
}

const MIGRATES = readFileSync("/proc/sys/net/ipv4/tcp_migrate_req", "utf8").trim() !== "0";

/** The Redis server of the folder. */
export const redisPid = async (cells: Running): Promise<number> => (await cells.status())?.redis?.pid ?? 0;
