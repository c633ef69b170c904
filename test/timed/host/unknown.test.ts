/** Within what time a cell answers a credential that it cannot ask Redis about, and how often unknown ones have it ask. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newSecret } from "../../../src/account/secret.ts";
import { BY_CREDENTIAL, BY_KEY, LateCell } from "../../cells/host/late-cell.ts";
import { rest } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { staysWithin, tookMs } from "../within.ts";

const missing = missingRedis();
/** A cell asks Redis for a second; a client waits ten of them at the most. */
const MOST_MS = 10_000;

let late: LateCell;
beforeAll(async () => {
  if (missing === undefined) late = await LateCell.open();
});
afterAll(() => late?.stop());

test.skipIf(missing)("every kind of unknown credential is soon told that Redis is away", async () => {
  await staysWithin(MOST_MS, async () => {
    const unknown = await Promise.all(BY_CREDENTIAL.map(([, call]) => late.unknownTo(call)));
    late.proxy.pause();
    const took = await Promise.all(
      BY_CREDENTIAL.map(([what, call], at) =>
        tookMs(async () => expect((await call(late, unknown[at] ?? "")).status, what).toBe(503)),
      ),
    );
    late.proxy.resume();
    return Math.max(...took);
  });
});

/** Beyond those for beats and merged rows, which a cell without calls has: a loaded one has fewer. */
const MOST_OF_MISTYPED = 2;
const MOST_LOOKS_A_SECOND = 5;
const WINDOW_MS = 2000;

test.skipIf(missing)(
  "a flood of unknown keys costs Redis a few looks a second, one of mistyped keys none",
  async () => {
    await late.isWell();
    const exchanges = () => late.series("weir_cell_exchange_seconds_count");
    const rateBeside = async (act: () => Promise<unknown>) => {
      const [before, fromMs] = [await exchanges(), performance.now()];
      await act();
      return (((await exchanges()) - before) / (performance.now() - fromMs)) * 1000;
    };
    const flood = async (keyOf: () => string) => {
      let refused = 0;
      const rate = await rateBeside(async () => {
        for (const fromMs = performance.now(); performance.now() - fromMs < WINDOW_MS; ) {
          const calls = Array.from({ length: 25 }, () =>
            BY_KEY.map(([, call]) => call(late, keyOf())),
          ).flat();
          for (const { status } of await Promise.all(calls)) expect([401, 503]).toContain(status);
          refused += calls.length;
        }
      });
      console.log(`${refused} keys were refused beside ${rate.toFixed(1)} exchanges a second`);
      return rate;
    };
    const mistyped = () => newSecret("live").replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    let [idle, ofMistyped, ofUnknown] = [Number.NaN, Number.NaN, Number.NaN];
    const areFew = () => ofMistyped < idle + MOST_OF_MISTYPED && ofUnknown < idle + MOST_LOOKS_A_SECOND;
    // The best of three: a cell that was late asks for all that it missed at once.
    for (let tries = 0; tries < 3 && !areFew(); tries++) {
      idle = await rateBeside(() => rest(WINDOW_MS));
      ofMistyped = await flood(mistyped);
      ofUnknown = await flood(() => newSecret("live"));
    }
    expect(areFew(), `${[idle, ofMistyped, ofUnknown]} exchanges a second`).toBe(true);
  },
);
