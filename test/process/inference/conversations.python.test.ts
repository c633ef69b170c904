/** Conversations by OpenAI's client for Python, as its package manager brings it, in thorough runs: every method, and what it raises. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "weir-python-"));
const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
const isThorough = process.env.WEIR_THOROUGH !== undefined;
const reason = !isThorough ? "only with WEIR_THOROUGH=1, as it is fetched" : hasPip ? "" : "there is no pip";

let gateway: TestGateway;
beforeAll(async () => {
  if (reason === "") gateway = await testGateway();
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const SCRIPT = `
import sys
from openai import OpenAI, NotFoundError
client = OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], max_retries=0)
made = client.conversations.create(metadata={"topic": "x"}, items=[{"type": "message", "role": "user", "content": "Hello!"}])
assert client.conversations.retrieve(made.id).metadata == {"topic": "x"}
assert client.conversations.update(made.id, metadata={"topic": "y"}).metadata == {"topic": "y"}
added = client.conversations.items.create(made.id, items=[{"role": "user", "content": "Two"}, {"role": "assistant", "content": "Three"}])
assert [item.type for item in added.data] == ["message", "message"]
answer = client.responses.create(model="weir/sim-small", input="Go on", conversation=made.id)
assert answer.conversation.id == made.id
with client.responses.stream(model="weir/sim-small", input="And?", conversation=made.id) as stream:
    final = stream.get_final_response()
assert final.conversation.id == made.id and final.status == "completed"
items = list(client.conversations.items.list(made.id, order="asc", limit=2))
assert [item.role for item in items] == ["user", "user", "assistant", "user", "assistant", "user", "assistant"]
assert items[-1].content[0].text == final.output_text
assert client.conversations.items.retrieve(items[0].id, conversation_id=made.id).status == "completed"
assert client.conversations.items.delete(items[0].id, conversation_id=made.id).id == made.id
assert client.conversations.delete(made.id).deleted
for ask in (lambda: client.conversations.retrieve(made.id), lambda: client.responses.create(model="weir/sim-small", input="x", conversation=made.id)):
    try:
        ask()
        raise SystemExit("it is not gone")
    except NotFoundError as error:
        assert error.body["message"] == f"Conversation with id '{made.id}' not found."
print("all done")
`;

test.skipIf(reason !== "")(
  `every method ${reason}`,
  async () => {
    const script = join(folder, "talk.py");
    writeFileSync(script, SCRIPT);
    const target = join(folder, "python");
    await run("python3", ["-m", "pip", "install", "-q", "--target", target, "openai==3.57.0"]);
    const { stdout } = await run("python3", [script, gateway.url, gateway.liveKey], {
      env: { ...process.env, PYTHONPATH: target },
    });
    expect(stdout).toBe("all done\n");
  },
  240_000,
);
