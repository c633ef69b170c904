/** Background responses by clients in processes of their own: the example of docs/long-calls.md, and OpenAI's client for Python. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIALECTS, ENDPOINTS, modelOf } from "../../support/background/fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "weir-background-"));
const isThorough = process.env.WEIR_THOROUGH !== undefined;
const hasPip = () => spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
const noPython = isThorough
  ? hasPip()
    ? ""
    : "there is no pip"
  : "only with WEIR_THOROUGH=1, as the client is fetched";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ endpoints: ENDPOINTS });
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

/** Prints a line for each model: what was seen of a response that was polled, of one that was streamed in two parts, and of a cancelled one. */
const PYTHON = `
import os, sys, time
from openai import BadRequestError, OpenAI

client = OpenAI(base_url=os.environ["WEIR_URL"], api_key=os.environ["WEIR_KEY"])

def polled(model):
    made = client.responses.create(model=model, input="Tell [[sim tokens=20 gap_ms=5]]", background=True)
    first = made.status
    while made.status in ("queued", "in_progress"):
        time.sleep(0.05)
        made = client.responses.retrieve(made.id)
    return first, made.status, made.background, made.output_text != ""

def streamed(model):
    seen = []
    with client.responses.create(
        model=model, input="Tell [[sim tokens=20 gap_ms=5]]", background=True, stream=True
    ) as stream:
        for event in stream:
            if event.type == "response.created":
                made = event.response.id
            seen.append(event.sequence_number)
            if event.sequence_number == 6:
                break
    for event in client.responses.retrieve(made, stream=True, starting_after=6):
        seen.append(event.sequence_number)
        last = event
    return seen == list(range(len(seen))), last.type, last.response.id == made

def cancelled(model):
    made = client.responses.create(model=model, input="Tell [[sim tokens=100000 gap_ms=20]]", background=True)
    with client.responses.retrieve(made.id, stream=True) as stream:
        for event in stream:
            if event.sequence_number == 9:
                break
    ended = client.responses.cancel(made.id)
    again = client.responses.cancel(made.id)
    return ended.status, again.status, ended.usage.output_tokens > 0

def refused(model):
    try:
        client.responses.create(model=model, input="x", background=True, store=False)
    except BadRequestError as error:
        return error.status_code, error.param

for model in sys.argv[1:]:
    print(polled(model), streamed(model), cancelled(model), refused(model))
`;

test.skipIf(noPython !== "")(
  `OpenAI's client for Python polls, resumes and cancels ${noPython}`,
  async () => {
    const target = join(folder, "python");
    await run("python3", ["-m", "pip", "install", "-q", "--target", target, "openai==2.14.0"]);
    const script = join(folder, "client.py");
    writeFileSync(script, PYTHON);
    const env = {
      ...process.env,
      PYTHONPATH: target,
      WEIR_URL: `${gateway.url}/v1`,
      WEIR_KEY: gateway.liveKey,
    };
    const { stdout } = await run("python3", [script, ...DIALECTS.map(modelOf)], { env });
    const line =
      "('queued', 'completed', True, True) (True, 'response.completed', True) ('cancelled', 'cancelled', True) (400, '/background')\n";
    expect(stdout).toBe(line.repeat(DIALECTS.length));
  },
  240_000,
);
