/** OpenAI's client for Python, as its package manager brings it, in thorough runs: each feature of long calls and conversations at each upstream dialect. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIALECTS, ENDPOINTS, modelOf } from "../../support/background/fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const VERSION = "3.57.0";
const SCRIPT = join(import.meta.dirname, "openai_client.py");

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "weir-python-"));
const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
const isThorough = process.env.WEIR_THOROUGH !== undefined;
const reason = !isThorough ? "only with WEIR_THOROUGH=1, as it is fetched" : hasPip ? "" : "there is no pip";

let gateway: TestGateway;
beforeAll(async () => {
  if (reason === "") gateway = await testGateway({ endpoints: ENDPOINTS });
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** As the script lists them. */
function features(): string[] {
  const listed = /^FEATURES = \(\n([\s\S]*?)^\)/m.exec(readFileSync(SCRIPT, "utf8"))?.[1] ?? "";
  return listed.split(",").flatMap((name) => name.trim() || []);
}

test.skipIf(reason !== "")(
  `every feature at every dialect ${reason}`,
  async () => {
    const target = join(folder, "python");
    await run("python3", ["-m", "pip", "install", "-q", "--target", target, `openai==${VERSION}`]);
    const env = {
      ...process.env,
      PYTHONPATH: target,
      PYTHONDONTWRITEBYTECODE: "1",
      WEIR_URL: `${gateway.url}/v1`,
      WEIR_KEY: gateway.liveKey,
    };
    const models = DIALECTS.map(modelOf);
    const { stdout } = await run("python3", [SCRIPT, ...models], { env });
    expect(features().length).toBeGreaterThan(10);
    expect(stdout.trimEnd().split("\n")).toEqual(
      models.flatMap((model) => features().map((feature) => `${model} ${feature}`)),
    );
  },
  240_000,
);
