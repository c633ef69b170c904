/**
 * GoModel (Go), with its master key and the simulator as its OpenAI host. No package registry has it, so its path is given. As in the
 * comparisons of its own repository it writes no log of calls and no usage, and has neither dashboard nor metrics: streams then pass
 * as they are. A second target keeps the usage of each call in its SQLite file, which is its default.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { freePort, untilReady } from "../processes.ts";
import { givenBinary } from "./installed.ts";
import type { Target } from "./target.ts";

const BINARY = "GOMODEL_BIN";
const KEY = "sk-bench";
/** It writes usage to its database every five seconds. */
const USAGE_AFTER_MS = 5_200;

const gateway = (name: string, about: string, keepsUsage: boolean): Target => ({
  name,
  about: `GoModel, ${about}`,
  peer: true,
  onlyNamed: keepsUsage,
  binaryVariable: BINARY,
  async start({ processes, upstreamUrl, scratchDir }) {
    const command = givenBinary(BINARY);
    const dir = join(scratchDir, name);
    mkdirSync(dir);
    writeFileSync(join(dir, "config.yaml"), JSON.stringify(gomodelConfig()));
    const port = await freePort();
    const started = await processes.start(name, command, [], {
      cwd: dir,
      env: gomodelEnv(upstreamUrl, { port, dir, keepsUsage }),
    });
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/health`, 30_000);
    return {
      baseUrl,
      headers: { authorization: `Bearer ${KEY}` },
      model: UPSTREAM_MODEL,
      pid: started.pid,
      laterMs: keepsUsage ? USAGE_AFTER_MS : 0,
    };
  },
});

export const gomodel = gateway("gomodel", "key check only", false);

export const gomodelUsage = gateway("gomodel-usage", "key check, and a row of usage a call", true);

/** What no variable can say: it fetches no list of models with their prices from the internet. */
export const gomodelConfig = () => ({ cache: { model: { model_list: { url: "" } } } });

export interface GomodelRun {
  readonly port: number;
  /** For its database and its cache. */
  readonly dir: string;
  readonly keepsUsage: boolean;
}

/** Its settings, as variables, which come before any that the environment of the bench has. */
export const gomodelEnv = (upstreamUrl: string, { port, dir, keepsUsage }: GomodelRun) => ({
  PORT: String(port),
  GOMODEL_MASTER_KEY: KEY,
  OPENAI_API_KEY: "bench",
  OPENAI_BASE_URL: `${upstreamUrl}/v1`,
  OPENAI_MODELS: UPSTREAM_MODEL,
  CONFIGURED_PROVIDER_MODELS_MODE: "allowlist",
  MODEL_LIST_URL: "",
  USAGE_ENABLED: String(keepsUsage),
  // Calls that the load generator gives up at its end count as failures of the provider, which gets no calls after five in a row.
  CIRCUIT_BREAKER_FAILURE_THRESHOLD: "1000000",
  // The log of calls in its database, and a line a call on the standard output.
  LOGGING_ENABLED: "false",
  LOG_LEVEL: "error",
  METRICS_ENABLED: "false",
  ADMIN_ENDPOINTS_ENABLED: "false",
  ADMIN_UI_ENABLED: "false",
  STORAGE_TYPE: "sqlite",
  SQLITE_PATH: join(dir, "gomodel.db"),
  GOMODEL_CACHE_DIR: join(dir, "cache"),
});
