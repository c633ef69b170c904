/** Without a collector nothing of OpenTelemetry is loaded or done; shown by the process that users run. */
import { afterAll, expect, test } from "vitest";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import {
  type Collector,
  startCollector,
  toCollector,
} from "../../../support/telemetry/collector.fixtures.ts";
import { until } from "../../../support/wait.ts";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/** Writes the packages of OpenTelemetry that are loaded to standard output, when asked by a signal. */
const TELL = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const name = /node_modules\\/(@opentelemetry\\/[\\w-]+)/.exec(url)?.[1];
      if (name !== undefined) loaded.add(name);
      return next(url, context);
    },
  });
  process.on("SIGUSR2", () => process.stdout.write("loaded " + JSON.stringify([...loaded]) + "\\n"));
`)}`;

const open: (SpawnedGateway | Collector)[] = [];
afterAll(async () => {
  for (const each of open.reverse()) await ("close" in each ? each.close() : each.stop());
});

async function spawned(env: Record<string, string>): Promise<SpawnedGateway> {
  const gateway = await spawnGateway({ engine: false, env: { ...env, NODE_OPTIONS: `--import=${TELL}` } });
  open.push(gateway);
  return gateway;
}

async function loadedBy(gateway: SpawnedGateway): Promise<string[]> {
  gateway.process.kill("SIGUSR2");
  const told = () => /loaded (.*)\n/.exec(gateway.output())?.[1];
  await until("it tells", () => told() !== undefined);
  return JSON.parse(told() ?? "");
}

test("without a collector no module of the SDK is loaded, and a client's trace is not passed on", async () => {
  const gateway = await spawned({
    OTEL_TRACES_SAMPLER: "no such sampler: other programs' variables are let be",
  });
  expect((await gateway.chat({}, { headers: { traceparent: TRACEPARENT } })).status).toBe(200);
  expect(gateway.simulator.calls.at(-1)?.headers.traceparent).toBeUndefined();
  // prom-client loads the interfaces, as it did before the gateway knew OpenTelemetry.
  expect((await loadedBy(gateway)).filter((name) => name !== "@opentelemetry/api")).toEqual([]);
});

test("with one they are, and what waits arrives before the process ends", async () => {
  const collector = await startCollector();
  open.push(collector);
  const gateway = await spawned(toCollector(collector.url, { OTEL_BSP_SCHEDULE_DELAY: "60000" }));
  expect((await gateway.chat({}, { headers: { traceparent: TRACEPARENT } })).status).toBe(200);
  expect(await loadedBy(gateway)).toContain("@opentelemetry/sdk-trace");
  expect(await gateway.kill("SIGTERM")).toBe(0);
  expect(collector.spans).toHaveLength(2);
});
