/** How the bench starts a gateway whose binary it is given: a script stands in for it, and tells what it was given. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { Processes } from "../../../bench/processes.ts";
import { agentgateway } from "../../../bench/targets/agentgateway.ts";
import { gomodel } from "../../../bench/targets/gomodel.ts";
import type { Target } from "../../../bench/targets/target.ts";

const dir = mkdtempSync(join(tmpdir(), "weir-given-test-"));
const processes = new Processes(dir);
afterAll(async () => {
  await processes.stopAll();
  rmSync(dir, { recursive: true, force: true });
});
afterEach(() => vi.unstubAllEnvs());

/** Starts the target with a script as its binary; returns what that answers to a call, and what the bench knows of it. */
async function start(target: Target, variable: string, script: string) {
  const file = join(dir, `${target.name}-binary`);
  writeFileSync(file, `#!${process.execPath}\n${script}`);
  chmodSync(file, 0o755);
  vi.stubEnv(variable, file);
  const running = await target.start({
    processes,
    upstreamUrl: "http://127.0.0.1:4999",
    scratchDir: dir,
    cacheDir: dir,
    repoDir: dir,
    say: () => {},
  });
  const response = await fetch(`${running.baseUrl}/v1/chat/completions`, { headers: running.headers });
  return { running, seen: await response.json() };
}

test("agentgateway is ready when its own address says so, and listens where its file says", async () => {
  const { running, seen } = await start(
    agentgateway,
    "AGENTGATEWAY_BIN",
    `const { createServer } = require("node:http");
     const [flag, file] = process.argv.slice(2);
     const { config, llm } = JSON.parse(require("node:fs").readFileSync(file, "utf8"));
     const answer = (request, response) =>
       response.end(JSON.stringify({ flag, pid: process.pid, key: request.headers.authorization, policies: llm.policies }));
     createServer(answer).listen(llm.port, "127.0.0.1", () =>
       createServer((request, response) => {
         response.statusCode = request.url === "/healthz/ready" ? 200 : 404;
         response.end();
       }).listen(Number(config.readinessAddr.split(":")[1]), "127.0.0.1"));`,
  );
  expect(seen).toEqual({
    flag: "--file",
    pid: running.pid,
    key: "Bearer sk-bench",
    policies: { apiKey: { mode: "strict", keys: [{ key: "sk-bench" }] } },
  });
});

test("GoModel finds its file in its folder, and its settings in its environment", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-of-whoever-runs-the-bench");
  const { running, seen } = await start(
    gomodel,
    "GOMODEL_BIN",
    `const { PORT, GOMODEL_MASTER_KEY, OPENAI_API_KEY } = process.env;
     const file = require("node:fs").readFileSync("config.yaml", "utf8");
     require("node:http").createServer((request, response) =>
       response.end(JSON.stringify({ pid: process.pid, file, key: request.headers.authorization, GOMODEL_MASTER_KEY, OPENAI_API_KEY })),
     ).listen(Number(PORT), "127.0.0.1");`,
  );
  expect(seen).toEqual({
    pid: running.pid,
    file: '{"cache":{"model":{"model_list":{"url":""}}}}',
    key: "Bearer sk-bench",
    GOMODEL_MASTER_KEY: "sk-bench",
    OPENAI_API_KEY: "bench",
  });
});
