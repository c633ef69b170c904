/** What an operator changes at one cell is in force at all of them within a second, beside calls at every cell. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { rest } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";

const missing = missingRedis();
const CELLS = amount(8, 3);
/** Changes of each kind, in thorough runs 1,000 together. */
const CHANGES = amount(334, 12);
/** 99.9 of 100. */
const PROMISED_MS = 1000;

interface Change {
  /** When its request was sent. */
  readonly sentMs: number;
  /** When the last cell went by it, measured from there. */
  readonly tookMs: number;
}

describe.skipIf(missing !== undefined)(
  `changes over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let gateway: TestGateway;
    let cells: readonly string[] = [];
    let isOver = false;
    let calls: Promise<unknown>[] = [];
    const answered = { good: 0, bad: [] as number[] };
    beforeAll(async () => {
      gateway = await testGateway({
        cells: CELLS,
        endpoints: [{ provider: "alpha" }, { provider: "beta" }],
      });
      cells = gateway.cellUrls ?? [];
      calls = cells.map(async (cell) => {
        while (!isOver) {
          const { status } = await chat(cell, gateway.testKey);
          if (status === 200) answered.good++;
          else answered.bad.push(status);
          await rest(10);
        }
      });
    });
    afterAll(async () => {
      isOver = true;
      await Promise.all(calls);
      await gateway.stop();
    });

    const ask = async (cell: string, method: string, path: string, body?: object, key = gateway.liveKey) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const sent = body && { body: JSON.stringify(body) };
      const answer = await httpCall(method, `${cell}${path}`, { headers, ...sent, withinMs: 10_000 });
      if (answer === undefined) throw new Error(`no answer to ${method} ${path}`);
      return answer;
    };
    const chat = (cell: string, key: string, model = "weir/sim-small") =>
      ask(
        cell,
        "POST",
        "/v1/chat/completions",
        { model, max_tokens: 2, messages: [{ role: "user", content: "Hi" }] },
        key,
      );
    const done = async (method: string, path: string, body: object | undefined, at: string) => {
      const answer = await ask(at, method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.text === "" ? {} : JSON.parse(answer.text);
    };

    /** From the request of the change until a call at each cell has gone by it. */
    async function timed(change: () => Promise<unknown>, isInForce: (cell: string) => Promise<boolean>) {
      const sentMs = performance.now();
      const changing = change();
      const seen = cells.map(async (cell) => {
        while (!(await isInForce(cell))) await rest(2);
        return performance.now() - sentMs;
      });
      await changing;
      return { sentMs, tookMs: Math.max(...(await Promise.all(seen))) };
    }

    function report(what: string, changes: readonly Change[]): void {
      const sorted = changes.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] as number;
      const [p50, p99, p999] = [at(0.5), at(0.99), at(0.999)];
      const text = [p50, p99, p999].map((ms) => ms.toFixed(0)).join(", ");
      console.log(`${what}: ${sorted.length} times at ${CELLS} cells, p50, p99, p99.9 in ms: ${text}`);
      expect(p999).toBeLessThan(PROMISED_MS);
    }

    test("a revoked key, a changed limit and an activated policy are in force at every cell within a second", async () => {
      const place = (n: number) => cells[n % cells.length] as string;
      const revoked: Change[] = [];
      const limited: Change[] = [];
      const activated: Change[] = [];
      for (let n = 0; n < 2; n++) {
        const yaml = `version: 1\ndefaults: {order: [${["alpha", "beta"][n]}]}\n`;
        if (n === 0) await done("POST", "/v1/policies", { name: "house", yaml }, place(0));
        else await done("POST", "/v1/policies/house/versions", { yaml }, place(0));
      }
      const test = { environment: "test" };
      const kept = await done("POST", "/v1/keys", { name: "kept", ...test, limits: { rpm: 1 } }, place(0));
      for (let n = 0; n < CHANGES; n++) {
        const key = await done("POST", "/v1/keys", { name: `k${n}`, ...test }, place(n));
        revoked.push(
          await timed(
            () => done("DELETE", `/v1/keys/${key.id}`, undefined, place(n + 1)),
            async (cell) => (await ask(cell, "GET", "/v1/models", undefined, key.secret)).status === 401,
          ),
        );
        const rpm = 1_000_000 + n;
        limited.push(
          await timed(
            () => done("PATCH", `/v1/keys/${kept.id}`, { limits: { rpm } }, place(n + 2)),
            async (cell) =>
              Number((await chat(cell, kept.secret)).headers.get("x-ratelimit-limit-requests")) === rpm,
          ),
        );
        const provider = ["alpha", "beta"][n % 2];
        activated.push(
          await timed(
            () => done("POST", "/v1/policies/house/activate", { version: 1 + (n % 2) }, place(n)),
            async (cell) =>
              JSON.parse((await chat(cell, gateway.testKey, "test/model")).text).svc.provider === provider,
          ),
        );
      }
      report("a key was revoked", revoked);
      report("limits were changed", limited);
      report("a policy was activated", activated);
      report("all", [...revoked, ...limited, ...activated]);
      console.log(`beside ${answered.good} calls`);
      expect(answered.bad).toEqual([]);
      expect(answered.good).toBeGreaterThan(CHANGES);
    });
  },
);
