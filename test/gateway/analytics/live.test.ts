/** `GET /v1/live` over real sockets: calls as they run, credit, events; who sees what, and for how long. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { joinAt, type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { LiveClient, type LiveData } from "../../support/live/live-client.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway?.stop());

const clients: LiveClient[] = [];
async function open(query = "", headers: Record<string, string> = bearer(gateway.liveKey)) {
  const client = await LiveClient.open(gateway.url, query, headers);
  clients.push(client);
  if (client.status === 200) await until("it is greeted", () => client.of("hello").length === 1);
  return client;
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const newKey = async (scopes: string[]): Promise<{ id: string; secret: string }> =>
  (await gateway.call("POST", "/v1/keys", { body: { name: "reader", scopes } })).json;
/** A person of the first org. */
async function invited(name: string, role: string): Promise<SignedInPerson> {
  const email = `${name}@example.com`;
  const answer = await gateway.call("POST", "/v1/orgs/first/members", { body: { email, role } });
  expect(answer.status, answer.text).toBeLessThan(300);
  return await joinAt(gateway.url, { email });
}
const idOf = (answer: { headers: Headers }): string => answer.headers.get("x-svc-request-id") ?? "";

/** A stream that does not end before it is told to: its call runs meanwhile. */
async function runningStream(
  text = "[[sim tokens=400 gap_ms=20]]",
  key = gateway.liveKey,
  on_disconnect = "cancel",
) {
  const cut = new AbortController();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...bearer(key), "content-type": "application/json" },
    body: JSON.stringify({
      model: "weir/sim-small",
      stream: true,
      max_tokens: 400,
      messages: [{ role: "user", content: text }],
      svc: { on_disconnect },
    }),
    signal: cut.signal,
  });
  return { id: idOf(answer), end: () => cut.abort() };
}

test("a streamed call is shown when it begins, at its first token and at its end, and credit moves meanwhile", async () => {
  const client = await open();
  await until(
    "the stream has begun",
    () => client.of("running").length > 0 && client.of("credit").length > 0,
  );
  const [hello] = client.events;
  expect(hello).toMatchObject({ event: "hello", data: { kinds: ["calls", "credit", "events"] } });
  expect(hello?.id).toBe(hello?.data.position);
  expect(client.of("running")[0]?.data).toEqual({ count: 0, calls: [] });
  const before = client.credit;
  expect(before.held_micro_usd).toBe(0);

  const call = await runningStream();
  await until("its first token is shown", () => client.callNames(call.id).length === 2);
  await until("its hold is shown", () => client.of("credit").some(({ data }) => data.held_micro_usd > 0));
  const held = client.credit;
  expect(held.balance_micro_usd).toBe(before.balance_micro_usd);
  expect(held.available_micro_usd).toBe(held.balance_micro_usd - held.held_micro_usd);
  call.end();
  await until("its end is shown", () => client.callNames(call.id).length === 3);
  expect(client.callNames(call.id)).toEqual(["call.started", "call.first_token", "call.ended"]);
  await until("its charge is shown", () => client.credit.held_micro_usd === 0);

  const [started, first, ended] = client.events
    .filter(({ data }) => data.request_id === call.id)
    .map(({ data }) => data) as [LiveData, LiveData, LiveData];
  expect(started).toMatchObject({
    model: "weir/sim-small",
    provider: ended.provider,
    endpoint_id: ended.endpoint_id,
    project_id: ended.project_id,
    key_id: ended.key_id,
    app_id: "",
    stream: true,
    detached: false,
  });
  expect(Date.parse(started.started_at)).toBe(Date.parse(`${ended.ts.replace(" ", "T")}Z`));
  expect(first).toMatchObject({ provider: "simulator", ttft_ms: expect.any(Number) });
  expect(Math.abs(first.ttft_ms - ended.ttft_ms)).toBeLessThanOrEqual(1);
  expect(ended).toMatchObject({ status: "cancelled", stream: true });
  const charged = client.credit;
  const cost = ended.cost_micro;
  // The event has what the page of credit asks for first.
  expect(charged).toMatchObject((await gateway.call("GET", "/v1/credits")).json);
  expect(cost).toBeGreaterThan(0);
  expect(before.balance_micro_usd - charged.balance_micro_usd).toBe(cost);
  expect(charged.spent_today_micro_usd - before.spent_today_micro_usd).toBe(cost);
  expect(charged.spent_month_micro_usd - before.spent_month_micro_usd).toBe(cost);
});

test("who comes while a call runs is sent it, and a whole answer has no first token", async () => {
  const call = await runningStream();
  const client = await open("kinds=calls");
  await until("what runs is shown", () => client.of("running").length > 0);
  const [running] = client.of("running");
  expect(running?.data).toMatchObject({ count: 1, calls: [{ request_id: call.id, stream: true }] });
  const whole = idOf(await gateway.chat());
  call.end();
  await until("both ends are shown", () => client.of("call.ended").length === 2);
  expect(client.callNames(whole)).toEqual(["call.started", "call.ended"]);
  expect(client.callNames(call.id).at(-1)).toBe("call.ended");
  const next = await open("kinds=calls");
  await until("nothing runs", () => next.of("running")[0]?.data.count === 0);
  expect(client.of("credit")).toEqual([]);
});

test("a call that goes on without its client is told as detached, when it begins and while it runs", async () => {
  const first = await open("kinds=calls");
  await until("it listens", () => first.of("running").length > 0);
  const call = await runningStream(undefined, undefined, "detach");
  call.end();
  await until("it has begun", () => first.callNames(call.id).includes("call.started"));
  const next = await open("kinds=calls");
  await until("what runs is shown", () => next.of("running").length > 0);
  const detached = { request_id: call.id, detached: true };
  expect(first.of("call.started")[0]?.data).toMatchObject(detached);
  expect(next.of("running")[0]?.data.calls).toMatchObject([detached]);
  expect((await gateway.call("POST", `/v1/generation/${call.id}/cancel`)).status).toBe(200);
  await until("its end is shown", () => first.callNames(call.id).at(-1) === "call.ended");
});

test("filters leave calls out; those of an end leave out what runs", async () => {
  const { json: projects } = await gateway.call("GET", "/v1/projects");
  const [small, large, failed, other] = await Promise.all([
    open("kinds=calls&model=weir%2Fsim-small"),
    open("kinds=calls&model=weir%2Fsim-large"),
    open("kinds=calls&errors_only=1"),
    open(`kinds=calls&project_id=${projects.data[0].id}x`),
  ]);
  const good = idOf(await gateway.chat());
  const bad = idOf(await gateway.chat({ model: "no/such" }));
  const last = idOf(await gateway.chat({ model: "weir/sim-large" }));
  await until(
    "all are shown",
    () => failed.of("call.ended").length === 1 && large.callNames(last).length === 2,
  );
  await until("the first is shown", () => small.callNames(good).length === 2);
  expect([small.callNames(bad), small.callNames(last), large.callNames(good)]).toEqual([[], [], []]);
  // Refused before an endpoint was asked: it never ran.
  expect(failed.events.map(({ event, data }) => [event, data.request_id])).toEqual([
    ["hello", undefined],
    ["call.ended", bad],
  ]);
  expect(other.events.map(({ event }) => event)).toEqual(["hello", "running"]);
});

test("a test key is shown calls of test keys alone, and no org another one's", async () => {
  const stranger = await signInAt(gateway.url, { email: "stranger@example.com" });
  const { json: org } = await stranger.call("POST", "/v1/orgs", {
    body: { name: "Elsewhere", slug: "elsewhere", billing_country: "US" },
  });
  const elsewhere = await open("", { cookie: stranger.cookie, "svc-org": org.id });
  const tests = await open("kinds=calls", bearer(gateway.testKey));
  await until("both have begun", () => elsewhere.of("running").length + tests.of("running").length === 2);
  const live = idOf(await gateway.chat());
  const tested = idOf(await gateway.chat({}, { key: gateway.testKey }));
  await until("the test call is shown", () => tests.callNames(tested).length === 2);
  expect(tests.callNames(live)).toEqual([]);
  await newKey(["read:usage"]);
  const own = await stranger.call("POST", "/v1/projects", {
    org: org.id,
    body: { slug: "mine", name: "Mine" },
  });
  const key = await stranger.call("POST", "/v1/keys", {
    org: org.id,
    body: { name: "theirs", scopes: ["read:usage"], project_id: own.json.id },
  });
  expect(key.status, key.text).toBe(201);
  await until("its own event is shown", () => elsewhere.of("event").length > 0);
  expect(elsewhere.of("event").map(({ data }) => data.org_id)).toEqual([org.id]);
  expect(elsewhere.events.filter(({ event }) => event.startsWith("call."))).toEqual([]);
});

test("an event is shown as the list has it, and one that was missed is sent to who comes back", async () => {
  const client = await open("kinds=events");
  const first = await newKey(["read:usage"]);
  await until("it is shown", () => client.of("event").length === 1);
  const { json } = await gateway.call("GET", "/v1/events?limit=1");
  expect(client.of("event")[0]?.data).toEqual(json.data[0]);
  expect(json.data[0]).toMatchObject({ type: "key.created", data: { id: first.id } });
  client.leave();
  const missed = await newKey(["read:usage"]);
  const back = await open(`kinds=events&after=${client.position}`);
  const later = await newKey(["read:usage"]);
  await until("all are shown", () => back.of("event").length === 2);
  expect(back.of("event").map(({ data }) => data.data.id)).toEqual([missed.id, later.id]);
  const position = back.of("event")[0]?.id ?? "";
  const byHeader = await open("kinds=events", { ...bearer(gateway.liveKey), "last-event-id": position });
  await until("the last is shown", () => byHeader.of("event").length === 1);
  expect(byHeader.of("event")[0]?.data.data.id).toBe(later.id);
});

test("without a database of records what ended meanwhile is told as a gap, and the rest goes on", async () => {
  const client = await open("kinds=calls");
  client.leave();
  const back = await open(`kinds=calls&after=${client.position}`);
  await until("the gap is told", () => back.of("gap").length === 1);
  expect(back.of("gap")[0]?.data).toEqual({ missed: null, started: 0, ended: 0, events: 0 });
  const id = idOf(await gateway.chat());
  await until("a call is shown", () => back.callNames(id).length === 2);
  const strange = await open("kinds=calls", { ...bearer(gateway.liveKey), "last-event-id": "no position" });
  await until("that gap is told too", () => strange.of("gap").length === 1);
  expect((await open("after=none")).status).toBe(400);
  // What runs is told again after a gap, to whom it was told before.
  const { secret } = await newKey(["read:org"]);
  const closed = await open("", { ...bearer(secret), "last-event-id": "no position" });
  await until("the gap is told there", () => closed.of("gap").length === 1);
  await newKey(["read:usage"]);
  await until("an event is told behind it", () => closed.of("event").length === 1);
  expect(closed.events.map(({ event }) => event)).toEqual(["hello", "gap", "event"]);
});

test("each is sent what its scopes and its role open, and refused what it asks for beyond", async () => {
  const roles = ["admin", "member", "billing", "viewer"];
  const kindsOf = async (headers: Record<string, string>) =>
    (await open("", headers)).of("hello")[0]?.data.kinds;
  const people = new Map<string, SignedInPerson>();
  for (const role of roles) people.set(role, await invited(role, role));
  const byRole = await Promise.all(
    roles.map(async (role) => [role, await kindsOf({ cookie: people.get(role)?.cookie ?? "" })]),
  );
  expect(byRole).toEqual([
    ["admin", ["calls", "credit", "events"]],
    ["member", ["calls", "credit", "events"]],
    ["billing", ["credit"]],
    ["viewer", ["calls", "credit", "events"]],
  ]);
  const usage = await newKey(["read:usage"]);
  expect(await kindsOf(bearer(usage.secret))).toEqual(["calls"]);
  const refused = await open("kinds=calls,credit", bearer(usage.secret));
  expect([refused.status, refused.events[0]?.data.error.code]).toEqual([403, "scope"]);
  const billing = { cookie: people.get("billing")?.cookie ?? "" };
  const closed = await open("kinds=events", billing);
  expect([closed.status, closed.events[0]?.data.error.code]).toEqual([403, "role"]);
  expect((await open("kinds=calls,nothing")).status).toBe(400);
  expect((await open("", {})).status).toBe(401);
});

test("a position of the future is none: a gap is told, and events move on from now", async () => {
  const ahead = "8999999999999999.ZZZZZZZZZZZZZZZZZZZZZZZZZZ.evt_ZZZZZZZZZZ";
  for (const after of [ahead, ahead.replace("8999999999999999", "1")]) {
    const client = await open(`kinds=events&after=${after}`);
    await until("the gap is told", () => client.of("gap").length === 1);
    const hello = client.of("hello")[0];
    expect(hello?.data.position).not.toContain("evt_ZZZZZZZZZZ");
    const { id } = await newKey(["read:usage"]);
    await until("it is told", () => client.of("event").some(({ data }) => data.data.id === id));
    const last = client.of("event").at(-1);
    expect(last?.id.endsWith(`.${(last.data as unknown as { id: string }).id}`)).toBe(true);
  }
});

test("the stream ends with its key, its session, its membership, and with the role that opened a part of it", async () => {
  const key = await newKey(["read:usage"]);
  const byKey = await open("", bearer(key.secret));
  const reader = async (name: string) => {
    const person = await invited(name, "member");
    return { person, stream: await open("", { cookie: person.cookie }) };
  };
  const [leaver, removed, changed] = [
    await reader("leaver"),
    await reader("removed"),
    await reader("changed"),
  ];
  await gateway.call("DELETE", `/v1/keys/${key.id}`);
  expect((await leaver.person.call("POST", "/auth/logout")).status).toBeLessThan(400);
  const path = (person: SignedInPerson) => `/v1/orgs/first/members/${person.id}`;
  expect((await gateway.call("DELETE", path(removed.person))).status).toBeLessThan(300);
  const billing = await gateway.call("PATCH", path(changed.person), { body: { role: "billing" } });
  expect(billing.status).toBe(200);
  const ended = [byKey, leaver.stream, removed.stream, changed.stream];
  await until("all have ended", () => ended.every(({ isOver }) => isOver));
  expect(ended.map((client) => client.events.at(-1)?.event)).toEqual(["error", "error", "error", "error"]);
});

test("an org has a bound of streams, and what is closed makes room", async () => {
  const before = clients.splice(0);
  for (const client of before) client.leave();
  const first = await until(
    "all but the new ones are closed",
    async () => {
      const opened = await Promise.all(Array.from({ length: 200 }, () => open("kinds=credit")));
      if (opened.every(({ status }) => status === 200)) return opened;
      for (const client of opened) client.leave();
      return [];
    },
    ({ length }) => length === 200,
  );
  const more = await open("kinds=credit");
  expect([more.status, more.events[0]?.data.error.code]).toEqual([429, "concurrency"]);
  first[0]?.leave();
  await until("there is room again", async () => (await open("kinds=credit")).status === 200);
  for (const client of clients) client.leave();
});
