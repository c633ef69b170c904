/** Budgets over three cells behind a proxy that gives each call to the next one. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
const CELLS = 3;
const BODY = { max_tokens: 10 };

describe.skipIf(missing !== undefined)(
  `budgets over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let gateway: TestGateway;
    /** What one call costs, micro-USD. */
    let cost: number;
    beforeAll(async () => {
      gateway = await testGateway({ cells: CELLS });
      const { id, secret } = await newKey({});
      expect((await gateway.chat(BODY, { key: secret })).status).toBe(200);
      cost = await spendOf(id);
      expect(cost).toBeGreaterThan(0);
    });
    afterAll(() => gateway.stop());

    const newKey = async (body: object) =>
      (await gateway.call("POST", "/v1/keys", { body: { name: "k", ...body } })).json;
    const limits = async () => (await gateway.call("GET", "/v1/limits")).json;
    const spendOf = async (id: string): Promise<number> =>
      (await limits()).keys.find((key: { key_id: string }) => key.key_id === id).spend_today_micro;
    const eventsOf = async (id: string) =>
      (await gateway.call("GET", "/v1/events?type=budget.exceeded")).json.data.filter(
        ({ data }: { data: { key_id: string } }) => data.key_id === id,
      );

    test("a hard budget is never exceeded by calls at once at all cells, and then spent to its end", async () => {
      const daily_micro = cost * 40;
      const { id, secret } = await newKey({ budget: { daily_micro, hard: true } });
      const atOnce = await Promise.all(
        Array.from({ length: 200 }, () => gateway.chat(BODY, { key: secret })),
      );
      const refused = atOnce.filter(({ status }) => status !== 200);
      for (const { status, json } of refused)
        expect([status, json.error.code, json.error.details.budget]).toEqual([
          ...[402, "budget_exceeded", "key_daily"],
        ]);
      expect(refused.length).toBeGreaterThanOrEqual(160);
      // Holds are above what calls cost: there is room until a call's worst case does not fit any more.
      let last = 0;
      for (let n = 0; n < 60 && last !== 402; n++) last = (await gateway.chat(BODY, { key: secret })).status;
      expect(last).toBe(402);
      const spent = await spendOf(id);
      expect(spent).toBeLessThanOrEqual(daily_micro);
      expect(spent).toBeGreaterThan(daily_micro - 10 * cost);
      await until("it is told", async () => (await eventsOf(id)).length > 0);
      for (let n = 0; n < CELLS; n++) await gateway.chat(BODY, { key: secret });
      expect((await eventsOf(id)).map(({ data }: { data: { hard: boolean } }) => data.hard)).toEqual([true]);
    });

    test("a soft budget is told of once, whichever cells the calls went to", async () => {
      const { id, secret } = await newKey({ budget: { daily_micro: cost * 3, hard: false } });
      for (let n = 0; n < 9; n++) expect((await gateway.chat(BODY, { key: secret })).status).toBe(200);
      await until("it is told", async () => (await eventsOf(id)).length > 0);
      const [{ data }, ...more] = await eventsOf(id);
      expect(more).toEqual([]);
      expect(data).toMatchObject({ budget: "key_daily", limit_micro: cost * 3, hard: false });
      expect(data.spent_micro).toBeGreaterThan(cost * 3);
    });

    test("every cell shows the spend of all", async () => {
      const { id, secret } = await newKey({});
      const before = (await limits()).org.spend_month_micro;
      for (let n = 0; n < 2 * CELLS; n++) await gateway.chat(BODY, { key: secret });
      for (let n = 0; n < CELLS; n++) {
        expect(await spendOf(id)).toBe(cost * 2 * CELLS);
        expect((await limits()).org.spend_month_micro).toBe(before + cost * 2 * CELLS);
      }
    });
  },
);
