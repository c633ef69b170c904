/** The operator's list of calls that nobody was charged for, whichever cell brought them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { type Cell, openCell } from "../../../src/cluster/cells/cell.ts";
import { connectRedis } from "../../../src/cluster/cells/redis/redis.ts";
import { isSharedTable } from "../../../src/cluster/cells/replica/table-classes.ts";
import { UnchargedCalls } from "../../../src/credits/ledger/uncharged.ts";
import { openStore } from "../../../src/store/store.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
const folder = mkdtempSync(join(tmpdir(), "weir-uncharged-"));
let gateway: TestGateway;
let returned: Cell;
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({ cells: 2 });
  const redisUrl = gateway.redis?.url ?? "";
  const link = connectRedis({ url: redisUrl, log: { warn() {} } });
  await link.ready(5000);
  const datasetId = String(await link.call("HGET", "{weir}:dataset", "id"));
  link.close();
  returned = await openCell({
    cell: "returned",
    datasetId,
    redisUrl,
    local: openStore(folder),
    isShared: isSharedTable,
    clock: systemClock,
    log: { warn() {} },
    onEnd() {},
    onOutdated() {},
  });
});
afterAll(async () => {
  await returned?.store.close();
  await gateway?.stop();
  rmSync(folder, { recursive: true });
});

test.skipIf(missing)("what a retired cell had not charged is listed at every cell, in pages", async () => {
  const key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
  const list = async (cell: string, query = "") => {
    const answer = await fetch(`${cell}/v1/operator/uncharged${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return (await answer.json()) as { data: Record<string, unknown>[]; next_cursor: string };
  };
  const cells = gateway.cellUrls ?? [];
  for (const cell of cells) expect(await list(cell)).toEqual({ object: "list", data: [], next_cursor: "" });
  const uncharged = new UnchargedCalls(returned.store);
  const calls = ["org_a/01K1", "org_a/01K2", "org_b/01K0"].map((id, at) => {
    const [orgId = "", requestId = ""] = id.split("/");
    return { orgId, requestId, atMs: Date.parse("2026-01-02T03:04:05Z") + at, amountMicroUsd: 100 + at };
  });
  await returned.store.act(() => {
    for (const call of calls) uncharged.put(call);
  });
  // A process that was killed meanwhile brings the same again.
  await returned.store.act(() => uncharged.put(calls[0] as (typeof calls)[0]));
  for (const cell of cells) {
    await until("it is there", async () => (await list(cell)).data.length === 3);
    const first = await list(cell, "?limit=2");
    const second = await list(cell, `?limit=2&cursor=${first.next_cursor}`);
    expect(
      [...first.data, ...second.data].map(({ request_id, amount_micro_usd }) => [
        request_id,
        amount_micro_usd,
      ]),
    ).toEqual([
      ["01K1", 100],
      ["01K2", 101],
      ["01K0", 102],
    ]);
    expect([first.data[0]?.org_id, first.data[0]?.settled_at, second.next_cursor]).toEqual([
      "org_a",
      "2026-01-02T03:04:05.000Z",
      "",
    ]);
  }
});
