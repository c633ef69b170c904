/** Whose statements run next in the embedded engine: an org with many users and slow statements delays the others by little. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ALL_AT_ONCE } from "../../../../src/analytics/engine/analyst-run.ts";
import { Analysts, type EngineUser } from "../../../../src/analytics/engine/engine-analysts.ts";
import { engineServer } from "../../../../src/analytics/engine/engine-http.ts";
import type { EngineRunner } from "../../../../src/analytics/engine/engine-run.ts";
import { ANALYST_AT_ONCE } from "../../../../src/analytics/statements/analyst-settings.ts";
import { until } from "../../../support/wait.ts";

const user = (orgId: string, at: number): EngineUser => ({
  username: `${orgId}_${at}`,
  digest: "",
  orgId,
  expiresAtMs: Number.POSITIVE_INFINITY,
});

/** Statements that run until they are ended. */
function slowStatements(analysts: Analysts) {
  const ends: (() => void)[] = [];
  let running = 0;
  const start = (by: EngineUser) =>
    analysts.run(by, async () => {
      running++;
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
    });
  return { start, running: () => running, endAll: () => ends.splice(0).map((end) => end()) };
}
/** Whatever can go on without an end of a statement has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("S1: however many users an org has, its statements leave a place and the queue to other orgs", async () => {
  const analysts = new Analysts(() => 0);
  const slow = slowStatements(analysts);
  const outcomes = Array.from({ length: 20 }, (_, at) => user("org_a", at)).flatMap((by) =>
    Array.from({ length: ANALYST_AT_ONCE }, () => slow.start(by).then(() => "ran", String)),
  );
  await settled();
  expect(slow.running()).toBe(ANALYST_AT_ONCE);
  expect(ANALYST_AT_ONCE).toBeLessThan(ALL_AT_ONCE);
  const other = slow.start(user("org_b", 1));
  await settled();
  expect(slow.running()).toBe(ANALYST_AT_ONCE + 1);
  while (slow.endAll().length > 0) await settled();
  await other;
  const texts = await Promise.all(outcomes);
  expect(texts.filter((text) => text === "ran")).toHaveLength(ANALYST_AT_ONCE + 10);
  expect(texts.find((text) => text !== "ran")).toContain("Code: 202");
});

/** An answer without an end. */
async function* endless() {
  for (;;) yield Buffer.alloc(64 * 1024);
}

test.each([
  ["without reading on", { stalledMs: 50, wholeMs: 3_600_000 }, () => {}],
  ["for too long, however much they read", { stalledMs: 3_600_000, wholeMs: 50 }, read],
])("S1: clients do not keep the places of statements %s", async (_, limits, then) => {
  const analysts = new Analysts(() => 0);
  const digest = createHash("sha256").update("secret").digest("hex");
  analysts.set([{ ...user("org_a", 1), digest }]);
  const confined = { run: async () => ({ format: "TabSeparated", chunks: endless() }) };
  const gateway = { user: "weir", password: "password", catchUp: { wait: async () => {} } };
  // It runs none but analysts' statements here.
  const runner = undefined as unknown as EngineRunner;
  const server = engineServer(runner, gateway, analysts, confined, limits);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/?query=SELECT+1&user=org_a_1&password=secret`;
  const ask = async () => {
    const sent = get(url, { agent: false });
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return answer;
  };
  // A late machine may have one ended before its head was read: it is asked for again.
  const answered = () => until("it is answered", ask);
  const held = await Promise.all(Array.from({ length: ANALYST_AT_ONCE }, answered));
  expect(held.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  for (const answer of held) {
    answer.on("error", () => {});
    then(answer);
  }
  await until("another is answered", async () => {
    const answer = await ask();
    const { statusCode } = answer;
    answer.destroy();
    return statusCode === 200;
  });
  for (const answer of held) answer.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function read(answer: IncomingMessage): void {
  answer.resume();
}
