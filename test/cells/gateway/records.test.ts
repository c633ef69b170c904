/** Calls of one cell as readers at another see them: by id, in lists and usage, and in the tail. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { retireCell } from "../../../src/cells/dataset.ts";
import { Session } from "../../../src/cells/exchange.ts";
import { connectRedis } from "../../../src/cells/redis.ts";
import { type FaultProxy, startFaultProxy } from "../../support/cells/fault-proxy.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
let gateway: TestGateway;
let cells: readonly string[] = [];
/** Between the last cell and Redis. */
let proxy: FaultProxy;
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({
    ...{ engine: true, cells: 3 },
    async between({ url }) {
      proxy = await startFaultProxy(url);
      return [url, url, proxy.url];
    },
  });
  cells = gateway.cellUrls ?? [];
});
afterAll(async () => {
  await gateway?.stop();
  await proxy?.close();
});

const headers = (key = gateway.testKey) => ({ authorization: `Bearer ${key}` });

/** A call at one cell. @returns its id */
async function call(cell: string, key?: string): Promise<string> {
  const answer = await fetch(`${cell}/v1/chat/completions`, {
    method: "POST",
    headers: { ...headers(key), "content-type": "application/json" },
    body: JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(answer.status, await answer.clone().text()).toBe(200);
  await answer.text();
  return answer.headers.get("x-svc-request-id") ?? "";
}

interface Read {
  readonly http: number;
  readonly request_id?: string;
  readonly cell?: string;
  readonly incomplete_since?: string;
  readonly error?: { readonly code: string; readonly details?: { readonly incomplete_since?: string } };
  readonly cost_micro?: number;
  readonly available_micro_usd?: number;
  readonly data?: readonly { readonly request_id: string }[];
}

const read = async (cell: string, path: string, key?: string): Promise<Read> => {
  const answer = await fetch(`${cell}${path}`, { headers: headers(key) });
  return { http: answer.status, ...((await answer.json()) as object) };
};

test.skipIf(missing)("a call is found at every cell right after it ended", async () => {
  for (const at of cells) {
    const id = await call(at);
    const found = await Promise.all(cells.map((cell) => read(cell, `/v1/requests/${id}`)));
    expect(found.map(({ http, request_id }) => [http, request_id])).toEqual(cells.map(() => [200, id]));
    expect(new Set(found.map(({ cell }) => cell)).size).toBe(1);
  }
});

test.skipIf(missing)(
  "a call is waited for where its cell needs more than a second to bring it out",
  async () => {
    const id = await call(cells[2] as string);
    proxy.pause();
    const found = read(cells[0] as string, `/v1/requests/${id}`);
    // A read of lists, which begins behind it, has given up.
    expect((await read(cells[0] as string, "/v1/requests")).http).toBe(200);
    proxy.resume();
    expect(await found).toMatchObject({ http: 200, request_id: id });
  },
);

test.skipIf(missing)(
  "an id that a cell which does not answer may know is not said to be unknown",
  async () => {
    const path = "/v1/requests/01KAAAAAAAAAAAAAAAAAAAAAAA";
    const ask = async (cell = "") => await fetch(`${cell}${path}`, { headers: headers() });
    proxy.pause();
    const answer = await ask(cells[0]);
    proxy.resume();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.json()).toMatchObject({ error: { code: "analytics_unavailable" } });
    await until("all cells say that nobody knows it", async () => {
      const answers = await Promise.all(cells.map(ask));
      return answers.every(({ status }) => status === 404);
    });
  },
);

test.skipIf(missing)("the list at any cell has the calls of all", async () => {
  const ids = await Promise.all(cells.map((cell) => call(cell)));
  for (const cell of cells) {
    const { data = [] } = await read(cell, "/v1/requests?limit=50");
    expect(data.map(({ request_id }) => request_id)).toEqual(expect.arrayContaining(ids));
  }
});

test.skipIf(missing)(
  "reads do not wait for a cell that was killed, and say from when calls may be missing",
  async () => {
    const [cell = ""] = cells;
    const link = connectRedis({ url: gateway.redis?.url ?? "", log: { warn() {} } });
    await link.ready(5000);
    const id = String(await link.call("HGET", "{weir}:dataset", "id"));
    const killed = new Session({ link, cell: "killed", datasetId: id, onEnd() {} });
    await killed.start();
    await killed.lane("beat").send([["beat", 0, Date.parse("2026-01-02T03:04:05Z")]]);
    const since = async (path: string) => {
      const began = performance.now();
      const { http, incomplete_since } = await read(cell, path);
      expect([http, performance.now() - began < 900]).toEqual([200, true]);
      return incomplete_since;
    };
    for (const path of ["/v1/usage?range=24h", "/v1/requests"])
      expect(await since(path)).toMatch(/^2026-01-02T03:04:05/);
    const unknown = async () => {
      const { http, error } = await read(cell, "/v1/requests/01KAAAAAAAAAAAAAAAAAAAAAAA");
      return [http, error?.code, error?.details?.incomplete_since];
    };
    await until("it is not taken to run any more", async () => (await unknown())[0] === 404);
    expect(await unknown()).toEqual([404, "not_found", "2026-01-02T03:04:05.000Z"]);
    expect(await retireCell(link, id, "killed", 0)).toBe(true);
    expect(await unknown()).toEqual([404, "not_found", undefined]);
    for (const path of ["/v1/usage?range=24h", "/v1/requests"]) expect(await since(path)).toBeUndefined();
    link.close();
  },
);

test.skipIf(missing)(
  "the ledger at any cell has the charge of a call that ended at another one",
  async () => {
    for (let n = 0; n < 6; n++) {
      const id = await call(cells[n % 3] as string, gateway.liveKey);
      const { data = [] } = await read(
        cells[(n + 1) % 3] as string,
        "/v1/credits/ledger?limit=5",
        gateway.liveKey,
      );
      expect(data[0]?.request_id).toBe(id);
    }
  },
);

test.skipIf(missing)("the balance at any cell is without what a call at another one cost", async () => {
  const available = async (at: number) => {
    const { available_micro_usd = 0 } = await read(cells[at % 3] as string, "/v1/credits", gateway.liveKey);
    return available_micro_usd;
  };
  let before = await available(0);
  for (let n = 0; n < 6; n++) {
    const id = await call(cells[n % 3] as string, gateway.liveKey);
    const after = await available(n + 1);
    const { cost_micro = 0 } = await read(cells[n % 3] as string, `/v1/requests/${id}`, gateway.liveKey);
    expect(cost_micro).toBeGreaterThan(0);
    expect(after).toBe(before - cost_micro);
    before = after;
  }
});

test.skipIf(missing)("an id that no cell knows is 404, within a moment", async () => {
  const [cell = ""] = cells;
  const began = performance.now();
  expect((await read(cell, "/v1/requests/01KAAAAAAAAAAAAAAAAAAAAAAA")).http).toBe(404);
  expect(performance.now() - began).toBeLessThan(3000);
});

class Tail {
  text = "";
  readonly #cut = new AbortController();

  static async open(cell: string, query = ""): Promise<Tail> {
    const tail = new Tail();
    const answer = await fetch(`${cell}/v1/requests/tail?interval_ms=500${query}`, {
      ...{ headers: headers(), signal: tail.#cut.signal },
    });
    // The body of a tail never ends.
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    void tail.#read(answer).catch(() => {});
    return tail;
  }

  async #read(answer: Response): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) this.text += decoder.decode(chunk, { stream: true });
  }

  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id);
  }

  leave(): void {
    this.#cut.abort();
  }
}

test.skipIf(missing)(
  "a tail at any cell shows the calls of all, each once, in the order of settling",
  async () => {
    const tails = await Promise.all(cells.map((cell) => Tail.open(cell)));
    const ids: string[] = [];
    for (let at = 0; at < 12; at++) ids.push(await call(cells[at % 3] as string));
    await until("all are shown", () => tails.every((tail) => tail.ids.length >= ids.length));
    for (const tail of tails) expect(tail.ids).toEqual(ids);
    for (const tail of tails) tail.leave();
    // One that comes back at another cell gets what it missed there.
    const missed = [await call(cells[0] as string), await call(cells[1] as string)];
    const back = await Tail.open(cells[2] as string, `&after=${ids.at(-1)}`);
    const later = await call(cells[0] as string);
    await until("it is shown", () => back.ids.length >= 3);
    expect(back.ids).toEqual([...missed, later]);
    back.leave();
  },
);
