/** What limits cost Redis: its processor time and the questions of eight cells, for calls below the limit. In a thorough run only. */
import { describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import { openLimitsRig } from "./limits-rig.ts";

const isLeftOut = process.env.WEIR_THOROUGH === undefined || missingRedis() !== undefined;

describe.skipIf(isLeftOut)("Redis's share of a thousand admissions", () => {
  test.each([
    [{ rpm: 100 }, 90, 2],
    [{ rpm: 10_000 }, 9000, 1],
    [{ rpm: 10_000, tpm: 10_000_000, concurrency: 10_000 }, 9000, 1],
    [{ concurrency: 100 }, 3000, 1],
    // Far from the limits, by busy cells and by others.
    [{ rpm: 3_000_000, tpm: 3_000_000_000, concurrency: 10_000 }, 9000, 1],
    [{ rpm: 3_000_000, tpm: 3_000_000_000, concurrency: 10_000 }, 300, 1],
  ])("is measured at %j with %i calls a minute", async (limits, perMinute, minutes) => {
    const rig = await openLimitsRig();
    const cells = await rig.eight();
    const key = { keyId: "cost", limits };
    const spent = async () => {
      const cpu = String(await rig.link.call("INFO", "cpu"));
      const seconds = (name: string) => Number(new RegExp(`used_cpu_${name}:([0-9.]+)`).exec(cpu)?.[1]);
      const stats = String(await rig.link.call("INFO", "commandstats"));
      const scriptUs = Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(stats)?.[1] ?? 0);
      return { cpuMs: (seconds("user") + seconds("sys")) * 1000, scriptMs: scriptUs / 1000 };
    };
    const exchangesOf = () => cells.reduce((sum, { exchanges }) => sum + exchanges, 0);
    let admitted = 0;
    let waited = 0;
    const before = await spent();
    const startExchanges = exchangesOf();
    const everyMs = 60_000 / perMinute;
    const stepMs = Math.max(5, everyMs);
    let nextMs = rig.nowMs();
    for (const endMs = rig.nowMs() + minutes * 60_000; rig.nowMs() < endMs; await rig.pass(stepMs, stepMs)) {
      for (; nextMs <= rig.nowMs(); nextMs += everyMs) {
        const cell = cells[(admitted + 1) % 8] as (typeof cells)[number];
        const answer = cell.limits.admit(key, 300);
        if (answer instanceof Promise) waited++;
        const known = answer instanceof Promise ? await answer : answer;
        expect(known.admitted).toBe(true);
        if (known.admitted) known.release();
        admitted++;
      }
    }
    const perThousand = (n: number) => Number(((n / admitted) * 1000).toFixed(1));
    const after = await spent();
    const figures = {
      limits,
      admitted,
      // With the commands that set the test's clock.
      redisCpuMs: perThousand(after.cpuMs - before.cpuMs),
      scriptMs: perThousand(after.scriptMs - before.scriptMs),
      exchanges: perThousand(exchangesOf() - startExchanges),
      waited: perThousand(waited),
    };
    console.log(JSON.stringify(figures));
    expect(figures.redisCpuMs).toBeLessThan(1000);
    await rig.close();
  });
});
