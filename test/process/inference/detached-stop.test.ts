/** A gateway that is asked to stop waits for calls that run without their client, as for all others, and ends what takes longer. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { eventsIn, leftAfter, resumed } from "../../support/detached/fixtures.ts";
import { removeFolder } from "../../support/gateway.ts";
import { charges, recordOf } from "../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";

let simulator: Simulator;
const folder = mkdtempSync(join(tmpdir(), "weir-stop-"));
beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(async () => {
  await simulator.close();
  removeFolder(folder);
});

const started = (): Promise<SpawnedGateway> =>
  spawnGateway({
    folder,
    simulator,
    engine: false,
    endpoints: [
      { provider: "brief", instruction: { tokens: 20, gap_ms: 40 } },
      { provider: "endless", instruction: { tokens: 4000, gap_ms: 40 } },
    ],
    settings: { timeouts: { shutdown_ms: 6000 } },
  });

const by = (provider: string) => ({ route: { providers: { only: [provider] } } });

test("a stop waits for what ends in time; the rest ends with an error, and all is charged once", async () => {
  const first = await started();
  const [brief, endless] = await Promise.all([
    leftAfter(first, "chat", 2, { svc: by("brief") }),
    leftAfter(first, "messages", 2, { svc: by("endless") }),
  ]);
  expect(await first.kill("SIGTERM")).toBe(0);
  const second = await started();
  try {
    const [whole, cut] = [await resumed(second, brief.id), await resumed(second, endless.id)];
    expect(eventsIn(whole.text).at(-1)).toMatch(/data: \[DONE\]$/);
    expect(eventsIn(cut.text).at(-1)).toMatch(/event: error\ndata: .*"code":"shutting_down"/);
    const records = [await recordOf(second, brief.id), await recordOf(second, endless.id)];
    expect(records.map(({ status, error_code }) => [status, error_code])).toEqual([
      ["ok", ""],
      ["error", "shutting_down"],
    ]);
    const charged = await charges(second);
    expect(records.map(({ request_id }) => charged.get(request_id))).toEqual(
      records.map(({ cost_micro }) => [-cost_micro]),
    );
    expect(records[1].output_tokens).toBeGreaterThan(20);
  } finally {
    await second.stop();
  }
});
