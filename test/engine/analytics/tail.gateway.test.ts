/** `GET /v1/requests/tail` of a running gateway: real calls, ends of credentials, clients that come back, a stop. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ engine: true });
});
afterAll(() => gateway?.stop());

/** What a client of the tail has received so far. */
class Tail {
  text = "";
  isOver = false;
  readonly status: number;
  readonly #cut = new AbortController();

  private constructor(status: number) {
    this.status = status;
  }

  static async open(query = "", { key = gateway.liveKey, lastEventId = "" } = {}): Promise<Tail> {
    const cut = new AbortController();
    const answer = await fetch(`${gateway.url}/v1/requests/tail?interval_ms=500${query}`, {
      headers: {
        authorization: `Bearer ${key}`,
        ...(lastEventId !== "" && { "last-event-id": lastEventId }),
      },
      signal: cut.signal,
    });
    const tail = new Tail(answer.status);
    tail.#cut.signal.addEventListener("abort", () => cut.abort());
    void tail.#read(answer);
    return tail;
  }

  async #read(answer: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of answer.body ?? []) this.text += decoder.decode(chunk, { stream: true });
    } catch {
      // Cut.
    }
    this.isOver = true;
  }

  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id);
  }

  leave(): void {
    this.#cut.abort();
  }
}

const newKey = async (): Promise<{ id: string; secret: string }> => {
  const { json } = await gateway.call("POST", "/v1/keys", {
    body: { name: "reader", scopes: ["read:usage"] },
  });
  return json;
};
const idOf = (answer: { headers: Headers }): string => answer.headers.get("x-svc-request-id") ?? "";

test("a call is shown once it has ended, to those whose filters it passes", async () => {
  const [all, refused, large] = await Promise.all([
    Tail.open(),
    Tail.open("&errors_only=1"),
    Tail.open("&model=weir%2Fsim-large"),
  ]);
  expect(all.status).toBe(200);
  const good = idOf(await gateway.chat());
  const stream = idOf(await gateway.chat({ stream: true }));
  const bad = idOf(await gateway.chat({ model: "no/such" }));
  await until("all are shown", () => all.ids.length === 3 && refused.ids.length === 1);
  expect([all.ids, refused.ids, large.ids]).toEqual([[good, stream, bad], [bad], []]);
  const [event, id, data = ""] = all.text.slice(all.text.indexOf("event:")).split("\n");
  expect([event, id]).toEqual(["event: request", `id: ${good}`]);
  // A list waits a second at most for what is on its way.
  const list = async () => (await gateway.call("GET", `/v1/requests?q=${good}`)).json.data;
  const [row] = await until("the call is listed", list, ({ length }) => length > 0);
  expect(JSON.parse(data.replace("data: ", ""))).toEqual(row);
  for (const tail of [all, refused, large]) tail.leave();
});

test("a client that comes back gets what it missed, and nothing twice", async () => {
  const tail = await Tail.open();
  const first = idOf(await gateway.chat());
  await until("the first is shown", () => tail.ids.length === 1);
  tail.leave();
  const missed = [idOf(await gateway.chat()), idOf(await gateway.chat())];
  const back = await Tail.open("", { lastEventId: first });
  const later = idOf(await gateway.chat());
  await until("the last is shown", () => back.ids.includes(later));
  expect(back.ids).toEqual([...missed, later]);
  back.leave();
});

test("the stream ends with its credential, and says why", async () => {
  const { id, secret } = await newKey();
  const tail = await Tail.open("", { key: secret });
  await gateway.call("DELETE", `/v1/keys/${id}`);
  await until("the stream has ended", () => tail.isOver);
  expect(tail.text).toContain("event: error");
  expect(tail.text).toContain('"code":"revoked_key"');
});

test.each(["interval_ms=499", "interval_ms=30001", "after=x", "status=fine", "since=yesterday"])(
  "%s is refused by its name",
  async (query) => {
    const { status, json } = await gateway.call("GET", `/v1/requests/tail?${query}`);
    expect([status, json.error.param]).toEqual([400, `/${query.split("=")[0]}`]);
  },
);

test("a stop does not wait for readers", async () => {
  const stopping = await testGateway({ engine: true });
  const answer = await fetch(`${stopping.url}/v1/requests/tail`, {
    headers: { authorization: `Bearer ${stopping.liveKey}` },
  });
  // Neither leaves before the gateway cuts them off. Within what time: test/timed/host/stop.test.ts.
  await stopping.stop();
  await expect(answer.text()).rejects.toThrow();
});
