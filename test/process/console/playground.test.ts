/** The programs that the playground writes: a shell, Python and Node read in them what was typed, and the gateway answers them. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatForm } from "../../../console/pages/playground/chat-form.ts";
import { codeOf } from "../../../console/pages/playground/code.ts";
import { bodyOf } from "../../../console/pages/playground/request.ts";
import { NO_SETTINGS } from "../../../console/pages/playground/settings.ts";
import { sseData, type TestGateway, testGateway } from "../../support/gateway.ts";

const run = promisify(execFile);

const HOSTILE = [
  `it's "so" ''' """`,
  "$(echo broken) `echo broken` $HOME \u0024{HOME} !!",
  "WEIR_BODY\nexit 3\nWEIR_BODY",
  "a\\\nb\\n\r\n\tc\u0000d\u001b[0m",
  "ü 漢字 😀 \u2028\u2029 \u202e",
  "#{x} %s {0} \\N{DIGIT ONE} \\x41 \\'",
].join("\n");
const BODY = bodyOf(
  "weir/sim-small",
  {
    ...NO_SETTINGS,
    system: HOSTILE,
    tools: JSON.stringify([{ name: "weather", description: HOSTILE, parameters: { type: "object" } }]),
    more: JSON.stringify({ metadata: { tags: { word: HOSTILE } } }),
  },
  [{ role: "user", content: [{ type: "text", text: `${HOSTILE} [[sim echo]]` }] }],
);

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-playground-"));
  gateway = await testGateway();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await gateway?.stop();
});

const environment = () => ({ PATH: process.env.PATH ?? "", WEIR_API_KEY: gateway.liveKey });

test("curl, run by a shell, sends what was typed and streams the answer", async () => {
  const { stdout } = await run("sh", ["-c", codeOf("curl", gateway.url, BODY)], { env: environment() });
  const said = sseData(stdout)
    .map((chunk) => (chunk as { choices?: { delta: { content?: string } }[] }).choices?.[0]?.delta.content)
    .join("");
  expect(said).toContain(HOSTILE);
});

test("TypeScript, run by Node with the official SDK, prints the answer as it comes", async () => {
  const code = codeOf("typescript", gateway.url, BODY);
  const { stdout } = await run(process.execPath, ["--input-type=module-typescript", "-e", code], {
    env: { ...environment(), NODE_NO_WARNINGS: "1" },
  });
  expect(stdout).toContain(HOSTILE);
});

/** In the place of OpenAI's package: says what it was told. */
const STAND_IN = `
import json
class OpenAI:
    def __init__(self, **told):
        print(json.dumps(told))
        self.chat = self
        self.completions = self
    def create(self, **told):
        print(json.dumps(told))
        return []
`;

test("Python reads in its program what was typed", async ({ skip }) => {
  const isThere = await run("python3", ["--version"]).then(
    () => true,
    () => false,
  );
  skip(!isThere, "no python3 was found on this machine");
  writeFileSync(join(folder, "openai.py"), STAND_IN);
  writeFileSync(join(folder, "call.py"), codeOf("python", gateway.url, BODY));
  const { stdout } = await run("python3", [join(folder, "call.py")], {
    env: { ...environment(), PYTHONDONTWRITEBYTECODE: "1" },
  });
  const [client, call] = stdout.split("\n").map((line) => (line === "" ? undefined : JSON.parse(line)));
  expect(client).toEqual({ base_url: `${gateway.url}/v1`, api_key: gateway.liveKey });
  const { svc, ...body } = chatForm(BODY).body;
  expect(call).toEqual({ ...body, stream: true, extra_body: { svc } });
});
