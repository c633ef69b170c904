/** A whole gateway under a clock that is set ahead, set back and corrected, in one life of it and over restarts. */
import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { seededFolder, type TestGateway, testGateway } from "../../../support/gateway.ts";

const DAY = 86_400_000;
let folder: string;
let gateway: TestGateway;
const trueNow = Date.now.bind(Date);
/** What the clock says beyond the truth. */
let lieMs = 0;

const start = async () => {
  gateway = await testGateway({
    folder,
    endpoints: [{ provider: "paid", isReal: true, price: { input: 1, output: 1_000 } }],
  });
};
const restart = async () => {
  await gateway.stop();
  await start();
};

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  folder = await seededFolder(() => {});
  await start();
});
afterEach(() => {
  lieMs = 0;
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A key whose daily budget is less than two calls cost. */
async function keyOfOneCall(): Promise<string> {
  const budget = { daily_micro: 20_000, hard: true };
  const { json } = await gateway.call("POST", "/v1/keys", { body: { name: "one call", budget } });
  return json.secret;
}
const ask = (key: string) => gateway.chat({ model: "test/model", max_tokens: 16 }, { key });

/** Milliseconds until the next midnight in UTC, the first org's zone. */
const untilMidnight = () => DAY - (trueNow() % DAY);

describe.each([
  ["in one life", async () => {}],
  ["over restarts", restart],
])("%s", (_, between) => {
  test("O6: a hard daily budget that is spent stays so when the clock was ahead, and opens at resets_at", async () => {
    const [key, unused] = [await keyOfOneCall(), await keyOfOneCall()];
    for (const one of [key, unused]) expect((await ask(one)).status).toBe(200);
    expect((await ask(key)).status).toBe(402);
    lieMs = 3 * DAY;
    await between();
    expect((await ask(key)).status).toBe(200);
    lieMs = 0;
    await between();
    for (const one of [key, unused]) {
      const refused = await ask(one);
      expect([refused.status, refused.json.error.code]).toEqual([402, "budget_exceeded"]);
      const resetsAt = Date.parse(refused.json.error.details.resets_at);
      expect(resetsAt % DAY).toBe(0);
      expect(resetsAt - trueNow()).toBeLessThanOrEqual(DAY);
    }
    lieMs = untilMidnight() + 1_000;
    await between();
    for (const one of [key, unused]) expect((await ask(one)).status).toBe(200);
  });

  test("O6: nor does a clock that was back open it", async () => {
    const key = await keyOfOneCall();
    expect((await ask(key)).status).toBe(200);
    lieMs = -3 * DAY;
    await between();
    expect((await ask(key)).status).toBe(402);
    lieMs = 0;
    await between();
    expect((await ask(key)).status).toBe(402);
  });
});

test("O6: ids take the time of the corrected clock again", async () => {
  const idOf = async () => (await gateway.call("GET", "/healthz")).headers.get("x-svc-request-id") ?? "";
  lieMs = 365 * DAY;
  const ahead = await idOf();
  lieMs = 0;
  const [one, two] = [await idOf(), await idOf()];
  expect(one < ahead && one < two).toBe(true);
});
