/**
 * C14: fifty streams of 64,000 tokens at $15 a million on a dollar, over three cells, of which each call goes to the next one: in all
 * modes, and the balance is never below zero.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTurn, known } from "../../support/cells/known.ts";
import {
  type Answer,
  removeFolder,
  seededFolder,
  type TestCalls,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { auditedLedger, chargesOf, idle, sum } from "../../support/money/fixtures.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
const CELLS = 3;
/** Micro-USD. */
const DOLLAR = 1_000_000;
const OUTPUT = 15;
const AT_ONCE = 50;
const LONG_MS = 120_000;
const ORGS = ["full", "fitted", "mixed"] as const;
type Org = (typeof ORGS)[number];

const BODY = {
  model: "test/model",
  messages: [{ role: "user", content: "Go on." }],
  stream: true,
  max_tokens: 64_000,
  simulator: { tokens: 16, first_ms: 5 },
};
const PATIENT = { hold: "fit", hold_wait_ms: LONG_MS };
const isAnswered = ({ text }: Answer): boolean => text.endsWith("data: [DONE]\n\n");

describe.skipIf(missing !== undefined)(
  `holds over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let folder: string;
    let gateway: TestGateway;
    let nextCell: () => TestCalls;
    let keys: Record<Org, string>;
    beforeAll(async () => {
      folder = await seededFolder(() => {});
      const credit = { creditMicroUsd: DOLLAR };
      keys = await addOrgs<Org>(folder, { full: credit, fitted: credit, mixed: credit });
      gateway = await testGateway({
        folder,
        cells: CELLS,
        endpoints: [{ provider: "good", price: { input: 1, output: OUTPUT } }],
      });
      nextCell = inTurn(gateway);
    });
    afterAll(async () => {
      await gateway?.stop();
      removeFolder(folder);
    });

    const booksOf = (org: Org) => ({
      call: (method: string, path: string, more: object = {}) =>
        known(() => gateway.call(method, path, { key: keys[org], ...more })),
    });

    async function balanceOf(org: Org): Promise<number> {
      const { json } = await booksOf(org).call("GET", "/v1/credits");
      expect(json.available_micro_usd).toBeGreaterThanOrEqual(0);
      return json.available_micro_usd;
    }

    async function atOnce(org: Org, bodies: readonly object[]): Promise<Answer[]> {
      let isOver = false;
      const calls = bodies.map((body) => {
        const cell = nextCell();
        return known(() => cell.chat({ ...body }, { key: keys[org] }));
      });
      const all = Promise.all(calls).finally(() => {
        isOver = true;
      });
      while (!isOver) await balanceOf(org);
      const answers = await all;
      await idle(gateway);
      const charged = sum(chargesOf(await auditedLedger(booksOf(org))).values());
      await until(
        "what is charged is off the balance",
        () => balanceOf(org),
        (left) => left === DOLLAR - charged,
      );
      return answers;
    }

    test("in full, some are refused with money left", async () => {
      const answers = await atOnce("full", Array(AT_ONCE).fill(BODY));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));
      expect(await balanceOf("full")).toBeGreaterThan(DOLLAR * 0.9);
    });

    test("fitted and waiting, all are answered", async () => {
      const answers = await atOnce("fitted", Array(AT_ONCE).fill({ ...BODY, svc: PATIENT }));
      expect(answers.filter(isAnswered)).toHaveLength(AT_ONCE);
    });

    test("in all modes together, whoever waits is answered", async () => {
      const kinds: readonly object[] = [
        { svc: PATIENT },
        { svc: { hold_wait_ms: LONG_MS } },
        { svc: PATIENT, n: 3 },
        { svc: { hold: "fit" }, stream: false },
        { stream: false },
      ];
      const bodies = Array.from({ length: AT_ONCE }, (_, index) => ({
        ...BODY,
        ...kinds[index % kinds.length],
      }));
      const answers = await atOnce("mixed", bodies);
      for (const [index, answer] of answers.entries()) {
        const isPatient = JSON.stringify(bodies[index]).includes("hold_wait_ms");
        if (isPatient) expect(isAnswered(answer), answer.text).toBe(true);
        else expect([200, 402], answer.text).toContain(answer.status);
      }
    });
  },
);
