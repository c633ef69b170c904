/**
 * The embedded engine's process: serves ClickHouse's HTTP interface on loopback until its parent process ends. Started by
 * `engine.ts` with an IPC channel. One process per data folder; it locks the folder by a socket file in it.
 */
import { mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { systemClock } from "../../base/clock.ts";
import { yieldToGateway } from "../../base/process/yielding.ts";
import { CatchUp } from "./catch-up.ts";
import { ConfinedProcess } from "./confined-process.ts";
import type { AnalystsSetting } from "./confinement.ts";
import { Analysts, type EngineUser } from "./engine-analysts.ts";
import { engineServer } from "./engine-http.ts";
import { EngineRunner } from "./engine-run.ts";

/** First message from the parent. */
export interface EngineStart {
  readonly dataDir: string;
  /** Tried first; if it is in use, any free port is taken. 0: any free port. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly analysts: readonly EngineUser[];
  /** How their statements run. */
  readonly confine: AnalystsSetting;
}

/** Later messages from the parent. */
export type EngineOrder =
  | "stop"
  | { readonly analysts: readonly EngineUser[] }
  /** The answer to `asks`. */
  | { readonly caughtUp: number };

export type EngineMessage =
  | { readonly ready: { readonly port: number } }
  | { readonly failed: string }
  /** A question is to be answered that is not the gateway's own. */
  | { readonly asks: number };

const LOCK = "engine.sock";
/**
 * Calls come first. Records must be stored as fast as they come, also by a gateway that takes all of a single processor: that leaves the
 * engine a quarter of it, and it needs less than a fifth of what calls take.
 */
const NICENESS = 5;

async function main(start: EngineStart): Promise<void> {
  yieldToGateway(NICENESS);
  mkdirSync(start.dataDir, { recursive: true, mode: 0o700 });
  // A relative path, because the path of a unix socket may have about 100 characters only.
  process.chdir(start.dataDir);
  await holdFolder();
  const runner = await EngineRunner.open(process.cwd());
  const analysts = new Analysts(() => systemClock.now());
  const confined = new ConfinedProcess(process.cwd(), start.confine);
  const setAnalysts = (users: readonly EngineUser[]) => {
    analysts.set(users);
    confined.want(users.length > 0);
  };
  setAnalysts(start.analysts);
  const catchUp = new CatchUp((asks) => void process.send?.({ asks } satisfies EngineMessage));
  const { user, password } = start;
  const server = engineServer(runner, { user, password, catchUp }, analysts, confined);
  const port = await listen(server, start.port).catch(() => listen(server, 0));
  process.send?.({ ready: { port } } satisfies EngineMessage);
  process.on("message", (message: EngineOrder) => {
    if (message !== "stop") {
      if ("analysts" in message) setAnalysts(message.analysts);
      else catchUp.done(message.caughtUp);
      return;
    }
    confined.stop();
    server.close(() => {
      runner.close();
      process.exit(0);
    });
    server.closeIdleConnections();
  });
}

/**
 * Takes the lock on the folder. The socket of a dead process refuses connections and is removed; a living process (one
 * whose parent has just ended) is waited for.
 */
async function holdFolder(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const held = createServer((socket) => void socket.destroy());
    if (await bound(held)) return;
    if (!(await answers())) rmSync(LOCK, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("another engine process holds the data folder");
}

const bound = (server: Server): Promise<boolean> =>
  new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(LOCK, () => {
      server.unref();
      resolve(true);
    });
  });

const answers = (): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(LOCK);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });

// The parent process has ended, perhaps by kill -9. A kill does not harm the engine's files, and a clean shutdown might
// wait for a query.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// A signal to the process group (Ctrl-C) is handled by the parent.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});

process.once("message", (start) => {
  main(start as EngineStart).catch((error: unknown) => {
    process.send?.({
      failed: error instanceof Error ? error.message : String(error),
    } satisfies EngineMessage);
    setTimeout(() => process.exit(1), 50);
  });
});
