/**
 * The embedded engine's process: serves ClickHouse's HTTP interface on loopback until its parent goes.
 * Started by `engine.ts` with an IPC channel; one process a data folder, held by a socket in it.
 */
import { mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { engineServer } from "./engine-http.ts";
import { EngineRunner } from "./engine-run.ts";

/** First message from the parent. */
export interface EngineStart {
  readonly dataDir: string;
  /** Tried first; another is taken where it is in use. 0: any. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export type EngineMessage = { readonly ready: { readonly port: number } } | { readonly failed: string };

const LOCK = "engine.sock";

async function main(start: EngineStart): Promise<void> {
  mkdirSync(start.dataDir, { recursive: true, mode: 0o700 });
  // Relative, because the path of a unix socket is bound to about 100 characters.
  process.chdir(start.dataDir);
  await holdFolder();
  const runner = await EngineRunner.open(process.cwd());
  const server = engineServer(runner, start.user, start.password);
  const port = await listen(server, start.port).catch(() => listen(server, 0));
  process.send?.({ ready: { port } } satisfies EngineMessage);
  process.on("message", (message) => {
    if (message !== "stop") return;
    server.close(() => {
      runner.close();
      process.exit(0);
    });
    server.closeIdleConnections();
  });
}

/** A dead holder's socket refuses; a living one (an orphan about to notice that its parent went) is waited for. */
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

// The parent is gone (kill -9 included). The engine's files stand a hard end, and a graceful one might wait on a query.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// A signal to the whole group (Ctrl-C) is the parent's to act on.
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
