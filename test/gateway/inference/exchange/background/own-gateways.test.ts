/** Background responses where the org keeps nothing, or has no room, and at a gateway that stops. */
import { describe, expect, test } from "vitest";
import { begin, ENDLESS, ENDPOINTS, endOf, hasSaid } from "../../../../support/background/fixtures.ts";
import { type Answer, removeFolder, seededFolder, testGateway } from "../../../../support/gateway.ts";
import { addOrgs } from "../../../../support/money/orgs.ts";

const errorOf = ({ status, json }: Answer) => ({ status, ...json.error });

describe("where nothing may be kept", () => {
  test("by the org's data policy it is refused, and the error names what to do", async () => {
    const folder = await seededFolder(() => {});
    const creditMicroUsd = 50_000_000;
    const orgs = await addOrgs(folder, {
      off: { creditMicroUsd, dataPolicy: { logging: "off" } },
      metadata: { creditMicroUsd, dataPolicy: { logging: "metadata" } },
      brief: { creditMicroUsd, dataPolicy: { retentionDays: 0 } },
      zdr: { creditMicroUsd, dataPolicy: { zdr: true } },
    });
    const other = await testGateway({ endpoints: ENDPOINTS, folder });
    try {
      for (const [name, key] of Object.entries(orgs)) {
        const refused = await begin(other, {}, { key });
        expect(errorOf(refused), name).toMatchObject({
          status: 400,
          param: "/background",
          message: expect.stringMatching(
            /(keeps no payloads|zero data retention).*svc\.on_disconnect "detach"/,
          ),
        });
      }
      expect(other.simulator.totalCalls).toBe(0);
    } finally {
      await other.stop();
      removeFolder(folder);
    }
  });

  test("as the org's quota is full, it is refused likewise", async () => {
    const other = await testGateway({
      endpoints: ENDPOINTS,
      settings: { limits: { max_kept_bytes: 40_000, max_stored_answer_bytes: 20_000 } },
    });
    try {
      const answers: number[] = [];
      let last = await begin(other, { max_output_tokens: 20 });
      for (let at = 0; at < 50 && last.status === 200; at++) {
        answers.push(last.status);
        await endOf(other, last.json.id);
        last = await begin(other, { max_output_tokens: 20 });
      }
      expect(answers.length).toBeGreaterThan(1);
      expect(errorOf(last)).toMatchObject({
        status: 403,
        code: "plan_limit",
        param: "/background",
        message: expect.stringContaining('svc.on_disconnect "detach"'),
      });
      const { kept } = (await other.call("GET", "/v1/limits")).json;
      expect(kept.live.bytes).toBeLessThanOrEqual(40_000);
    } finally {
      await other.stop();
    }
  });
});

test("a stop waits for it within its time, and then ends it as failed", async () => {
  const first = await testGateway({
    endpoints: ENDPOINTS,
    settings: { timeouts: { shutdown_ms: 5000 } },
    folder: await seededFolder(() => {}),
  });
  const { json } = await begin(first, { input: ENDLESS });
  await hasSaid(first, json.id, 6);
  await first.stop();
  const second = await testGateway({ endpoints: ENDPOINTS, folder: first.folder });
  try {
    const { json: ended } = await second.call("GET", `/v1/responses/${json.id}`);
    expect(ended).toMatchObject({ status: "failed", error: { code: "shutting_down" } });
    expect(ended.svc.cost.total_micro_usd).toBeGreaterThan(0);
  } finally {
    await second.stop();
    removeFolder(first.folder);
  }
});
