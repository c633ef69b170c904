/** The upstream of all targets: the simulator, in a process of its own. */
import { join } from "node:path";
import { freePort, type Processes, untilReady } from "./processes.ts";

export interface Simulator {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly pid: number;
}

/** @throws Error when it does not start */
export async function startSimulator(processes: Processes, repoDir: string): Promise<Simulator> {
  const port = await freePort();
  const script = join(repoDir, "simulator/main.ts");
  const started = await processes.start("simulator", process.execPath, [script, "--port", String(port)]);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(started, `${url}/v1/models`, 10_000);
  return { url, pid: started.pid };
}
