/**
 * Kill -9 while conversations go on: what was charged is a turn of its conversation, and what is no turn was not charged. WEIR_CRASH_SEED
 * repeats a run's choices.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { amount } from "../../support/effort.ts";
import { removeFolder } from "../../support/gateway.ts";
import { auditedLedger, chargesOf, idle } from "../../support/money/fixtures.ts";
import { anyMoment } from "../../support/pace.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(4, 3));
const random = seededRandom(Number(process.env.WEIR_CRASH_SEED ?? Date.now() % 1_000_000));
const CONVERSATIONS = 8;

const folder = mkdtempSync(join(tmpdir(), "weir-crash-conversations-"));
let simulator: Simulator;
let latest: SpawnedGateway | undefined;
beforeAll(async () => {
  simulator = await startSimulator({ keepBodyBytes: 0 });
});
afterAll(async () => {
  await latest?.kill("SIGKILL");
  await simulator.close();
  removeFolder(folder);
});

const endpoints = [{ provider: "own", price: { input: 1.1, output: 2.3 } }];
const start = (): Promise<SpawnedGateway> =>
  spawnGateway({ folder, simulator, endpoints, env: { LOG_LEVEL: "error" } });

/** Request id → conversation, of every answer that a client holds in full. */
const held = new Map<string, string>();

/** Turns without end, until the gateway is gone. */
async function talk(gateway: SpawnedGateway, conversation: string): Promise<void> {
  for (;;) {
    const stream = random() < 0.5;
    const input = `Go on. [[sim tokens=${1 + Math.floor(random() * 20)}]]`;
    const body = { model: "test/model", input, conversation, stream };
    const { status, text } = await gateway.call("POST", "/v1/responses", { body });
    const isWhole = stream ? text.includes("event: response.completed") : status === 200;
    const id = /"request_id":"([0-9A-Z]{26})"/.exec(text)?.[1];
    if (isWhole && id !== undefined) held.set(id, conversation);
    if (random() < 0.3)
      await gateway.call("POST", `/v1/conversations/${conversation}/items`, {
        body: { items: [{ role: "user", content: "By hand." }] },
      });
  }
}

/** Request ids of the turns of a conversation, in their order. Each turn is whole, and stands in one piece. */
async function turnsOf(gateway: SpawnedGateway, conversation: string): Promise<string[]> {
  const turns: string[] = [];
  for (let cursor = ""; ; ) {
    const path = `/v1/conversations/${conversation}/items?order=asc&limit=100${cursor}`;
    const { json } = await gateway.call("GET", path);
    for (const { id, role } of json.data as { id: string; role: string }[]) {
      const asked = /^msg_[0-9A-Z]{26}_([0-9A-Z]{26})i0$/.exec(id)?.[1];
      if (asked !== undefined) turns.push(asked);
      else if (role === "assistant") turns.push("answer");
    }
    if (!json.has_more) break;
    cursor = `&after=${json.last_id}`;
  }
  for (let at = 0; at < turns.length; at += 2) expect(turns[at + 1]).toBe("answer");
  return turns.filter((turn) => turn !== "answer");
}

test(`${ROUNDS} kills: charges and turns are the same`, async () => {
  const conversations: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const gateway = await start();
    latest = gateway;
    while (conversations.length < CONVERSATIONS)
      conversations.push((await gateway.call("POST", "/v1/conversations", { body: {} })).json.id);
    const before = held.size;
    const clients = conversations.map((id) => talk(gateway, id).catch(() => {}));
    await until("some turns are answered", () => held.size >= before + 30);
    await anyMoment(random, 300);
    await gateway.kill("SIGKILL");
    await Promise.all(clients);

    const again = await start();
    latest = again;
    await idle(again);
    const charged = new Set(chargesOf(await auditedLedger(again)).keys());
    const turns = (await Promise.all(conversations.map((id) => turnsOf(again, id)))).flat();
    expect(new Set(turns).size).toBe(turns.length);
    expect(new Set(turns)).toEqual(charged);
    for (const id of held.keys()) expect(charged.has(id)).toBe(true);
    await again.stop();
  }
});
