/** kill -9 while a mail is handed over: it is sent at least once, and one that comes twice can be recognised. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tempFolder } from "../../../support/credits/fixtures.ts";
import { headerOf, SmtpStandIn } from "../../../support/mail/smtp-server.ts";
import { until } from "../../../support/wait.ts";

const SENDER = fileURLToPath(new URL("sender.ts", import.meta.url));
let folder: string;
let server: SmtpStandIn;
beforeEach(async () => {
  folder = tempFolder();
  server = new SmtpStandIn();
  await server.listen();
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the sender until something holds, then kills it -9. */
async function sendUntil(what: string, holds: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [SENDER, folder, String(server.port)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const closed = once(child, "close");
  await until(what, holds);
  child.kill("SIGKILL");
  expect(await closed).toEqual([null, "SIGKILL"]);
}

const messageIds = () => server.received.map(({ data }) => headerOf(data, "message-id"));

test("a mail whose sender dies before the server's answer is sent again, with the same Message-ID", async () => {
  server.answers.MESSAGE = ["silence", "silence"];
  for (const times of [1, 2, 3])
    await sendUntil(`it came ${times} times`, () => server.received.length >= times);
  expect(messageIds()).toHaveLength(3);
  expect(messageIds()[0]).toMatch(/^<job_[0-9A-Z]{26}@gateway\.example>$/);
  expect(new Set(messageIds()).size).toBe(1);
});

test("a mail whose sender dies before it reached the server is sent by the next start", async () => {
  server.answers.GREETING = ["silence"];
  let connections = 0;
  server.onConnection = () => connections++;
  await sendUntil("it connected", () => connections === 1);
  expect(server.received).toEqual([]);
  await sendUntil("it came", () => server.received.length === 1);
  expect(messageIds()).toHaveLength(1);
});
