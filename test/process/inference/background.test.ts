/** Background responses by a client in a process of its own: the example of docs/long-calls.md. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "weir-background-"));

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("the example of the docs polls a response to its end", async () => {
  const docs = readFileSync(join(import.meta.dirname, "../../../docs/long-calls.md"), "utf8");
  const example = /^```ts\n(const \{ id \}[\s\S]*?)^```/m.exec(docs)?.[1] ?? "";
  expect(example).not.toBe("");
  const file = join(folder, "poll.mjs");
  const head = `import OpenAI from ${JSON.stringify(import.meta.resolve("openai"))};
const openai = new OpenAI({ baseURL: ${JSON.stringify(`${gateway.url}/v1`)}, apiKey: ${JSON.stringify(gateway.liveKey)} });
`;
  writeFileSync(file, `${head}${example}console.log(response.status, response.output_text.length > 0);`);
  const { stdout } = await run(process.execPath, [file], { env: { ...process.env, NODE_OPTIONS: "" } });
  expect(stdout).toBe("completed true\n");
});
