/** Calls while Redis does not answer: what cannot be known is a refusal, what was delivered is charged, and nothing stays held. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import { auditedLedger, chargesOf } from "../../support/money/fixtures.ts";
import { missingRedis, type TestRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
/** Micro-USD a token, out. */
const OUTPUT = 5;
const UNLIMITED = { rpm: 0, tpm: 0, concurrency: 0, keys: 10, projects: 10, auto_approve: 1 };
let gateway: TestGateway;
let redis: TestRedis;
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({
    cells: 2,
    engine: true,
    endpoints: [{ provider: "good", price: { input: 1, output: OUTPUT } }],
    plans: [{ id: "local", name: "Local", limits: UNLIMITED }],
    settings: { limits: { default_max_tokens: 20 } },
  });
  redis = gateway.redis as TestRedis;
});
afterAll(async () => {
  redis?.resume();
  await gateway?.stop();
});

const common = { model: "test/model", messages: [{ role: "user", content: "Hold on." }] };
/** Without a bound a whole answer holds 100,000 tokens, and a cell that has not given them back has credit for minutes of a stream. */
const short = { ...common, max_tokens: 20 };
const NAMES = ["weir_slots_taken", "weir_holds_open", "weir_budget_holds_open", "weir_calls_live"];

/** The gauges of each cell that are not 0 with no call under way. */
const held = async (): Promise<string[]> => {
  const pages = await Promise.all(
    (gateway.cellUrls ?? []).map(async (cell) => await (await fetch(`${cell}/metrics`)).text()),
  );
  return pages.flatMap((page) =>
    page
      .split("\n")
      .filter((line) => NAMES.some((name) => line.startsWith(`${name}{`)) && !line.endsWith(" 0")),
  );
};

test.skipIf(missing)(
  "a call whose credit cannot be looked up is refused, and has no slot any more",
  async () => {
    redis.pause();
    for (let n = 0; n < 4; n++) {
      const { status, json } = await gateway.chat(short);
      expect([status, json.error.code]).toEqual([503, "storage_unavailable"]);
    }
    redis.resume();
    await until("nothing is held", async () => (await held()).length === 0).catch(async () =>
      expect(await held()).toEqual([]),
    );
  },
);

test.skipIf(missing)(
  "a stream whose credit cannot be extended ends, and what was delivered is charged",
  async () => {
    let made = 0;
    const answered = async () => {
      const isGood = (await gateway.chat(short)).status === 200;
      if (isGood) made++;
      return isGood;
    };
    await until("both cells admit calls again", async () => (await answered()) && (await answered()));
    /** A list waits for charges of other cells for a second: where they are late it adds up a moment later. */
    const charged = (count: number) =>
      until(
        `${count} calls are charged`,
        async () => [...chargesOf(await auditedLedger(gateway)).values()],
        ({ length }) => length === count,
      );
    await charged(made);
    const body = { ...common, stream: true, simulator: { tokens: 100_000, gap_ms: 2 } };
    const stream = gateway.chat(body);
    await until("it is under way", () => gateway.simulator.openCalls === 1);
    redis.pause();
    const { text } = await stream;
    redis.resume();
    const last = sseData(text).at(-1);
    expect(last).toMatchObject({ error: { code: "storage_unavailable" } });
    const delivered = sseData(text).filter((event) => JSON.stringify(event).includes('"content":"'));
    expect(delivered.length).toBeGreaterThan(10);
    await until("nothing is held", async () => (await held()).length === 0).catch(async () =>
      expect(await held()).toEqual([]),
    );
    const charges = await charged(made + 1);
    expect(Math.max(...charges)).toBeGreaterThan((delivered.length - 5) * OUTPUT);
  },
);
