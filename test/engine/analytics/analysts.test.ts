/** Users of the analytics database, as their rows and their org say. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { usernameOf } from "../../../src/analytics/analysts/analyst-server.ts";
import type { AnalystRow } from "../../../src/analytics/analysts/analysts.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { asAllowed } from "../../support/analytics/confined.fixtures.ts";
import { equals, until } from "../../support/wait.ts";

let bench: Bench;
let isOpen = true;
let nowMs = Date.now();
beforeAll(() => {
  bench = openBench({
    confine: asAllowed,
    isOpen: () => isOpen,
    clock: { now: () => nowMs, monotonic: systemClock.monotonic },
  });
});
afterAll(() => bench.close());

const row = (id: string, change: Partial<AnalystRow> = {}): AnalystRow => ({
  id,
  orgId: "org_a",
  name: "A dashboard",
  username: usernameOf("weir", id),
  createdAtMs: nowMs,
  digest: createHash("sha256").update("a password").digest("hex"),
  expiresAtMs: nowMs + 3_600_000,
  ...change,
});

async function statusOf({ username }: AnalystRow): Promise<number> {
  const url = await bench.analytics.analystAccess.url();
  const headers = { "x-clickhouse-user": username, "x-clickhouse-key": "a password" };
  return (await fetch(`${url}/?query=SELECT+1`, { headers })).status;
}

const put = async (user: AnalystRow) => {
  await bench.store.act(() => bench.analytics.analysts.put(user));
  await until("the user is let in", () => statusOf(user), equals(200));
};

test("is let in once its row is there, and no longer once it is gone", async () => {
  const user = row("anu_1");
  expect(await statusOf(user)).toBe(403);
  await put(user);
  await bench.store.act(() => bench.analytics.analysts.remove(user));
  await until("the user is refused", () => statusOf(user), equals(403));
});

test("is not let in while its org is closed, and not after the erasure of its org", async () => {
  const user = row("anu_2");
  await put(user);
  isOpen = false;
  await bench.analytics.analystAccess.apply();
  await until("the user is refused", () => statusOf(user), equals(403));
  isOpen = true;
  await bench.analytics.analystAccess.apply();
  await until("the user is let in", () => statusOf(user), equals(200));
  await bench.store.act(() => bench.analytics.analysts.erase("org_a", 100));
  await until("the user is refused", () => statusOf(user), equals(403));
});

test("is not let in from the instant of its expiry on", async () => {
  const user = row("anu_3", { expiresAtMs: nowMs + 60_000 });
  await put(user);
  nowMs += 60_000;
  await bench.analytics.analystAccess.apply();
  await until("the user is refused", () => statusOf(user), equals(403));
});
