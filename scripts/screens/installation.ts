/** A demo in a folder of its own, and a gateway in this process that runs on it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { type Gateway, startGateway } from "../../src/host/gateway/gateway.ts";
import { readConfig } from "../../src/host/settings/config.ts";
import { environmentOf } from "../demo/demo.ts";

const SEED = join(import.meta.dirname, "../seed.ts");

export interface DemoSizes {
  /** Records of the thirty days before. */
  readonly requests: number;
  /** Real calls. */
  readonly calls?: number;
  /** Keys beside the forty. */
  readonly keys?: number;
}

/** Fills a new folder, or that of a demo, which is emptied first. @throws Error with what the seed said */
export async function seedInto(dataDir: string, sizes: DemoSizes): Promise<void> {
  const options = Object.entries(sizes).flatMap(([name, count]) => [`--${name}`, String(count)]);
  const child = spawn(process.execPath, [SEED, "demo", "--data-dir", dataDir, ...options], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = text(child.stderr);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the demo could not be made: ${await said}`);
}

/** @param port 0: any that is free */
export async function startOn(
  dataDir: string,
  port = 0,
  env: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const all = { ...environmentOf(dataDir), HOST: "127.0.0.1", PORT: String(port), WARM_UP_MS: "0", ...env };
  return await startGateway(readConfig(all), pino({ level: "error" }, pino.destination(2)));
}
