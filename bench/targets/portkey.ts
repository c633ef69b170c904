/** Portkey's gateway (npm @portkey-ai/gateway), with the simulator as its OpenAI host, named by request headers. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { freePort, untilReady } from "../processes.ts";
import { findCommand, install } from "./installed.ts";
import { type Target, Unavailable } from "./target.ts";

const VERSION = "1.15.2";

export const portkey: Target = {
  name: "portkey",
  about: `@portkey-ai/gateway ${VERSION}`,
  peer: true,
  async start({ processes, upstreamUrl, cacheDir, say }) {
    const dir = join(cacheDir, `portkey-${VERSION}`);
    const server = join(dir, "node_modules/@portkey-ai/gateway/build/start-server.js");
    if (!existsSync(server)) {
      const npm = findCommand("npm");
      if (npm === undefined) throw new Unavailable("npm is not installed");
      say(`installing @portkey-ai/gateway ${VERSION} ...`);
      mkdirSync(dir, { recursive: true });
      // A package of its own, or npm would install into the surrounding project. The override is the last version of
      // its HTTP server with which its streams work (Portkey-AI/gateway#1389).
      const manifest = { private: true, overrides: { "@hono/node-server": "1.14.1" } };
      writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
      const what = [
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        `@portkey-ai/gateway@${VERSION}`,
      ];
      await install(npm, what, { cwd: dir });
    }
    const port = await freePort();
    const started = await processes.start(
      "portkey",
      process.execPath,
      [server, `--port=${port}`, "--headless"],
      {
        env: { NODE_ENV: "production" },
      },
    );
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/`, 30_000);
    const headers = {
      authorization: "Bearer bench",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${upstreamUrl}/v1`,
    };
    return { baseUrl, headers, model: UPSTREAM_MODEL, pid: started.pid };
  },
};
