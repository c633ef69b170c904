/** LiteLLM's proxy (PyPI litellm[proxy]), one worker, no database, with the simulator as its OpenAI host. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { freePort, untilReady } from "../processes.ts";
import { findCommand, install } from "./installed.ts";
import { type Target, Unavailable } from "./target.ts";

const VERSION = "1.106.2";

export const litellm: Target = {
  name: "litellm",
  about: `litellm[proxy] ${VERSION}, 1 worker`,
  peer: true,
  async start({ processes, upstreamUrl, cacheDir, scratchDir, say }) {
    const dir = join(cacheDir, `litellm-${VERSION}`);
    const command = join(dir, "bin/litellm");
    if (!existsSync(command)) {
      const python = findCommand("python3");
      if (python === undefined) throw new Unavailable("python3 is not installed");
      say(`installing litellm[proxy] ${VERSION} ...`);
      mkdirSync(cacheDir, { recursive: true });
      await install(python, ["-m", "venv", dir], { cwd: cacheDir });
      await install(join(dir, "bin/pip"), ["install", "--quiet", `litellm[proxy]==${VERSION}`], {
        cwd: cacheDir,
      });
    }
    const file = join(scratchDir, "litellm.yaml");
    writeFileSync(file, config(upstreamUrl));
    const port = await freePort();
    const args = ["--config", file, "--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"];
    const started = await processes.start("litellm", command, args, {
      cwd: scratchDir,
      // Use the price list in the package, not the one on the internet.
      env: { LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_LOG: "ERROR", NO_PROXY: "127.0.0.1" },
    });
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/health/liveliness`, 90_000);
    return {
      baseUrl,
      headers: { authorization: "Bearer sk-bench" },
      model: UPSTREAM_MODEL,
      pid: started.pid,
    };
  },
};

const config = (upstreamUrl: string): string => `
model_list:
  - model_name: ${UPSTREAM_MODEL}
    litellm_params:
      model: openai/${UPSTREAM_MODEL}
      api_base: ${upstreamUrl}/v1
      api_key: bench
litellm_settings:
  telemetry: false
  num_retries: 0
general_settings:
  master_key: sk-bench
`;
