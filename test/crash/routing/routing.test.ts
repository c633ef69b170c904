/**
 * Kill -9 under load with everything that routing adds: hedges, a canary, shadows that the org pays for, an own provider key,
 * and versions that take turns. The ledger stays exact, a policy is never half in force, and red stays red.
 * `npm run test:crash` runs more rounds; WEIR_CRASH_SEED repeats a run's choices.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { type Random, seededRandom } from "../../../src/base/clock.ts";
import { removeFolder, sseData } from "../../support/gateway.ts";
import {
  allRecords,
  auditedLedger,
  chargesOf,
  idle,
  spendOfKeys,
  sum,
} from "../../support/money/fixtures.ts";
import { anyMoment } from "../../support/pace.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

const ROUNDS = Math.ceil(Number(process.env.WEIR_CRASH_ROUNDS ?? 2) / 2);
const SEED = Number(process.env.WEIR_CRASH_SEED ?? Date.now() % 1_000_000);
const CLIENTS = 16;
const OWN = "sk-of-the-org-itself";

const folder = mkdtempSync(join(tmpdir(), "weir-crash-"));
const endpoints = [
  { provider: "slow", instruction: { first_ms: 120, tokens: 20 }, price: { input: 1, output: 2 } },
  { provider: "quick", instruction: { tokens: 9 }, price: { input: 3, output: 5 } },
  {
    provider: "own",
    instruction: { tokens: 30 },
    credentialEnv: "CRASH_TEST_NO_KEY",
    price: { input: 40, output: 90 },
  },
  { provider: "trial", instruction: { status: 500 } },
  { provider: "copy", instruction: { tokens: 7 }, price: { input: 2, output: 2 } },
];
const idOf = (provider: string) => `ep_${provider}_sim-test_local`;

/** Two versions that differ in their weights. */
const versionOf = (slow: number) =>
  stringify({
    version: 1,
    defaults: {
      weights: { [idOf("slow")]: slow, [idOf("quick")]: 1, [idOf("own")]: 1 },
      hedge_after_ms: 40,
      canary: { endpoint: idOf("trial"), percent: 20, max_error_rate: 0.05, min_samples: 5 },
      shadow: { endpoint: idOf("copy"), percent: 50, bill: "org" },
    },
  });

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

async function start(): Promise<SpawnedGateway> {
  latest = await spawnGateway({ folder, endpoints, simulator, env: { LOG_LEVEL: "error" } });
  return latest;
}

interface Svc {
  readonly request_id: string;
  readonly endpoint_id: string;
  readonly cost: { readonly total_micro_usd: number; readonly lines: readonly { readonly kind: string }[] };
}

/** The `svc` of every answer that a client holds in full, by request id. */
const held = new Map<string, Svc>();

/** Those that calls are answered by: a trial's fails. */
const ANSWERING = ["slow", "quick", "own"].map(idOf);
const answeredBy = () => new Set(Array.from(held.values(), (s) => s.endpoint_id));

async function callOnce(gateway: SpawnedGateway, stream: boolean): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "test/model",
      max_tokens: 60,
      stream,
      messages: [{ role: "user", content: "Hold on." }],
    }),
  });
  const text = await response.text();
  if (response.status !== 200) return;
  const whole = stream ? (sseData(text) as { svc?: Svc }[]) : [JSON.parse(text) as { svc?: Svc }, "[DONE]"];
  if (whole.at(-1) !== "[DONE]") return;
  const { svc } = whole.at(-2) as { svc: Svc };
  held.set(svc.request_id, svc);
}

async function client(gateway: SpawnedGateway, random: Random, dead: { yet: boolean }): Promise<void> {
  while (!dead.yet) {
    // Cut by the kill: not held in full.
    await callOnce(gateway, random() < 0.5).catch(() => {});
  }
}

/** The version that was answered to be in force, and the one that was asked for since. */
const turns = { acknowledged: 0, asked: 0 };

async function takeTurns(gateway: SpawnedGateway, dead: { yet: boolean }): Promise<void> {
  while (!dead.yet) {
    turns.asked = turns.acknowledged === 1 ? 2 : 1;
    const answer = await gateway
      .call("POST", "/v1/policies/house/activate", { body: { version: turns.asked } })
      .catch(() => undefined);
    if (answer?.status === 200) turns.acknowledged = turns.asked;
  }
}

async function setUp(gateway: SpawnedGateway): Promise<void> {
  const made = [
    await gateway.call("POST", "/v1/policies", { body: { name: "house", yaml: versionOf(1) } }),
    await gateway.call("POST", "/v1/policies/house/versions", { body: { yaml: versionOf(2) } }),
    await gateway.call("POST", "/v1/provider-keys", { body: { provider: "own", credential: OWN } }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
}

const reds = new Set<number>();

/** What holds at any time when no call is under way. */
async function check(gateway: SpawnedGateway): Promise<void> {
  await idle(gateway);
  const charges = chargesOf(await auditedLedger(gateway));
  for (const [requestId, { cost }] of held) {
    if ((charges.get(requestId) ?? 0) !== cost.total_micro_usd) {
      expect.fail(
        `${requestId} cost ${cost.total_micro_usd} and was charged ${charges.get(requestId)}; seed ${SEED}`,
      );
    }
  }
  expect(sum((await spendOfKeys(gateway)).values())).toBe(sum(charges.values()));
  if (turns.asked > 0) {
    const [policy] = (await gateway.call("GET", "/v1/policies")).json.data;
    expect([turns.acknowledged, turns.asked]).toContain(policy.version);
    expect(policy.status).toBe("active");
    turns.acknowledged = policy.version;
  }
  const red = await redVersions(gateway);
  expect(red).toEqual(expect.arrayContaining([...reds]));
  for (const version of red) reds.add(version);
  const keys = (await gateway.call("GET", "/v1/provider-keys")).json.data;
  expect(keys.map((k: { status: string }) => k.status)).toEqual(["active"]);
}

/** Versions whose canary was taken out. */
async function redVersions(gateway: SpawnedGateway): Promise<number[]> {
  const { data } = (await gateway.call("GET", "/v1/policies/house/canaries")).json;
  return data.filter((c: { state: string }) => c.state === "red").map((c: { version: number }) => c.version);
}

test(`kill -9 under load with policies, ${ROUNDS} rounds`, {
  timeout: 60_000 + ROUNDS * 30_000,
}, async () => {
  console.log(`WEIR_CRASH_SEED=${SEED}`);
  const random = seededRandom(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const gateway = await start();
    if (round === 0) await setUp(gateway);
    await check(gateway);
    const before = held.size;
    const dead = { yet: false };
    const clients = Array.from({ length: CLIENTS }, (_, i) =>
      client(gateway, seededRandom(SEED + round * 100 + i), dead),
    );
    const turning = takeTurns(gateway, dead);
    await until("some calls are through", () => held.size > before + CLIENTS * 3);
    // How many calls that takes is up to chance, as the moment of the kill is.
    if (round === ROUNDS - 1) {
      await until("a canary has turned red", async () => (await redVersions(gateway)).length > 0);
      await until("each endpoint has answered", () => ANSWERING.every((id) => answeredBy().has(id)));
    }
    await anyMoment(random, 500);
    await gateway.kill("SIGKILL");
    dead.yet = true;
    await Promise.all([...clients, turning]);
  }
  const gateway = await start();
  try {
    await check(gateway);
    // Each record that cost something is one charge; what is charged besides are copies, in their own name.
    const charges = chargesOf(await auditedLedger(gateway));
    const records = [...(await allRecords(gateway)).values()].filter((r) => r.cost_micro > 0);
    for (const record of records) expect(charges.get(record.request_id)).toBe(record.cost_micro);
    expect(charges.size).toBeGreaterThan(records.length);
    expect(records.some(({ byok }) => byok)).toBe(true);
    const by = answeredBy();
    expect([...by]).toEqual(expect.arrayContaining(ANSWERING));
    expect(by.has(idOf("trial"))).toBe(false);
    for (const { endpoint_id, cost } of held.values()) {
      if (endpoint_id === idOf("own")) expect(cost.lines.map(({ kind }) => kind)).toEqual(["byok_fee"]);
    }
    expect([...reds].length).toBeGreaterThan(0);
  } finally {
    expect(await gateway.kill("SIGTERM")).toBe(0);
  }
});
