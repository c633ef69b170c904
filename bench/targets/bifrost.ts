/** Bifrost's HTTP transport (Go module), configured from a file, with the simulator as its OpenAI host. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { freePort, untilReady } from "../processes.ts";
import { findCommand, install } from "./installed.ts";
import { type Target, Unavailable } from "./target.ts";

const PACKAGE = "github.com/maximhq/bifrost/transports/bifrost-http@latest";

export const bifrost: Target = {
  name: "bifrost",
  about: "bifrost-http, latest of the Go module proxy",
  peer: true,
  async start({ processes, upstreamUrl, cacheDir, scratchDir, say }) {
    const bin = join(cacheDir, "bifrost");
    const command = join(bin, "bifrost-http");
    if (!existsSync(command)) {
      const go = findCommand("go", ["/usr/local/go/bin"]);
      if (go === undefined) throw new Unavailable("go is not installed");
      say(`installing ${PACKAGE} ...`);
      mkdirSync(bin, { recursive: true });
      await install(go, ["install", PACKAGE], { cwd: bin, env: { GOBIN: bin, GOFLAGS: "-mod=mod" } });
    }
    const dir = join(scratchDir, "bifrost");
    mkdirSync(dir);
    writeFileSync(join(dir, "config.json"), JSON.stringify(config(upstreamUrl), null, 2));
    const port = await freePort();
    const args = ["-host", "127.0.0.1", "-port", String(port), "-app-dir", dir, "-log-level", "error"];
    const started = await processes.start("bifrost", command, args, { cwd: dir });
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/health`, 30_000);
    return { baseUrl, headers: {}, model: `openai/${UPSTREAM_MODEL}`, pid: started.pid };
  },
};

/** Fields as in Bifrost's documentation of `config.json`; stores off, so that nothing is written to disk. */
const config = (upstreamUrl: string) => ({
  client: { drop_excess_requests: false, enable_logging: false },
  providers: {
    openai: {
      keys: [{ name: "bench", value: "bench", models: ["*"], weight: 1 }],
      network_config: { base_url: upstreamUrl, max_retries: 0 },
      concurrency_and_buffer_size: { concurrency: 1_000, buffer_size: 5_000 },
    },
  },
  config_store: { enabled: false },
  logs_store: { enabled: false },
});
