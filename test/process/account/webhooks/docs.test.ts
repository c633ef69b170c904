/** The receivers of docs/webhooks.md, run as they stand there, against what the gateway sends. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newWebhookSecret, signatures } from "../../../../src/account/webhooks/signature.ts";
import { freePort } from "../../../support/free-port.ts";
import { until } from "../../../support/wait.ts";

const text = readFileSync(join(import.meta.dirname, "../../../../docs/webhooks.md"), "utf8");
const exampleIn = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(text)?.[1] ?? "";

const hasPython = (() => {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

const folder = mkdtempSync(join(tmpdir(), "weir-receivers-"));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

async function startReceiver(program: string, file: string, secret: string): Promise<number> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret, NODE_OPTIONS: "" };
  children.push(spawn(program, [join(folder, file)], { env, stdio: "ignore" }));
  await until("the example listens", () => accepts(port));
  return port;
}

async function tryReceiver(language: string, program: string, file: string): Promise<void> {
  const example = exampleIn(language);
  expect(example.trim().split("\n").length).toBeLessThanOrEqual(12);
  writeFileSync(join(folder, file), example);
  const [secret, other] = [newWebhookSecret(), newWebhookSecret()];
  const port = await startReceiver(program, file, secret);
  const nowS = Math.floor(Date.now() / 1000);
  const send = async (
    secrets: string[],
    given: { readonly timestampS?: number; readonly sent?: string } = {},
  ): Promise<number> => {
    const body = '{"name":"₹"}';
    const { timestampS = nowS, sent = body } = given;
    const signed = signatures(secrets, { id: "evt_1", timestampS, body: Buffer.from(body) });
    const headers = {
      "content-type": "application/json",
      "webhook-id": "evt_1",
      "webhook-timestamp": String(timestampS),
      ...(signed !== "" && { "webhook-signature": signed }),
    };
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: sent })).status;
  };
  expect(await send([secret])).toBe(204);
  expect(await send([other, secret])).toBe(204);
  expect(await send([other])).toBe(400);
  expect(await send([])).toBe(400);
  expect(await send([secret], { sent: '{"name":"$"}' })).toBe(400);
  expect(await send([secret], { timestampS: nowS - 600 })).toBe(400);
}

test("the receiver for Node takes what is signed, and nothing else", () =>
  tryReceiver("js", process.execPath, "receiver.mjs"));

test.skipIf(!hasPython)("the receiver for Python takes what is signed, and nothing else", () =>
  tryReceiver("python", "python3", "receiver.py"),
);
