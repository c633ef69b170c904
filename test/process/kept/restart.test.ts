/** S4: what is kept counts after a kill, too, and is no more by then than it was. */
import { expect, test } from "vitest";
import { removeFolder, testGateway } from "../../support/gateway.ts";
import { fill, keptOf, MAX_TEST, newKey, respond, SETTINGS } from "../../support/kept/fixtures.ts";
import { spawnGateway } from "../../support/spawned-gateway.ts";

test("S4: kill -9: the sums are those of what was stored, and the quota holds", async () => {
  const first = await spawnGateway({ engine: false, settings: SETTINGS });
  const { folder } = first;
  try {
    for (let at = 0; at < 4; at++) expect((await respond(first, {}, { headers: newKey() })).status).toBe(200);
    await fill(first, first.testKey);
    // Under way: what it took in memory is free again.
    void respond(first, { stream: true }, { headers: newKey(), key: first.liveKey }).catch(() => {});
    const before = { live: await keptOf(first, "live"), test: await keptOf(first, "test") };
    await first.kill("SIGKILL");
    const second = await testGateway({ folder, settings: SETTINGS });
    const after = { live: await keptOf(second, "live"), test: await keptOf(second, "test") };
    expect(after.test.responses_bytes).toBe(before.test.responses_bytes);
    expect(after.test.answers_bytes).toBe(before.test.answers_bytes);
    expect(after.live.responses_bytes).toBeGreaterThanOrEqual(before.live.responses_bytes);
    expect(after.live.payloads_bytes).toBeGreaterThanOrEqual(before.live.payloads_bytes);
    // A step of their count at most.
    expect(after.test.payloads_bytes - before.test.payloads_bytes).toBeLessThanOrEqual(MAX_TEST / 32);
    expect((await respond(second, { store: true }, { key: second.testKey })).status).toBe(403);
    await second.stop();
  } finally {
    await first.simulator.close();
    removeFolder(folder);
  }
});
