/** Two cells, of which the second hears Redis through a proxy that holds back what it says. */
import { newSecret } from "../../../src/account/secret.ts";
import { type FaultProxy, startFaultProxy } from "../../support/cells/fault-proxy.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

const UNLIMITED = { rpm: 0, tpm: 0, concurrency: 0, keys: 1000, projects: 10, auto_approve: 1 };

interface Asked {
  readonly key?: string;
  readonly cookie?: string;
  readonly body?: object;
  /** So many bytes of white space follow the body. */
  readonly padding?: number;
}

export class LateCell {
  readonly gateway: TestGateway;
  /** Before the second cell alone. */
  readonly proxy: FaultProxy;

  private constructor(gateway: TestGateway, proxy: FaultProxy) {
    this.gateway = gateway;
    this.proxy = proxy;
  }

  static async open(): Promise<LateCell> {
    const { promise, resolve } = Promise.withResolvers<FaultProxy>();
    const gateway = await testGateway({
      cells: 2,
      plans: [{ id: "local", name: "Local", limits: UNLIMITED }],
      async between(redis) {
        const proxy = await startFaultProxy(redis.url);
        resolve(proxy);
        return [redis.url, proxy.url];
      },
    });
    return new LateCell(gateway, await promise);
  }

  /** @param cell 1 is the late one */
  async ask(
    cell: 0 | 1,
    method: string,
    path: string,
    { key = this.gateway.liveKey, cookie, body, padding = 0 }: Asked = {},
  ) {
    const headers = {
      ...(cookie === undefined ? { authorization: `Bearer ${key}` } : { cookie }),
      ...(body && { "content-type": "application/json" }),
    };
    const sent = body && { body: JSON.stringify(body) + " ".repeat(padding) };
    const url = `${this.gateway.cellUrls?.[cell]}${path}`;
    const answer = await httpCall(method, url, { headers, ...sent, withinMs: LIMIT_MS });
    if (answer === undefined) throw new Error(`no answer to ${method} ${path}`);
    return { ...answer, json: answer.text.startsWith("{") ? JSON.parse(answer.text) : {} };
  }

  /** A figure of the late cell's `/metrics`. */
  async series(name: string): Promise<number> {
    const { text } = await this.ask(1, "GET", "/metrics");
    return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  }

  /** The late cell hears Redis, and has what it hears of. */
  isWell(): Promise<boolean> {
    return until("the cell hears Redis again", async () => {
      const ageS = await this.series("weir_cell_beat_age_seconds");
      return ageS < 0.5 && (await this.series("weir_cell_lag_versions")) === 0;
    });
  }

  /** A credential that no cell has, which the late one has asked Redis about already. */
  async unknownTo(ask: Way[1]): Promise<string> {
    await this.isWell();
    const unknown = newSecret("live");
    await until("it is refused", async () => (await ask(this, unknown)).status === 401);
    return unknown;
  }

  async stop(): Promise<void> {
    this.proxy.resume();
    this.proxy.letGo();
    await this.gateway.stop();
    await this.proxy.close();
  }
}

const body = { model: "weir/sim-small", max_tokens: 2, messages: [{ role: "user", content: "Hi" }] };

type Way = readonly [what: string, ask: (late: LateCell, key: string) => ReturnType<LateCell["ask"]>];

/** Requests of the late cell. */
export const BY_KEY: readonly Way[] = [
  ["a call", (late, key) => late.ask(1, "POST", "/v1/chat/completions", { key, body })],
  [
    "a long call",
    (late, key) => late.ask(1, "POST", "/v1/chat/completions", { key, body, padding: 900_000 }),
  ],
  ["a read", (late, key) => late.ask(1, "GET", "/v1/limits", { key })],
  ["a change", (late, key) => late.ask(1, "POST", "/v1/keys", { key, body: { name: "by the new one" } })],
];

/** And those by credentials that are no keys. */
export const BY_CREDENTIAL: readonly Way[] = [
  ...BY_KEY,
  ["a session", (late) => late.ask(1, "GET", "/auth/me", { cookie: `svc_session=${"s".repeat(43)}` })],
  ["a directory", (late) => late.ask(1, "GET", "/scim/v2/Users", { key: newSecret("scim") })],
];
