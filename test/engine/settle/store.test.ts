/**
 * The store cannot be written for a while, with the real store in the real gateway: each append to its journal fails as on a
 * full disk, and then no more (real full disks: store.faults). Calls under way wait for their commit, new ones are refused, nothing is lost and nothing doubled.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Journal } from "../../../src/store/journal/journal.ts";
import { sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import { allRecords, auditedLedger, chargesOf, idle, metric } from "../../support/money/fixtures.ts";
import { until } from "../../support/wait.ts";

const CALLS = 20;
const folder = mkdtempSync(join(tmpdir(), "weir-settle-"));
const full = (): never => {
  throw new Error("ENOSPC: no space left on device, write");
};

let gateway: TestGateway;
beforeAll(async () => {
  await (await testGateway({ folder })).stop();
  gateway = await testGateway({ folder, engine: true });
  vi.spyOn(Journal.prototype, "append").mockImplementation(full);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Reads a call to its end, showing what has come so far. */
function call(stream: boolean) {
  const seen = { text: "", status: 0, over: false };
  const whole = (async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "weir/sim-small",
        messages: [{ role: "user", content: "Wait" }],
        stream,
      }),
    });
    seen.status = response.status;
    for await (const chunk of response.body ?? []) seen.text += Buffer.from(chunk).toString();
    seen.over = true;
  })();
  return { seen, whole };
}

test("T35: while no commit succeeds calls wait and new ones are refused; then each succeeds, once", async () => {
  const calls = Array.from({ length: CALLS }, (_, i) => call(i % 2 === 0));
  await until(
    "all calls were made and are over",
    () => gateway.simulator.totalCalls === CALLS && gateway.simulator.openCalls === 0,
  );
  await until("the failure is seen", async () => (await metric(gateway, "weir_store_healthy")) === 0);

  const refused = await gateway.chat();
  expect(refused.status).toBe(503);
  expect(refused.json.error).toMatchObject({ type: "unavailable", code: "storage_unavailable" });
  expect(Number(refused.headers.get("retry-after-ms"))).toBeGreaterThan(0);
  expect((await gateway.call("GET", "/readyz", { key: null })).status).toBe(503);
  expect(gateway.simulator.totalCalls).toBe(CALLS);

  // Streams have sent their text; nobody has a last byte, and nothing is in the ledger.
  for (const { seen } of calls) {
    expect(seen.over).toBe(false);
    expect(seen.text).not.toContain("[DONE]");
    expect(seen.text).not.toContain("svc");
  }
  expect(await ledgerOnDisk()).toEqual([]);

  vi.restoreAllMocks();
  await Promise.all(calls.map((c) => c.whole));
  await idle(gateway);
  expect(await metric(gateway, "weir_store_healthy")).toBe(1);
  expect((await gateway.call("GET", "/readyz", { key: null })).status).toBe(200);

  const costs = calls.map(({ seen }, i) => {
    expect(seen.status).toBe(200);
    const last = i % 2 === 0 ? sseData(seen.text).at(-2) : JSON.parse(seen.text);
    const { request_id, cost } = (last as { svc: { request_id: string; cost: { total_micro_usd: number } } })
      .svc;
    return [request_id, cost.total_micro_usd] as const;
  });
  const charges = chargesOf(await auditedLedger(gateway));
  expect(charges).toEqual(new Map(costs));
  expect(charges.size).toBe(CALLS);
  // One record each; none of the call that was refused because none could be kept.
  const records = await allRecords(gateway);
  expect([...records.keys()].sort()).toEqual([...charges.keys()].sort());
  expect((await gateway.chat()).status).toBe(200);
});

/** Settles that a reader sees: committed ones. */
async function ledgerOnDisk(): Promise<unknown[]> {
  return (await gateway.call("GET", "/v1/credits/ledger?kind=settle")).json.data;
}
