/**
 * LiteLLM's proxy (PyPI litellm[proxy]), one worker, no database, with the simulator as its provider.
 *
 * Its Rust core is on (`LITELLM_RUST`), which up to 1.110.2 serves `/v1/messages` of a few providers alone: chat calls take the Python
 * path whatever is set (`litellm/rust_bridge/catalog.py` of the package). So a second target is there for messages.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { freePort, untilReady } from "../processes.ts";
import { findCommand, install } from "./installed.ts";
import { type Target, type TargetContext, Unavailable } from "./target.ts";

/** The newest whose exact dependencies are on PyPI too. 1.107.0 was malicious: never take a range. */
const VERSION = "1.108.7";
const KEY = "sk-bench";

type Provider = "openai" | "anthropic";

const proxy = (name: string, about: string, provider: Provider): Target => ({
  name,
  about: `litellm[proxy] ${VERSION}, ${about}`,
  peer: true,
  onlyNamed: provider !== "openai",
  async start(context) {
    const { processes, upstreamUrl, scratchDir } = context;
    const command = await installed(context);
    const file = join(scratchDir, `${name}.yaml`);
    writeFileSync(file, litellmConfig(upstreamUrl, provider));
    const port = await freePort();
    const args = ["--config", file, "--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"];
    const started = await processes.start(name, command, args, { cwd: scratchDir, env: ENV });
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/health/liveliness`, 90_000);
    return {
      baseUrl,
      headers: { authorization: `Bearer ${KEY}` },
      model: UPSTREAM_MODEL,
      pid: started.pid,
    };
  },
});

export const litellm = proxy("litellm", "1 worker", "openai");

/** Answers the cases in the format of messages alone. */
export const litellmMessages = proxy("litellm-messages", "1 worker, messages by its Rust core", "anthropic");

const ENV = {
  LITELLM_RUST: "True",
  // Use the price list in the package, not the one on the internet.
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  LITELLM_LOG: "ERROR",
  NO_PROXY: "127.0.0.1",
};

/** The path of its command, once it is installed. */
async function installed({ cacheDir, say }: TargetContext): Promise<string> {
  const dir = join(cacheDir, `litellm-${VERSION}`);
  const command = join(dir, "bin/litellm");
  if (existsSync(command)) return command;
  const python = findCommand("python3");
  if (python === undefined) throw new Unavailable("python3 is not installed");
  say(`installing litellm[proxy] ${VERSION} ...`);
  mkdirSync(cacheDir, { recursive: true });
  await install(python, ["-m", "venv", dir], { cwd: cacheDir });
  const what = ["install", "--quiet", "--only-binary=:all:", `litellm[proxy]==${VERSION}`];
  await install(join(dir, "bin/pip"), what, { cwd: cacheDir });
  return command;
}

/** Its provider for messages takes the address without the version. */
export const litellmConfig = (upstreamUrl: string, provider: Provider): string => `
model_list:
  - model_name: ${UPSTREAM_MODEL}
    litellm_params:
      model: ${provider}/${UPSTREAM_MODEL}
      api_base: ${upstreamUrl}${provider === "openai" ? "/v1" : ""}
      api_key: bench
litellm_settings:
  telemetry: false
  num_retries: 0
general_settings:
  master_key: ${KEY}
`;
