/** Budgets over three cells, of which each call goes to the next one. */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTurn, known } from "../../support/cells/known.ts";
import { type TestCalls, type TestGateway, testGateway } from "../../support/gateway.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { equals, until } from "../../support/wait.ts";

const missing = missingRedis();
const CELLS = 3;
const BODY = { max_tokens: 10 };

describe.skipIf(missing !== undefined)(
  `budgets over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let gateway: TestGateway;
    let nextCell: () => TestCalls;
    /** What one call costs, micro-USD. */
    let cost: number;
    beforeAll(async () => {
      gateway = await testGateway({ cells: CELLS });
      nextCell = inTurn(gateway);
      const { id, secret } = await newKey({});
      expect((await decided(secret)).status).toBe(200);
      cost = await until(
        "the call is counted",
        () => spendOf(id),
        (spent) => spent > 0,
      );
    });
    afterAll(() => gateway.stop());

    const newKey = async (body: object) =>
      (await gateway.call("POST", "/v1/keys", { body: { name: "k", ...body } })).json;
    const decided = (key: string) => {
      const cell = nextCell();
      return known(() => cell.chat(BODY, { key }));
    };
    const limits = async () => {
      const cell = nextCell();
      return (await known(() => cell.call("GET", "/v1/limits"))).json;
    };
    /** Charges come to the count a moment after their calls, in one that is later than usual where the machine is. */
    const counted = (id: string, microUsd: number) =>
      until("all calls are counted", () => spendOf(id), equals(microUsd));
    const spendOf = async (id: string): Promise<number> =>
      (await limits()).keys.find((key: { key_id: string }) => key.key_id === id).spend_today_micro;
    const eventsOf = async (id: string) =>
      (await gateway.call("GET", "/v1/events?type=budget.exceeded")).json.data.filter(
        ({ data }: { data: { key_id: string } }) => data.key_id === id,
      );

    test("a hard budget is never exceeded by calls at once at all cells, and then spent to its end", async () => {
      const daily_micro = cost * 40;
      const { id, secret } = await newKey({ budget: { daily_micro, hard: true } });
      const atOnce = await Promise.all(Array.from({ length: 200 }, () => decided(secret)));
      const refused = atOnce.filter(({ status }) => status !== 200);
      for (const { status, json } of refused)
        expect([status, json.error.code, json.error.details.budget]).toEqual([
          402,
          "budget_exceeded",
          "key_daily",
        ]);
      expect(refused.length).toBeGreaterThanOrEqual(160);
      // Holds are above what calls cost: there is room until a call's worst case does not fit any more.
      let made = atOnce.length - refused.length;
      const isSpent = async () => {
        const { status, json } = await decided(secret);
        if (status === 200) made++;
        // What another cell holds is told a moment after it was freed.
        return status === 402 && json.error.details.held_micro === 0;
      };
      await until("a call is refused that nothing but the spend leaves no room for", isSpent);
      const spent = made * cost;
      await counted(id, spent);
      expect(spent).toBeLessThanOrEqual(daily_micro);
      expect(spent).toBeGreaterThan(daily_micro - 10 * cost);
      await until("it is told", async () => (await eventsOf(id)).length > 0);
      for (let n = 0; n < CELLS; n++) await decided(secret);
      expect((await eventsOf(id)).map(({ data }: { data: { hard: boolean } }) => data.hard)).toEqual([true]);
    });

    test("a soft budget is told of once, whichever cells the calls went to", async () => {
      const { id, secret } = await newKey({ budget: { daily_micro: cost * 3, hard: false } });
      for (let n = 0; n < 9; n++) expect((await decided(secret)).status).toBe(200);
      await until("it is told", async () => (await eventsOf(id)).length > 0);
      const [{ data }, ...more] = await eventsOf(id);
      expect(more).toEqual([]);
      expect(data).toMatchObject({ budget: "key_daily", limit_micro: cost * 3, hard: false });
      expect(data.spent_micro).toBeGreaterThan(cost * 3);
      // What the next test sees before its own calls is all there is.
      await counted(id, cost * 9);
    });

    test("every cell shows the spend of all", async () => {
      const spent = cost * 2 * CELLS;
      /** Whether the first read of each shows it. */
      const isShownAtOnce = async (): Promise<boolean> => {
        const { id, secret } = await newKey({});
        const before = (await limits()).org.spend_month_micro;
        for (let n = 0; n < 2 * CELLS; n++) expect((await decided(secret)).status).toBe(200);
        const shown = async () => {
          const all: number[][] = [];
          for (let n = 0; n < CELLS; n++) {
            // In one answer the spend of the org may be older than that of the key.
            all.push([await spendOf(id), (await limits()).org.spend_month_micro]);
          }
          return all;
        };
        const wanted = Array(CELLS).fill([spent, before + spent]);
        if (isDeepStrictEqual(await shown(), wanted)) return true;
        await until("each shows it", shown, equals(wanted));
        return false;
      };
      expect(await holdsUnlessCrowded(isShownAtOnce)).toBe(true);
    });
  },
);
