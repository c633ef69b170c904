/** A gateway whose disk takes nothing any more, with a call that is to be settled. */
import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { DiskFaults } from "./disk-faults.fixtures.ts";
import { MAIN, metric, place, run, smallConfig } from "./process.fixtures.ts";
import { until } from "./wait.ts";

/** `timeouts.shutdown_ms` of these gateways, unless told. */
export const SHUTDOWN_MS = 3000;

/** LMDB itself is not made to fail: see `test/crash/store/faults.test.ts`. */
const fill = (disk: DiskFaults) =>
  disk.set(...[".journal", "weir.lmdb-disk"].map((file) => `write ${file} ${constants.errno.ENOSPC}`));

/** A gateway with a call under way, whose store cannot commit from here on until `disk.set()`. */
export async function stuckGateway(disk: DiskFaults, shutdownMs = SHUTDOWN_MS) {
  const configDir = smallConfig();
  writeFileSync(join(configDir, "weir.yaml"), `timeouts: { shutdown_ms: ${shutdownMs} }\n`);
  disk.set();
  const where = await place({ CONFIG_DIR: configDir, ...disk.env });
  const started = run(process.execPath, [MAIN], {
    env: where.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  await where.ready();
  const call = async () => {
    disk.set();
    const response = await fetch(`${where.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${where.key()}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "weir/sim-small",
        stream: true,
        messages: [{ role: "user", content: "[[sim tokens=5 gap_ms=100]]" }],
      }),
    });
    fill(disk);
    expect(response.status).toBe(200);
    const answer = response.text().catch(() => "cut");
    return { answer, isOpen: (await metric(where.url, "weir_calls_live")) > 0 };
  };
  // A call that was over before the disk was full is settled: another is made.
  const { answer } = await until("the disk is full while a call runs", call, ({ isOpen }) => isOpen);
  await until("the store fails", async () => (await metric(where.url, "weir_store_healthy")) === 0);
  return { ...started, where, answer };
}
