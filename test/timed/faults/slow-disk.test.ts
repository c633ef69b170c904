/** A disk whose syncs are slow, such as one on a network: no call waits for them. */
import { mkdtempSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileDiskFaults } from "../../support/disk-faults.fixtures.ts";
import { amount } from "../../support/effort.ts";
import { removeFolder } from "../../support/gateway.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";

const STREAMS = amount(100, 30);
const EVENTS = 40;
const GAP_MS = 20;
const SYNC_MS = 50;

const home = mkdtempSync(join(tmpdir(), "weir-slow-disk-"));
const disk = compileDiskFaults(home);
let gateway: SpawnedGateway;
beforeAll(async () => {
  if (disk.missing === "") gateway = await spawnGateway({ engine: false, env: disk.env });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(home);
});

/** Longest time between two reads of a stream, in milliseconds. */
function longestGap(): Promise<number> {
  const body = JSON.stringify({
    model: "weir/sim-small",
    messages: [{ role: "user", content: `[[sim tokens=${EVENTS} gap_ms=${GAP_MS}]]` }],
    stream: true,
  });
  const headers = { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const call = request(`${gateway.url}/v1/chat/completions`, { method: "POST", headers }, (response) => {
      let last = Number.NaN;
      let longest = 0;
      response.on("data", () => {
        const now = performance.now();
        if (now - last > longest) longest = now - last;
        last = now;
      });
      response.on("end", () => resolve(longest));
      response.on("error", reject);
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** The longest gap of all streams, while JSON calls are charged beside them. */
async function longestGapOfAll(): Promise<number> {
  let done = false;
  const streams = Promise.all(Array.from({ length: STREAMS }, longestGap)).finally(() => {
    done = true;
  });
  while (!done) expect((await gateway.chat({ max_tokens: 5 })).status).toBe(200);
  return Math.max(...(await streams));
}

describe.skipIf(disk.missing !== "")(`a disk whose syncs take ${SYNC_MS} ms${disk.missing}`, () => {
  test("the event loop waits for no sync, and streams do not stop for one", async () => {
    // The first streams of a process are slow by themselves.
    await longestGapOfAll();
    let added = Number.POSITIVE_INFINITY;
    const isSmooth = await holdsUnlessCrowded(async () => {
      disk.set();
      const usual = await longestGapOfAll();
      disk.set(`slow .journal ${SYNC_MS}`, `slow weir.lmdb ${SYNC_MS}`);
      added = Math.min(added, (await longestGapOfAll()) - usual);
      return added < SYNC_MS / 2;
    });
    const slowed = disk.slowed();
    console.log(`${slowed.length} slow syncs: the longest gap grew by ${added.toFixed(1)} ms`);
    expect(slowed.filter(({ path }) => path.endsWith(".journal")).length).toBeGreaterThan(3);
    expect(slowed.filter(({ path }) => path.endsWith("weir.lmdb")).length).toBeGreaterThan(3);
    expect(slowed.filter(({ onMainThread }) => onMainThread)).toEqual([]);
    expect(isSmooth).toBe(true);
  });
});
