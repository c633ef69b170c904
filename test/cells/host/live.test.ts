/** `GET /v1/live` at one cell: calls that run at another, the credit that these hold, events of the org. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { LiveClient } from "../../support/live/live-client.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
let gateway: TestGateway;
let here = "";
let there = "";
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({ engine: true, cells: 2 });
  [here = "", there = ""] = gateway.cellUrls ?? [];
});
afterAll(() => gateway?.stop());

const headers = () => ({ authorization: `Bearer ${gateway.liveKey}` });
async function open(cell: string, query = ""): Promise<LiveClient> {
  const client = await LiveClient.open(cell, query, headers());
  await until("it is greeted", () => client.of("hello").length === 1);
  return client;
}

/** A stream that runs until it is ended. */
async function runningStream(cell: string) {
  const cut = new AbortController();
  const answer = await fetch(`${cell}/v1/chat/completions`, {
    method: "POST",
    headers: { ...headers(), "content-type": "application/json" },
    body: JSON.stringify({
      model: "weir/sim-small",
      stream: true,
      max_tokens: 4000,
      messages: [{ role: "user", content: "[[sim tokens=4000 gap_ms=20]]" }],
    }),
    signal: cut.signal,
  });
  return { id: answer.headers.get("x-svc-request-id") ?? "", end: () => cut.abort() };
}

test.skipIf(missing)("a call at one cell is shown at another from its beginning to its end", async () => {
  const early = await runningStream(there);
  const client = await open(here);
  await until("the snapshot has come", () => client.of("running").length > 0);
  expect(client.of("running")[0]?.data).toMatchObject({ count: 1, calls: [{ request_id: early.id }] });
  const call = await runningStream(there);
  await until("its first token is shown", () => client.callNames(call.id).length === 2);
  await until("what they hold is shown", () =>
    client.of("credit").some(({ data }) => data.held_micro_usd > 0),
  );
  early.end();
  call.end();
  await until("both have ended", () => client.of("call.ended").length === 2);
  expect(client.callNames(call.id)).toEqual(["call.started", "call.first_token", "call.ended"]);
  const cost = client.of("call.ended").reduce((sum, { data }) => sum + data.cost_micro, 0);
  await until("the charges are shown", () => client.credit.spent_today_micro_usd >= cost);
  expect(client.of("gap")).toEqual([]);
  client.leave();
});

test.skipIf(missing)(
  "an event at one cell is shown at another, and sent again to who comes back there",
  async () => {
    const clients = await Promise.all([here, there].map((cell) => open(cell, "kinds=events")));
    const key = async (cell: string, name: string): Promise<string> => {
      const answer = await fetch(`${cell}/v1/keys`, {
        method: "POST",
        headers: { ...headers(), "content-type": "application/json" },
        body: JSON.stringify({ name, scopes: ["read:usage"] }),
      });
      return ((await answer.json()) as { id: string }).id;
    };
    const first = await key(there, "first");
    await until("both are told", () => clients.every((client) => client.of("event").length === 1));
    expect(clients.map((client) => client.of("event")[0]?.data.data.id)).toEqual([first, first]);
    const position = clients[0]?.position ?? "";
    for (const client of clients) client.leave();
    const missed = await key(here, "missed");
    const back = await open(there, `kinds=events&after=${position}`);
    const told = () => back.of("event").map(({ data }) => data.data.id);
    await until("it is sent", () => told().includes(missed));
    // One that is as young as the position may come once more.
    expect(new Set(told())).toEqual(new Set(told().includes(first) ? [first, missed] : [missed]));
    back.leave();
  },
);

test.skipIf(missing)("many short calls at both cells are each told in order", async () => {
  const client = await open(here, "kinds=calls");
  await until("the snapshot has come", () => client.of("running").length > 0);
  const call = async (cell: string): Promise<string> => {
    const answer = await fetch(`${cell}/v1/chat/completions`, {
      method: "POST",
      headers: { ...headers(), "content-type": "application/json" },
      body: JSON.stringify({
        model: "weir/sim-small",
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    await answer.text();
    return answer.headers.get("x-svc-request-id") ?? "";
  };
  const ids = await Promise.all(Array.from({ length: 60 }, (_, at) => call(at % 2 === 0 ? here : there)));
  await until("all have ended", () => client.of("call.ended").length === ids.length);
  const whole = ["call.started", "call.first_token", "call.ended"];
  for (const id of ids) expect(client.callNames(id)).toEqual(whole);
  client.leave();
});
