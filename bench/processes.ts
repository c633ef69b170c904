/**
 * Starts and ends all processes of the bench: none outlives it, whether it finishes, fails or is interrupted. Ended by
 * process id only, with their children.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendants, MEASURABLE, processStat } from "./measure.ts";

export interface Started {
  readonly name: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** The last lines it printed, for error messages. */
  log(): string;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Opens an IPC channel; the bench's own scripts end when it closes, even if the bench was killed. */
  readonly ipc?: boolean;
}

const STOP_GRACE_MS = 5_000;

export class Processes {
  readonly #logDir: string;
  readonly #live = new Set<Started>();
  /** Ids of all processes ever started, and of the children seen when they were stopped. */
  readonly pids: number[] = [];

  constructor(logDir: string) {
    this.#logDir = logDir;
    process.on("exit", () => this.#killAll());
  }

  /** @throws Error when the command cannot be run. */
  async start(
    name: string,
    command: string,
    args: readonly string[],
    options: StartOptions = {},
  ): Promise<Started> {
    const logFile = join(this.#logDir, `${name}.log`);
    const out = openSync(logFile, "a");
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", out, out, ...(options.ipc === true ? (["ipc"] as const) : [])],
    });
    closeSync(out);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    const pid = child.pid as number;
    this.pids.push(pid);
    const started: Started = {
      name,
      pid,
      child,
      log: () => readFileSync(logFile, "utf8").trimEnd().slice(-800),
    };
    this.#live.add(started);
    child.once("exit", () => this.#live.delete(started));
    return started;
  }

  /** Sends SIGTERM, waits, then SIGKILL; then the same for its remaining children. */
  async stop(started: Started): Promise<void> {
    const children = MEASURABLE ? descendants(started.pid) : [];
    this.pids.push(...children.map((child) => child.pid));
    if (this.#live.has(started)) {
      const ended = new Promise<void>((resolve) => started.child.once("exit", () => resolve()));
      started.child.kill("SIGTERM");
      const insist = setTimeout(() => started.child.kill("SIGKILL"), STOP_GRACE_MS);
      await ended;
      clearTimeout(insist);
    }
    for (const child of children) {
      // The pid may already belong to another process.
      if (processStat(child.pid)?.startedAt === child.startedAt) kill(child.pid);
    }
  }

  /** Stops the processes one by one, in the reverse order of their starts: a cell still needs its Redis, which was started before it. */
  async stopAll(): Promise<void> {
    for (const started of [...this.#live].reverse()) await this.stop(started);
  }

  #killAll(): void {
    for (const { pid } of this.#live) {
      for (const child of MEASURABLE ? descendants(pid) : []) kill(child.pid);
      kill(pid);
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/**
 * Runs with a folder for this run, and processes that end with it, however it ends.
 * @throws Error where costs cannot be read on this system, and what `act` throws
 */
export async function withProcesses<T>(
  act: (processes: Processes, scratchDir: string) => Promise<T>,
): Promise<T> {
  if (!MEASURABLE) throw new Error("the bench reads CPU and memory from /proc: it needs Linux");
  const scratchDir = mkdtempSync(join(tmpdir(), "weir-bench-"));
  const processes = new Processes(scratchDir);
  // Registered after the handler that ends the processes, which may still be writing.
  process.on("exit", () => rmSync(scratchDir, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => process.exit(130));
  try {
    return await act(processes, scratchDir);
  } finally {
    await processes.stopAll();
  }
}

/** A port of the loopback address that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/**
 * Waits until the process answers 2xx at `url`.
 * @throws Error with the end of its log when it ends first, or does not answer in time.
 */
export async function untilReady(started: Started, url: string, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  for (;;) {
    if (started.child.exitCode !== null || started.child.signalCode !== null) {
      throw new Error(`${started.name} ended while starting: ${started.log()}`);
    }
    const ok = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    if (ok) return;
    if (performance.now() > until)
      throw new Error(`${started.name} is not ready after ${limitMs} ms: ${started.log()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
