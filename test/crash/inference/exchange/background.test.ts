/**
 * A gateway that dies while a background response is made, at each of its appends to the journal: what a client was told of is found
 * after the return, ended, charged once for what was said, and its Idempotency-Key leads to it. A second return changes nothing.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import { begin, RUNNING } from "../../../support/background/fixtures.ts";
import { sseEvents } from "../../../support/conformance/ask.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { charges, recordOf } from "../../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { killAtAppend } from "../../../support/store/kill-at-append.ts";
import { until } from "../../../support/wait.ts";
import { expectResponse } from "../../../support/wire/open-responses.ts";

/** The queued response with its call, what the call says (about one append each tenth of a second), and its settlement. */
const ALL = ["before", "torn", "behind"].flatMap((how) => [1, 2, 3, 4, 5, 6, 7].map((at) => `${at} ${how}`));
const MOMENTS =
  process.env.WEIR_CRASH_ROUNDS === undefined
    ? ["1 before", "1 torn", "1 behind", "3 behind", "5 before"]
    : ALL;
const HEADERS = { "idempotency-key": "crash" };

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(() => simulator.close());

function started(folder: string, moment?: string): Promise<SpawnedGateway> {
  const env = moment === undefined ? {} : killAtAppend(moment);
  const endpoints = [{ provider: "talks", instruction: { tokens: 10, gap_ms: 50 } }];
  return spawnGateway({ folder, simulator, engine: false, endpoints, env });
}

/** Resolves once the response has ended, or its gateway has died. */
const endOrDeath = (gateway: SpawnedGateway, id: string) =>
  until(
    "the response has ended, or the gateway has died",
    () => gateway.call("GET", `/v1/responses/${id}`).catch(() => undefined),
    (answer) => !RUNNING.includes(answer?.json.status),
  );

const ASKED = { model: "test/model", input: "x" };

/** What there is of the response after a return. */
async function foundAfterReturn(folder: string, id: string) {
  const gateway = await started(folder);
  try {
    const { status, json } = await gateway.call("GET", `/v1/responses/${id}`);
    const again = await begin(gateway, ASKED, { headers: HEADERS });
    const events = await gateway.call("GET", `/v1/responses/${id}?stream=true`);
    const record = await recordOf(gateway, id.slice("resp_".length));
    const charged = (await charges(gateway)).get(id.slice("resp_".length)) ?? [];
    return { status, json, again: again.json, events: [events.status, events.text], record, charged };
  } finally {
    await gateway.stop();
  }
}

test.concurrent.for(MOMENTS)("a death at append %s", async (moment, { onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-crash-"));
  onTestFinished(() => removeFolder(folder));
  const gateway = await started(folder, moment);
  process.kill(gateway.pid, "SIGUSR2");
  // It may die before it answers.
  const accepted = await begin(gateway, ASKED, { headers: HEADERS }).catch(() => undefined);
  if (accepted?.status === 200) await endOrDeath(gateway, accepted.json.id);
  await gateway.kill("SIGKILL");
  if (accepted === undefined || accepted.status !== 200) return;
  const { json: queued } = accepted;
  expect(queued.status).toBe("queued");
  const found = await foundAfterReturn(folder, queued.id);
  const { json, again, record, charged } = found;
  expect(found.status).toBe(200);
  expectResponse(json);
  expect(RUNNING).not.toContain(json.status);
  expect(again).toEqual(queued);
  const isWhole = json.status === "completed";
  if (!isWhole) {
    expect(json).toMatchObject({ status: "failed", error: { code: "gateway_unavailable" } });
    expect(json.svc.cost.total_micro_usd).toBe(record.cost_micro);
    const [, text] = found.events;
    const events = sseEvents(String(text)).map(({ data }) => JSON.parse(data));
    expect(events.slice(-2)).toMatchObject([
      { type: "response.failed", response: json },
      { type: "error", code: "gateway_unavailable" },
    ]);
  }
  expect(record).toMatchObject(
    isWhole ? { status: "ok" } : { status: "error", error_code: "gateway_unavailable" },
  );
  expect(charged).toEqual(record.cost_micro === 0 ? [] : [-record.cost_micro]);
  expect(await foundAfterReturn(folder, queued.id)).toEqual(found);
});
