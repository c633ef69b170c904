/**
 * `src/main.ts` as a process with the descriptors and limits that a test gives it: terminals that close, pipes that nobody
 * reads, small limits. What needs a shell or Python says so and is skipped without it.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { listenFault } from "../../src/base/process/listen-fault.ts";
import { removeFolder } from "./gateway.ts";
import { until } from "./wait.ts";

export const REPO = join(import.meta.dirname, "../..");
export const MAIN = join(REPO, "src/main.ts");
export const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0;

/** A folder that is removed when the test is over. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** The simulator's models alone: the shipped catalog is a fifth of a start. */
export function smallConfig(): string {
  const configDir = join(testFolder(), "config");
  mkdirSync(join(configDir, "models"), { recursive: true });
  for (const file of ["providers.yaml", "models/weir.yaml"]) {
    cpSync(join(REPO, "config", file), join(configDir, file));
  }
  return configDir;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that is killed when the test is over. */
export function run(command: string, args: readonly string[], options: SpawnOptions) {
  const child = spawn(command, args, options);
  const text: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => text.push(String(data)));
  const ended = new Promise<Ended>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal })),
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    await ended;
  });
  return { child, ended, output: () => text.join("") };
}

export interface Placed {
  readonly env: Record<string, string>;
  readonly url: string;
  readonly dataDir: string;
  key(): string;
  /** Resolves once it answers. */
  ready(): Promise<void>;
}

/**
 * A free loopback port below those that systems give to outgoing connections: it stays free until the gateway has it,
 * however long its start takes.
 */
export async function quietPort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000);
  return (await listenFault("127.0.0.1", port)) === undefined ? port : await quietPort();
}

/**
 * Where a gateway shall listen and keep its data: for those whose output a test cannot read. Its catalog is a small one of its
 * own, unless `more` names another.
 */
export async function place(more: Record<string, string> = {}): Promise<Placed> {
  const folder = testFolder();
  const port = await quietPort();
  const dataDir = join(folder, "data");
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...(process.env as Record<string, string>),
    PORT: String(port),
    DATA_DIR: dataDir,
    CONFIG_DIR: more.CONFIG_DIR ?? smallConfig(),
    LOG_LEVEL: "info",
    // Nothing listens there: without the embedded engine a start is light.
    CLICKHOUSE_URL: "http://127.0.0.1:1",
    ...more,
  };
  const ready = async () => void (await until("it answers", async () => (await fetch(`${url}/healthz`)).ok));
  return { env, url, dataDir, ready, key: () => readFileSync(join(dataDir, "first-key"), "utf8").trim() };
}

/** A counter or gauge of `/metrics`. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** The first pid that a wrapper printed. */
export async function pidOf(wrapper: ChildProcess, output: () => string): Promise<number> {
  await until(
    "the wrapper says which process it started",
    () => /pid (\d+)/.test(output()) || wrapper.exitCode !== null,
  );
  return Number(/pid (\d+)/.exec(output())?.[1]);
}
