/** A start with a warm-up, as a process. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAIN, metric, type Placed, place, run } from "../../support/process.fixtures.ts";
import { until } from "../../support/wait.ts";

/** Longer than its calls take on any machine. */
const LONG_MS = "60000";

const start = ({ env }: Placed, warmUpMs: string) =>
  run(process.execPath, [MAIN], {
    env: { ...env, WARM_UP_MS: warmUpMs },
    stdio: ["ignore", "pipe", "pipe"],
  });

/** The first one has calls by then, or will have them at once. */
const underWay = ({ dataDir }: Placed) =>
  until("the second throw-away gateway is there", () =>
    existsSync(join(dataDir, "warm-up", "1", "data", "first-key")),
  );

test("a start warms up before it is ready, and the gateway knows nothing of it", async () => {
  const where = await place();
  const gateway = start(where, "1000");
  await where.ready();
  const messages = (
    await until(
      "it has started",
      () => gateway.output(),
      (text) => text.includes('"started"'),
    )
  )
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line).msg as string);
  expect(messages.filter((msg) => ["warmed up", "started"].includes(msg))).toEqual(["warmed up", "started"]);
  expect(existsSync(join(where.dataDir, "warm-up"))).toBe(false);
  const headers = { authorization: `Bearer ${where.key()}` };
  const credits = await (await fetch(`${where.url}/v1/credits`, { headers })).json();
  expect(credits).toMatchObject({ available_micro_usd: 25_000_000, held_micro_usd: 0 });
  expect(await metric(where.url, "weir_outbox_rows")).toBe(0);
  const metrics = await (await fetch(`${where.url}/metrics`)).text();
  expect(metrics).not.toContain("warm");
  gateway.child.kill("SIGTERM");
  expect((await gateway.ended).code).toBe(0);
});

test("SIGTERM ends a warm-up, and the gateway stops in good order", async () => {
  const where = await place();
  const gateway = start(where, LONG_MS);
  await underWay(where);
  gateway.child.kill("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  expect(gateway.output()).toContain("stopped by SIGTERM: everything is saved");
  expect(existsSync(join(where.dataDir, "warm-up"))).toBe(false);
});

test("what a warm-up leaves that kill -9 ends, the next start removes", async () => {
  const where = await place();
  const killed = start(where, LONG_MS);
  await underWay(where);
  killed.child.kill("SIGKILL");
  await killed.ended;
  expect(existsSync(join(where.dataDir, "warm-up"))).toBe(true);
  const gateway = start(where, "0");
  await where.ready();
  expect(existsSync(join(where.dataDir, "warm-up"))).toBe(false);
  gateway.child.kill("SIGTERM");
  expect((await gateway.ended).code).toBe(0);
});
