/** Two cells whose Redis is behind a proxy that delays, refuses and cuts; each call costs the same. */
import { expect } from "vitest";
import { connectRedis, type RedisLink } from "../../../src/cluster/cells/redis/redis.ts";
import { type FaultProxy, startFaultProxy } from "../../support/cells/fault-proxy.ts";
import {
  type Answer,
  callsBy,
  type TestCalls,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import type { TestRedis } from "../../support/redis-server.ts";
import { equals, until } from "../../support/wait.ts";

const CELLS = 2;
const UNLIMITED = { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 };

export class FaultyRedis {
  readonly gateway: TestGateway;
  readonly proxy: FaultProxy;
  readonly redis: TestRedis;
  /** Each of the cells; `gateway` gives a call to the next one. */
  readonly cells: readonly TestCalls[];
  /** Past the proxy. */
  readonly link: RedisLink;
  /** Keys with a large limit, and with a large hard budget. */
  limited = "";
  budgeted = "";
  /** What one call costs, micro-USD. */
  #cost = 0;
  /** Calls that were answered with 200. */
  #paid = 0;
  #startedWith = 0;

  private constructor(gateway: TestGateway, proxy: FaultProxy, redis: TestRedis) {
    this.gateway = gateway;
    this.proxy = proxy;
    this.redis = redis;
    this.cells = (gateway.cellUrls ?? []).map((url) => callsBy(gateway, url, gateway.simulator));
    this.link = connectRedis({ url: redis.url, log: { warn() {} } });
  }

  static async open(): Promise<FaultyRedis> {
    const { promise, resolve } = Promise.withResolvers<[FaultProxy, TestRedis]>();
    const gateway = await testGateway({
      cells: CELLS,
      plans: [{ id: "local", limits: UNLIMITED }],
      async between(redis) {
        const proxy = await startFaultProxy(redis.url);
        resolve([proxy, redis]);
        return proxy.url;
      },
    });
    const opened = new FaultyRedis(gateway, ...(await promise));
    await opened.#prepare();
    return opened;
  }

  async #prepare(): Promise<void> {
    await this.link.ready(5000);
    const newKey = async (more: object) => {
      const { status, json } = await this.gateway.call("POST", "/v1/keys", { body: { name: "k", ...more } });
      expect([status, json.error]).toEqual([201, undefined]);
      return json.secret;
    };
    this.limited = await newKey({ limits: { rpm: 1_000_000, tpm: 1_000_000_000 } });
    this.budgeted = await newKey({ budget: { daily_micro: 10_000_000, hard: true } });
    const before = await this.#atRest();
    expect((await this.gateway.chat()).status).toBe(200);
    await until("it is charged", async () => {
      this.#startedWith = await this.#atRest();
      this.#cost = before - this.#startedWith;
      return this.#cost > 0;
    });
  }

  async stop(): Promise<void> {
    this.link.close();
    await this.gateway.stop();
    await this.proxy.close();
  }

  /** The balance once no call holds any of it. */
  async #atRest(): Promise<number> {
    let balance = { available: 0, held: 1 };
    await until("nothing is held", async () => {
      balance = await this.gateway.balance();
      return balance.held === 0;
    });
    return balance.available;
  }

  async chat(key = this.gateway.liveKey, headers = {}, at: TestCalls = this.gateway): Promise<Answer> {
    const answer = await at.chat({}, { key, headers });
    if (answer.status === 200) this.#paid++;
    return answer;
  }

  /** An answer was that of an earlier call, and cost nothing. */
  wasPaidBefore(): void {
    this.#paid--;
  }

  /** Each charge is in the balance once. */
  async assertPaid(): Promise<void> {
    const left = this.#startedWith - this.#paid * this.#cost;
    await until("all that was charged is in the balance", () => this.#atRest(), equals(left));
  }

  /** Both cells serve, and control-plane acts are taken. */
  async recovered(): Promise<void> {
    await until("calls and acts are taken again", async () => {
      for (let n = 0; n < CELLS; n++) {
        const made = await this.gateway.call("POST", "/v1/keys", { body: { name: "again" } });
        const answer = await this.chat(this.limited, { "idempotency-key": crypto.randomUUID() });
        if (made.status !== 201 || answer.status !== 200) return false;
      }
      return true;
    });
  }
}

/** @throws Error for any other refusal than a 503 that says when to try again */
export function assertHonest({ status, headers, text }: Answer): void {
  if (status < 300) return;
  expect([status, Number(headers.get("retry-after")) >= 1, text], text).toEqual([503, true, text]);
}
