/** O5: a stop ends within `timeouts.shutdown_ms`, whatever hangs, and says what it waited for and what is lost. */
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { StopTime } from "../../../src/host/gateway/stop-time.ts";
import { compileDiskFaults } from "../../support/disk-faults.fixtures.ts";
import { removeFolder } from "../../support/gateway.ts";
import { stuckGateway } from "../../support/stuck-disk.fixtures.ts";
import { until } from "../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-stop-"));
afterAll(() => removeFolder(home));
const disk = compileDiskFaults(home);
/** Far more than it takes to commit again: it is no bound of what is shown. */
const LONG_MS = 60_000;
const lastLine = (output: string) => JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");

test.skipIf(disk.missing !== "")(
  `O5: SIGTERM while the store cannot commit: exit 1 within the bound, with what is unsaved${disk.missing}`,
  async () => {
    const { child, ended, output, answer } = await stuckGateway(disk);
    child.kill("SIGTERM");
    // By itself: the disk takes nothing as long as the process lives. Within what time: test/timed/host/stop.test.ts.
    expect(await ended).toEqual({ code: 1, signal: null });
    const { msg, unsaved, err } = lastLine(output());
    expect(msg).toBe("stopped by SIGTERM, but not cleanly");
    expect(unsaved).toMatchObject({ calls: 1 });
    expect(unsaved.writes).toBeGreaterThan(0);
    expect(err.message).toContain("calls to be settled");
    await answer;
  },
  120_000,
);

test.skipIf(disk.missing !== "")(
  `O5: a store that commits again within the bound saves everything, and the exit is clean${disk.missing}`,
  async () => {
    const { child, ended, output, answer, where } = await stuckGateway(disk, LONG_MS);
    child.kill("SIGTERM");
    await until("it is stopping", () => output().includes("stopping: SIGTERM came"));
    disk.set();
    expect((await ended).code).toBe(0);
    expect(await answer).toContain("[DONE]");
    expect(lastLine(output()).msg).toBe("stopped by SIGTERM: everything is saved");
    expect(readdirSync(where.dataDir)).toContain("weir.lmdb");
  },
  120_000,
);

test("O5: a part that never ends is named, and leaves time for the last one", async () => {
  const never = new Promise<void>(() => {});
  const waited = async () => {
    const made = new StopTime(200);
    await made.wait("the engine", never);
    return made;
  };
  // A machine that stands still for a tenth of a second takes the time that was left: the part is waited for anew.
  const stopTime = await until("time is left", waited, ({ leftMs }) => leftMs > 0);
  await stopTime.wait("the pool", Promise.resolve());
  await stopTime.wait("the store", never, true);
  // A timer may fire a moment before its time.
  expect(stopTime.leftMs).toBeLessThan(5);
  expect(() => stopTime.finish()).toThrow(
    "timeouts.shutdown_ms passed while waiting for the engine, the store",
  );
});

test("O5: what a part fails with is told, also after its time", async () => {
  const stopTime = new StopTime(50);
  await expect(stopTime.wait("the store", Promise.reject(new Error("no space left")))).rejects.toThrow(
    "no space left",
  );
  const { promise, reject } = Promise.withResolvers<void>();
  await stopTime.wait("the engine", promise, true);
  // Nobody waits for it any more: it must not end the process.
  reject(new Error("too late"));
  expect(() => stopTime.finish()).toThrow("the engine");
});
