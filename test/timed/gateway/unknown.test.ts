/** Within what time a cell answers a credential that it cannot ask Redis about. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { BY_CREDENTIAL, LateCell } from "../../cells/gateway/late-cell.ts";
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

test.skipIf(missing).each(BY_CREDENTIAL)(
  "%s with an unknown credential is soon told that Redis is away",
  async (_, call) => {
    await staysWithin(MOST_MS, async () => {
      const unknown = await late.unknownTo(call);
      late.proxy.pause();
      const ms = await tookMs(async () => expect((await call(late, unknown)).status).toBe(503));
      late.proxy.resume();
      return ms;
    });
  },
);
