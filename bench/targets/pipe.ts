/** The bare pipe of bench/pipe.ts: the reference. */

import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { freePort, untilReady } from "../processes.ts";
import type { Target } from "./target.ts";

export const pipe: Target = {
  name: "pipe",
  about: "bare uWebSockets.js + undici, no features",
  peer: false,
  async start({ processes, upstreamUrl, repoDir }) {
    const port = await freePort();
    const script = join(repoDir, "bench/pipe.ts");
    const args = [script, "--port", String(port), "--upstream", upstreamUrl];
    const started = await processes.start("pipe", process.execPath, args, { ipc: true });
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/healthz`, 10_000);
    return { baseUrl, headers: {}, model: UPSTREAM_MODEL, pid: started.pid };
  },
};
