/** `GET /v1/live` of a gateway with ClickHouse: a client that comes back is sent the ends that it missed, each once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { LiveClient } from "../../support/live/live-client.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ engine: true });
});
afterAll(() => gateway?.stop());

async function open(query: string, lastEventId = ""): Promise<LiveClient> {
  const headers = { authorization: `Bearer ${gateway.liveKey}` };
  const client = await LiveClient.open(gateway.url, query, {
    ...headers,
    ...(lastEventId !== "" && { "last-event-id": lastEventId }),
  });
  await until("it is greeted", () => client.of("hello").length === 1);
  return client;
}
const call = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await gateway.chat(body)).headers.get("x-svc-request-id") ?? "";
const endsOf = (client: LiveClient): string[] => client.of("call.ended").map(({ data }) => data.request_id);

test("a client that comes back is sent what ended meanwhile, nothing twice, and then what is new", async () => {
  const client = await open("kinds=calls");
  await call();
  await until("the first is shown", () => endsOf(client).length === 1);
  client.leave();
  const missed = [await call(), await call({ stream: true }), await call({ model: "no/such" })];
  const back = await open("kinds=calls", client.position);
  const later = await call();
  await until("the last is shown", () => endsOf(back).includes(later));
  expect(endsOf(back)).toEqual([...missed, later]);
  expect(back.of("gap")).toEqual([]);
  // What began before is not told again; only what runs now.
  for (const id of missed) expect(back.callNames(id)).toEqual(["call.ended"]);
  const list = async () => (await gateway.call("GET", `/v1/requests?q=${missed[0]}`)).json.data;
  const [row] = await until("the call is listed", list, ({ length }) => length > 0);
  expect(back.of("call.ended")[0]?.data).toEqual(row);
  // After any event of the past, too, with the filters that it asks for.
  const second = await open("kinds=calls&errors_only=1", back.of("call.ended")[0]?.id);
  await until("the refused one is shown", () => endsOf(second).length === 1);
  expect(endsOf(second)).toEqual([missed[2]]);
});

test("a stream that sent nothing yet is resumed from where it began", async () => {
  const client = await open("kinds=calls");
  client.leave();
  const missed = await call();
  const back = await open("kinds=calls", client.position);
  await until("it is shown", () => endsOf(back).length === 1);
  expect(endsOf(back)).toEqual([missed]);
});

test("a position of long ago is answered with a gap", async () => {
  const client = await open("kinds=calls");
  const [, rest = ""] = client.position.split(/\.(.*)/s);
  const past = await open("kinds=calls", `${(Date.now() - 2 * 3_600_000) * 1000}.${rest}`);
  await until("the gap is told", () => past.of("gap").length === 1);
  expect(past.of("gap")[0]?.data.missed).toBe(null);
});

test("each of many calls is told in order, to a client that comes back in their midst", async () => {
  const all = await open("kinds=calls");
  const half = Array.from({ length: 40 }, () => call({ stream: true }));
  await until("some are shown", () => endsOf(all).length >= 5);
  const position = all.position;
  const known = new Set(endsOf(all));
  const back = await open("kinds=calls", position);
  const ids = await Promise.all([...half, ...Array.from({ length: 40 }, () => call({ stream: true }))]);
  await until("all are shown", () => endsOf(all).length === ids.length);
  const left = ids.filter((id) => !known.has(id));
  await until("the rest is shown", () => endsOf(back).length >= left.length);
  expect(endsOf(back).toSorted()).toEqual(left.toSorted());
  const whole = ["call.started", "call.first_token", "call.ended"];
  for (const id of ids) expect(all.callNames(id)).toEqual(whole);
  for (const id of left) expect(back.callNames(id).at(-1)).toBe("call.ended");
});
