/** A gateway that lives as long as a warm-up: the real one, on a folder of its own that only the warm-up knows. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { FIRST_KEY_FILES } from "../../account/first-start.ts";
import { systemClock } from "../../base/clock.ts";
import { makeFolder } from "../../base/process/make-folder.ts";
import { ConnectionPool } from "../../inference/upstream/http/pool.ts";
import { startGateway } from "../gateway/gateway.ts";
import { type Config, readConfig } from "../settings/config.ts";
import { UPSTREAM_MODEL } from "./answers.ts";
import { callAtOnce, type Heads, type NextCall } from "./caller.ts";
import { CALLS, MODEL } from "./calls.ts";

const CONNECT_MS = 1000;
/** Nothing of it is worth waiting for. */
const SHUTDOWN_MS = 500;
/** More than all calls of a warm-up cost. */
const GRANT_USD = 1_000_000;
const PROVIDER = "warm-up";

const CATALOG = {
  vendor: "warm",
  models: [
    {
      id: MODEL,
      name: "Warm-up",
      modalities: { in: ["text"], out: ["text"] },
      context: 128_000,
      max_output: 16_384,
      capabilities: [],
      endpoints: [
        {
          provider: PROVIDER,
          upstream_model: UPSTREAM_MODEL,
          region: "local",
          price: { input: 0.15, output: 0.6, cache_read: 0.075 },
        },
      ],
    },
  ],
};

const providersAt = (url: string) => ({
  providers: [
    {
      id: PROVIDER,
      name: "Warm-up",
      base_url: `${url}/v1`,
      dialects: ["chat", "messages", "responses"],
      simulated: true,
      data_policy: { trains: false, retention_days: 0, zdr: true },
      regions: ["local"],
    },
  ],
});

export interface ThrowAway {
  /** Calls from several clients at once. @throws Error where a call was not answered with 200 */
  call(callers: number, next: NextCall): Promise<void>;
  /** @throws Error that names what did not end in time */
  stop(): Promise<void>;
}

/**
 * It listens on loopback, knows no setting of the real gateway, and has no console, mail server, engine or Redis.
 * @param folder for it alone, which is there. @param upstreamUrl of who answers its calls. @throws Error as `startGateway`
 */
export async function openThrowAway(folder: string, upstreamUrl: string): Promise<ThrowAway> {
  const config = settingsIn(folder, upstreamUrl);
  const around = { droppedLogLines: () => 0, isThrowAway: true };
  const gateway = await startGateway(config, pino({ level: "silent" }), around);
  const secret = readFileSync(join(config.dataDir, FIRST_KEY_FILES.live), "utf8").trim();
  const pool = new ConnectionPool(gateway.url, CONNECT_MS, systemClock);
  const headers = ["authorization", `Bearer ${secret}`, "content-type", "application/json"];
  const heads = Object.fromEntries(CALLS.map(({ path }) => [path, pool.head(path, headers)])) as Heads;
  return {
    call: (callers, next) => callAtOnce(pool, heads, callers, next),
    async stop() {
      void pool.close();
      await gateway.stop();
    },
  };
}

function settingsIn(folder: string, upstreamUrl: string): Config {
  const configDir = join(folder, "config");
  makeFolder(join(configDir, "models"));
  const files = {
    "weir.yaml": { grant_usd: GRANT_USD, timeouts: { shutdown_ms: SHUTDOWN_MS } },
    "providers.yaml": providersAt(upstreamUrl),
    "models/warm.yaml": CATALOG,
  };
  // JSON is YAML.
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(configDir, name), JSON.stringify(content), { mode: 0o600 });
  return readConfig({
    HOST: "127.0.0.1",
    PORT: "0",
    DATA_DIR: join(folder, "data"),
    CONFIG_DIR: configDir,
    // Both are told by the upstream that it is none: no engine is started, and no simulator.
    CLICKHOUSE_URL: upstreamUrl,
    SIMULATOR_URL: upstreamUrl,
  });
}
