/**
 * agentgateway (Rust) as a gateway for models: it checks a key, and the simulator is its only upstream. No package registry has it, so
 * its path is given. The configuration is of version 1.4.1.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { freePort, untilReady } from "../processes.ts";
import { givenBinary } from "./installed.ts";
import type { Target } from "./target.ts";

const BINARY = "AGENTGATEWAY_BIN";
const KEY = "sk-bench";

export const agentgateway: Target = {
  name: "agentgateway",
  about: "agentgateway, key check only",
  peer: true,
  binaryVariable: BINARY,
  async start({ processes, upstreamUrl, scratchDir }) {
    const command = givenBinary(BINARY);
    const port = await freePort();
    const readyPort = await freePort();
    const file = join(scratchDir, "agentgateway.json");
    writeFileSync(file, JSON.stringify(agentgatewayConfig(upstreamUrl, { port, readyPort })));
    const started = await processes.start("agentgateway", command, ["--file", file], { cwd: scratchDir });
    await untilReady(started, `http://127.0.0.1:${readyPort}/healthz/ready`, 30_000);
    return {
      baseUrl: `http://127.0.0.1:${port}`,
      headers: { authorization: `Bearer ${KEY}` },
      model: UPSTREAM_MODEL,
      pid: started.pid,
    };
  },
};

/** What it does beyond passing calls on is the check of a key: no log of calls, as in its own benchmarks, no database, no limits. */
export const agentgatewayConfig = (upstreamUrl: string, ports: { port: number; readyPort: number }) => ({
  config: {
    enableIpv6: false,
    adminAddr: "off",
    statsAddr: "off",
    readinessAddr: `127.0.0.1:${ports.readyPort}`,
    // An expression that chooses the calls to log.
    logging: { filter: "false" },
  },
  llm: {
    port: ports.port,
    policies: { apiKey: { mode: "strict", keys: [{ key: KEY }] } },
    models: [
      {
        name: UPSTREAM_MODEL,
        provider: "openAI",
        params: { baseUrl: `${upstreamUrl}/v1`, apiKey: "bench" },
      },
    ],
  },
});
