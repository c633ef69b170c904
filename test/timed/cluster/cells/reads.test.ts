/**
 * Reads that wait for no cell that cannot answer. One that did would wait for about a second; the best of some tries counts, because
 * the machine may be late.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../../../src/cluster/cells/exchange/exchange.ts";
import { retire } from "../../../../src/cluster/cells/membership/registry.ts";
import { connectRedis } from "../../../../src/cluster/cells/redis/redis.ts";
import { LateCell } from "../../../cells/host/late-cell.ts";
import { RecordCells } from "../../../cells/host/records-rig.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { until } from "../../../support/wait.ts";
import { staysWithin, tookMs } from "../../within.ts";

const missing = missingRedis();
/** A read waits for a cell that is taken to run for a second at most. */
const AT_ONCE_MS = 900;
/** All cells are asked, each for a second at most. */
const ALL_ASKED_MS = 3000;
const UNKNOWN = "/v1/requests/01KAAAAAAAAAAAAAAAAAAAAAAA";

let all: RecordCells;
let late: LateCell;
beforeAll(async () => {
  if (missing !== undefined) return;
  all = await RecordCells.open();
  late = await LateCell.open();
});
afterAll(async () => {
  await late?.stop();
  await all?.stop();
});

test.skipIf(missing)(
  "reads do not wait for a cell that was killed, and say from when calls may be missing",
  async () => {
    const [cell = ""] = all.urls;
    const link = connectRedis({ url: all.gateway.redis?.url ?? "", log: { warn() {} } });
    await link.ready(5000);
    const id = String(await link.call("HGET", "{weir}:dataset", "id"));
    let killed = 0;
    /** A cell could learn from one read that waited in vain: each try is the first with another killed cell. */
    const kill = async () => {
      const session = new Session({ link, cell: `killed${++killed}`, datasetId: id, onEnd() {} });
      await session.start();
      await session.lane("beat").send([["beat", 0, Date.parse("2026-01-02T03:04:05Z")]]);
    };
    const since = async (path: string, isKilled: boolean) => {
      let incompleteSince: string | undefined;
      const read = async () => {
        const { http, incomplete_since } = await all.read(cell, path);
        expect(http).toBe(200);
        incompleteSince = incomplete_since;
      };
      await staysWithin(AT_ONCE_MS, async () => {
        if (isKilled) await kill();
        return await tookMs(read);
      });
      return incompleteSince;
    };
    for (const path of ["/v1/usage?range=24h", "/v1/requests"])
      expect(await since(path, true)).toMatch(/^2026-01-02T03:04:05/);
    const unknown = async () => {
      const { http, error } = await all.read(cell, UNKNOWN);
      return [http, error?.code, error?.details?.incomplete_since];
    };
    await until("it is not taken to run any more", async () => (await unknown())[0] === 404);
    expect(await unknown()).toEqual([404, "not_found", "2026-01-02T03:04:05.000Z"]);
    for (; killed > 0; killed--) expect(await retire(link, id, `killed${killed}`, 0)).toBe(true);
    expect(await unknown()).toEqual([404, "not_found", undefined]);
    for (const path of ["/v1/usage?range=24h", "/v1/requests"])
      expect(await since(path, false)).toBeUndefined();
    link.close();
  },
);

test.skipIf(missing)("an id that no cell knows is 404, within a moment", async () => {
  const [cell = ""] = all.urls;
  const read = async () => expect((await all.read(cell, UNKNOWN)).http).toBe(404);
  await staysWithin(ALL_ASKED_MS, () => tookMs(read));
});

test.skipIf(missing)("a cell that is away from Redis for some seconds reads what it has", async () => {
  await late.isWell();
  late.proxy.refuse(true);
  await until("no cell waits for it", async () => (await late.series("weir_cell_beat_age_seconds")) > 2);
  const read = async () => expect((await late.ask(1, "GET", "/v1/keys")).status).toBe(200);
  await staysWithin(AT_ONCE_MS, () => tookMs(read));
  late.proxy.refuse(false);
  await late.isWell();
});
