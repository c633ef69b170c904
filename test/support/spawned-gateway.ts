/** A gateway as the process users run. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import {
  client,
  environment,
  type GatewayOptions,
  prepareFolder,
  removeFolder,
  type TestGateway,
} from "./gateway.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

export interface SpawnedGateway extends TestGateway {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Standard output and error so far. */
  output(): string;
  /** Ends it with a signal and resolves with its exit code, or null when the signal ended it. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `src/main.ts` as a process of its own. `stop` ends it with SIGTERM and keeps the folder when it was given. */
export async function spawnGateway(
  options: GatewayOptions & { simulator?: Simulator } = {},
): Promise<SpawnedGateway> {
  const simulator = options.simulator ?? (await startSimulator({}));
  const folder = prepareFolder(options, simulator.url);
  const flags = [process.env.NODE_OPTIONS, options.env?.NODE_OPTIONS].join(" ");
  const env = { ...process.env, ...environment(options, folder, simulator.url), NODE_OPTIONS: flags };
  const child = spawn(process.execPath, [MAIN], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (d: Buffer) => (text += d.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const ready = /ready at (http:\/\/\S+)/.exec(text);
      if (ready?.[1] !== undefined) resolve(ready[1]);
    };
    child.stdout.on("data", look);
    void exited.then((code) => reject(new Error(`the gateway ended with ${code}: ${text}`)));
  });
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  const base = client(url, folder, simulator, {
    reload: async () => void child.kill("SIGHUP"),
    stop: async () => {
      await kill("SIGTERM");
      if (options.simulator === undefined) await simulator.close();
      if (options.folder === undefined) removeFolder(folder);
    },
  });
  return { ...base, process: child, pid: child.pid as number, output: () => text, kill };
}
