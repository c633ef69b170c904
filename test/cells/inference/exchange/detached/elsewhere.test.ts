/** A detached call is read, cancelled and joined at any cell: the one that runs it is asked, and nothing of it stays in Redis. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  begin,
  eventsIn,
  idsIn,
  leftAfter,
  resumed,
  STREAMS,
  wholeEvents,
} from "../../../../support/detached/fixtures.ts";
import { equals, until } from "../../../../support/wait.ts";
import { by, DetachedCells, readingAt } from "./cells-rig.ts";

let cells: DetachedCells;
beforeAll(async () => {
  cells = await DetachedCells.open();
});
afterAll(() => cells?.close());

test.each(Object.keys(STREAMS))(
  "a %s stream is read at another cell, while it runs and after",
  async (format) => {
    const [owner, other] = [cells.at(0), cells.at(1)];
    const { id, text } = await leftAfter(owner, format, 3, { svc: by("talks") });
    const got = wholeEvents(text);
    const last = String(idsIn(got).at(-1));
    const [whole, rest] = await Promise.all([resumed(other, id), resumed(other, id, last)]);
    const here = await resumed(owner, id);
    expect(whole).toEqual(here);
    expect(got + rest.text).toBe(here.text);
    expect(await resumed(other, id)).toEqual(here);
    expect((await resumed(other, id, last)).text).toBe(rest.text);
    expect((await resumed(other, id, String(idsIn(here.text).at(-1)))).text).toBe("");
  },
);

test("events that are longer than a message arrive whole", async () => {
  const [owner, other] = [cells.at(0), cells.at(1)];
  const { id } = await leftAfter(owner, "chat", 1, { svc: by("long") });
  const there = await resumed(other, id);
  const here = await resumed(owner, id);
  expect(here.text.length).toBeGreaterThan(3_000_000);
  expect(there).toEqual(here);
});

test("a call without data retention is read at another cell, too", async () => {
  const svc = { route: { providers: { only: ["talks"] }, require: { zdr: true } } };
  const { id } = await leftAfter(cells.at(0), "messages", 2, { svc });
  const there = await resumed(cells.at(1), id);
  expect(idsIn(there.text).length).toBeGreaterThan(40);
  expect(there).toEqual(await resumed(cells.at(0), id));
});

test("the answer of a call that is no stream is given once it is there", async () => {
  const headers = { "idempotency-key": "whole" };
  const asked = { body: { stream: false }, svc: by("talks"), headers };
  const before = cells.gateway.simulator.totalCalls;
  const going = new AbortController();
  const first = begin(cells.at(0), "chat", { ...asked, signal: going.signal });
  first.catch(() => {});
  await until("the upstream is asked", () => cells.gateway.simulator.totalCalls > before);
  going.abort();
  const again = await begin(cells.at(1), "chat", asked);
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  const id = again.headers.get("x-svc-request-id") ?? "";
  const answer = await again.text();
  expect(await resumed(cells.at(1), id)).toEqual({ status: 200, type: "application/json", text: answer });
  expect(cells.gateway.simulator.totalCalls - before).toBe(1);
});

test("a repetition of its Idempotency-Key at another cell gets the running stream", async () => {
  const headers = { "idempotency-key": "stream" };
  const asked = { svc: by("talks"), headers };
  const { id } = await leftAfter(cells.at(0), "responses", 2, asked);
  const again = await begin(cells.at(1), "responses", asked);
  expect(again.headers.get("x-svc-request-id")).toBe(id);
  const text = Buffer.from(await again.arrayBuffer()).toString("latin1");
  expect(text).toBe((await resumed(cells.at(0), id)).text);
});

test("a call that is not detached is 409 for its repetition at another cell", async () => {
  const headers = { "idempotency-key": "plain" };
  const asked = { svc: { ...by("talks"), on_disconnect: "drain" }, headers };
  const first = await begin(cells.at(0), "chat", asked);
  const again = await begin(cells.at(1), "chat", asked);
  expect([again.status, again.headers.get("retry-after")]).toEqual([409, "1"]);
  await Promise.all([first.text(), again.text()]);
});

test("it is cancelled at another cell, and charged what it said", async () => {
  const { id } = await leftAfter(cells.at(0), "messages", 4, { svc: by("stalls") });
  const cancelled = await cells.call(cells.at(1), "POST", `/v1/generation/${id}/cancel`);
  expect([cancelled.status, cancelled.json]).toEqual([200, { id, cancelled: true }]);
  const { text } = await resumed(cells.at(1), id);
  expect(eventsIn(text).at(-1)).toMatch(/event: error\ndata: .*"code":"cancelled"/);
  expect(text).toBe((await resumed(cells.at(0), id)).text);
  const charges = await until(
    "it is charged",
    () => cells.chargesOf(id),
    ({ length }) => length > 0,
  );
  expect(charges).toHaveLength(1);
});

describe("who may read", () => {
  test("a key of another environment finds nothing, nor does who asks for a call that is none", async () => {
    const { id } = await leftAfter(cells.at(0), "chat", 1, { svc: by("talks") });
    const { testKey } = cells.gateway;
    expect((await resumed(cells.at(1), id, undefined, testKey)).status).toBe(404);
    expect((await resumed(cells.at(1), id)).status).toBe(200);
    const none = `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;
    expect((await resumed(cells.at(1), none)).status).toBe(404);
    const cancelled = await cells.call(cells.at(1), "POST", `/v1/generation/${none}/cancel`);
    expect(cancelled.status).toBe(404);
  });

  test("a Last-Event-ID that is none is refused, and one behind the end gets nothing", async () => {
    const { id } = await leftAfter(cells.at(0), "chat", 1, { svc: by("talks") });
    const refused = await resumed(cells.at(1), id, "abc");
    expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([400, "Last-Event-ID"]);
    expect(await resumed(cells.at(1), id, "99999")).toMatchObject({ status: 200, text: "" });
  });
});

test("Redis that is cut for a moment delays a reader at another cell, and no more", async () => {
  const { id } = await leftAfter(cells.at(0), "chat", 1, { svc: by("stalls") });
  const reading = await readingAt(cells.at(1), id);
  cells.proxy.refuse(true);
  await cells.call(cells.at(0), "POST", `/v1/generation/${id}/cancel`);
  const away = await resumed(cells.at(1), id);
  expect(away.status).toBe(503);
  cells.proxy.refuse(false);
  const { text } = await resumed(cells.at(0), id);
  expect(await reading.rest()).toBe(text);
  await until(
    "the other cell is in touch again",
    async () => (await resumed(cells.at(1), id)).text,
    equals(text),
  );
});
