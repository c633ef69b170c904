/** Within what time a gateway stops, whatever hangs and whoever reads. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { compileDiskFaults } from "../../support/disk-faults.fixtures.ts";
import { removeFolder, testGateway } from "../../support/gateway.ts";
import { SHUTDOWN_MS, stuckGateway } from "../../support/stuck-disk.fixtures.ts";
import { staysWithin, tookMs } from "../within.ts";

/** For what a process does beside its waits, and its end: some hundred ms. A wait by the usual bound takes 30 s, one without a bound for ever. */
const BESIDE_MS = 5000;
/** A stop with nothing to wait for takes about a second, most of it ClickHouse's; one that waits for readers gives them 20 s. */
const WITH_READERS_MS = 5000;

const home = mkdtempSync(join(tmpdir(), "weir-stop-"));
afterAll(() => removeFolder(home));
const disk = compileDiskFaults(home);

test.skipIf(disk.missing !== "")(
  `O5: a stop while the store cannot commit ends within its bound${disk.missing}`,
  async () => {
    await staysWithin(SHUTDOWN_MS + BESIDE_MS, async () => {
      const { child, ended, answer } = await stuckGateway(disk);
      const ms = await tookMs(() => {
        child.kill("SIGTERM");
        return ended;
      });
      expect((await ended).code).toBe(1);
      await answer;
      return ms;
    });
  },
);

test("a stop does not wait for readers of the tail", async () => {
  await staysWithin(WITH_READERS_MS, async () => {
    const gateway = await testGateway({ engine: true });
    const answer = await fetch(`${gateway.url}/v1/requests/tail`, {
      headers: { authorization: `Bearer ${gateway.liveKey}` },
    });
    const ms = await tookMs(() => gateway.stop());
    await expect(answer.text()).rejects.toThrow();
    return ms;
  });
});
