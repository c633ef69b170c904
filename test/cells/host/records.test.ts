/** Calls of one cell as readers at another see them: by id, in lists and usage, and in the tail. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { equals, until } from "../../support/wait.ts";
import { RecordCells } from "./records-rig.ts";

const missing = missingRedis();
let all: RecordCells;
let cells: readonly string[] = [];
beforeAll(async () => {
  if (missing !== undefined) return;
  all = await RecordCells.open();
  cells = all.urls;
});
afterAll(() => all?.stop());

test.skipIf(missing)("a call is found at every cell right after it ended", async () => {
  for (const at of cells) {
    const id = await all.call(at);
    const found = await Promise.all(cells.map((cell) => all.read(cell, `/v1/requests/${id}`)));
    expect(found.map(({ http, request_id }) => [http, request_id])).toEqual(cells.map(() => [200, id]));
    expect(new Set(found.map(({ cell }) => cell)).size).toBe(1);
  }
});

test.skipIf(missing)(
  "a call is waited for where its cell needs more than a second to bring it out",
  async () => {
    const id = await all.call(cells[2] as string);
    all.proxy.pause();
    const found = all.read(cells[0] as string, `/v1/requests/${id}`);
    // A read of lists, which begins behind it, has given up.
    expect((await all.read(cells[0] as string, "/v1/requests")).http).toBe(200);
    all.proxy.resume();
    expect(await found).toMatchObject({ http: 200, request_id: id });
  },
);

test.skipIf(missing)(
  "an id that a cell which does not answer may know is not said to be unknown",
  async () => {
    const path = "/v1/requests/01KAAAAAAAAAAAAAAAAAAAAAAA";
    const ask = async (cell = "") => await fetch(`${cell}${path}`, { headers: all.headers() });
    all.proxy.pause();
    const answer = await ask(cells[0]);
    all.proxy.resume();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.json()).toMatchObject({ error: { code: "analytics_unavailable" } });
    await until("all cells say that nobody knows it", async () => {
      const answers = await Promise.all(cells.map(ask));
      return answers.every(({ status }) => status === 404);
    });
  },
);

test.skipIf(missing)("the list at any cell has the calls of all", async () => {
  const ids = await Promise.all(cells.map((cell) => all.call(cell)));
  for (const cell of cells) {
    // A list waits for other cells for a second, and says so where that was too short.
    const { http, data = [] } = await until(
      "the list is complete",
      () => all.read(cell, "/v1/requests?limit=50"),
      (read) => read.http !== 503 && read.incomplete_since === undefined,
    );
    expect(http).toBe(200);
    expect(data.map(({ request_id }) => request_id)).toEqual(expect.arrayContaining(ids));
  }
});

test.skipIf(missing)(
  "the ledger at any cell has the charge of a call that ended at another one",
  async () => {
    /** Whether the first read has it. */
    const isAtOnce = async (n: number): Promise<boolean> => {
      const id = await all.call(cells[n % 3] as string, all.gateway.liveKey);
      const newest = async () => {
        const path = "/v1/credits/ledger?limit=5";
        const { data = [] } = await all.read(cells[(n + 1) % 3] as string, path, all.gateway.liveKey);
        return data[0]?.request_id;
      };
      // It waits for the newest entries for a second, and leaves out those that did not come.
      if ((await newest()) === id) return true;
      await until("its charge is the newest", newest, equals(id));
      return false;
    };
    for (let n = 0; n < 6; n++) expect(await holdsUnlessCrowded(() => isAtOnce(n)), `call ${n}`).toBe(true);
  },
);

test.skipIf(missing)("the balance at any cell is without what a call at another one cost", async () => {
  const available = async (at: number) => {
    const { available_micro_usd = 0 } = await all.read(
      cells[at % 3] as string,
      "/v1/credits",
      all.gateway.liveKey,
    );
    return available_micro_usd;
  };
  let before = await available(0);
  /** Whether the first read is without it. */
  const isAtOnce = async (n: number): Promise<boolean> => {
    const id = await all.call(cells[n % 3] as string, all.gateway.liveKey);
    const { cost_micro = 0 } = await all.read(
      cells[n % 3] as string,
      `/v1/requests/${id}`,
      all.gateway.liveKey,
    );
    expect(cost_micro).toBeGreaterThan(0);
    before -= cost_micro;
    // It waits for charges of other cells for a moment only.
    if ((await available(n + 1)) === before) return true;
    await until("it is without the cost", () => available(n + 1), equals(before));
    return false;
  };
  for (let n = 0; n < 6; n++) expect(await holdsUnlessCrowded(() => isAtOnce(n)), `call ${n}`).toBe(true);
});

class Tail {
  text = "";
  readonly #cut = new AbortController();

  static async open(cell: string, query = ""): Promise<Tail> {
    const tail = new Tail();
    const answer = await fetch(`${cell}/v1/requests/tail?interval_ms=500${query}`, {
      headers: all.headers(),
      signal: tail.#cut.signal,
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

/** A client may have its answer a moment before the call is settled: that of the next call may come between. */
async function settledCall(cell: string): Promise<string> {
  const id = await all.call(cell);
  await all.read(cell, `/v1/requests/${id}`);
  return id;
}

test.skipIf(missing)(
  "a tail at any cell shows the calls of all, each once, in the order of settling",
  async () => {
    const tails = await Promise.all(cells.map((cell) => Tail.open(cell)));
    const ids: string[] = [];
    for (let at = 0; at < 12; at++) ids.push(await settledCall(cells[at % 3] as string));
    await until("all are shown", () => tails.every((tail) => tail.ids.length >= ids.length));
    for (const tail of tails) expect(tail.ids).toEqual(ids);
    for (const tail of tails) tail.leave();
    // One that comes back at another cell gets what it missed there.
    const missed = [await settledCall(cells[0] as string), await settledCall(cells[1] as string)];
    const back = await Tail.open(cells[2] as string, `&after=${ids.at(-1)}`);
    const later = await all.call(cells[0] as string);
    await until("it is shown", () => back.ids.length >= 3);
    expect(back.ids).toEqual([...missed, later]);
    back.leave();
  },
);
