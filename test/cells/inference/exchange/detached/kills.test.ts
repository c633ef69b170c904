/** Cells are killed, retired and started again while detached calls run and are read: a clear end everywhere, and at most one charge. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  begin,
  eventsIn,
  idsIn,
  leftAfter,
  resumed,
  wholeEvents,
} from "../../../../support/detached/fixtures.ts";
import { Hopeless, until } from "../../../../support/wait.ts";
import { type At, by, DetachedCells, readingAt } from "./cells-rig.ts";

let cells: DetachedCells;
let owners = 0;
beforeAll(async () => {
  cells = await DetachedCells.open();
});
afterAll(() => cells?.close());

const ZDR = { route: { providers: { only: ["stalls"] }, require: { zdr: true } } };
const BROKEN_OFF = /event: error\ndata: .*"code":"gateway_unavailable"/;
const lastOf = (text: string) => eventsIn(text).at(-1);

/** A call that has said 20 events, and stalls, at a cell of its own that can be killed. */
async function stalled(svc: Readonly<Record<string, unknown>> = by("stalls")) {
  const name = `owner-${++owners}`;
  const owner = await cells.start(name);
  const { id, text } = await leftAfter(owner, "messages", 20, { svc });
  // What was said is stored ten times a second: before another call has ended that takes longer, and is charged behind it.
  await (await begin(owner, "chat", { svc: by("slow") })).text();
  return { name, id, got: wholeEvents(text) };
}

/** The stream of a call at a cell, once its end is known there. */
const known = (at: At, id: string, last?: string) =>
  until(
    "the call's end is known",
    () => resumed(at, id, last),
    ({ status }) => {
      if (status !== 200 && status !== 503) throw new Hopeless(`status ${status}`);
      return status === 200;
    },
  );

/** What the call cost by its record, which is what the ledger has of it, once. */
async function chargeOf(id: string): Promise<number> {
  const record = await until(
    "it is recorded",
    () => cells.call(cells.at(0), "GET", `/v1/generation/${id}`),
    ({ status }) => status === 200,
  );
  const { total_micro_usd } = record.json.cost;
  const charges = await until(
    "it is charged",
    () => cells.chargesOf(id),
    ({ length }) => length > 0,
  );
  expect(charges).toEqual([total_micro_usd]);
  return total_micro_usd;
}

/** A call that has ended. @returns its id */
async function brief(owner: At): Promise<string> {
  const { id } = await leftAfter(owner, "chat", 1, { svc: by("brief") });
  await until(
    "it has ended",
    () => cells.call(cells.at(0), "GET", `/v1/requests/${id}`),
    ({ status }) => status === 200,
  );
  return id;
}

/** Two ids of no call. */
const othersThan = (id: string) =>
  [..."XYZ"].map((last) => id.slice(0, -1) + last).filter((other) => other !== id) as [string, string];

const isCertain = ({ status }: { readonly status: number }) => status !== 503;

async function end(name: string): Promise<void> {
  await cells.kill(name);
  await cells.retire(name);
}

describe("the cell that runs a call is killed", () => {
  test("while it is away its call is 503, then the stream ends with an error, and what it said is charged once", async () => {
    const { name, id, got } = await stalled();
    const reading = await readingAt(cells.at(0), id);
    await cells.kill(name);
    const away = await cells.call(cells.at(1), "GET", `/v1/generation/${id}/stream`);
    expect([away.status, away.headers.get("retry-after")], away.text).toEqual([503, "1"]);
    expect((await cells.call(cells.at(1), "POST", `/v1/generation/${id}/cancel`)).status).toBe(503);
    const back = await cells.start(name);
    const { text } = await resumed(back, id);
    expect(lastOf(text)).toMatch(BROKEN_OFF);
    expect(text.startsWith(got)).toBe(true);
    expect(await reading.rest()).toBe(text);
    for (const at of [cells.at(0), cells.at(1)]) expect((await known(at, id)).text).toBe(text);
    const rest = await resumed(cells.at(1), id, String(idsIn(got).at(-1)));
    expect(got + rest.text).toBe(text);
    expect(await chargeOf(id)).toBeGreaterThan(0);
    // A further start finds nothing to charge.
    await cells.kill(name);
    await cells.start(name);
    expect((await known(cells.at(0), id)).text).toBe(text);
    expect(await cells.chargesOf(id)).toHaveLength(1);
    await end(name);
  });

  test("and retired: its readers are told, and what its folder brings later is charged to nobody", async () => {
    const { name, id } = await stalled();
    const reading = await readingAt(cells.at(0), id);
    await end(name);
    const told = lastOf(await reading.rest());
    expect(told).toMatch(BROKEN_OFF);
    expect(told).toContain("it is not charged");
    // Who reads from now on is told the same, behind what it has; and who may not is told nothing.
    for (const at of [cells.at(0), cells.at(1)]) {
      const { text: end } = await known(at, id, "17");
      expect([idsIn(end), end]).toEqual([[18], `${(told ?? "").replace(/^id: \d+/, "id: 18")}\n\n`]);
      expect((await resumed(at, id, undefined, cells.gateway.testKey)).status).toBe(404);
      const cancelled = await cells.call(at, "POST", `/v1/generation/${id}/cancel`);
      expect(cancelled.status, cancelled.text).toBe(200);
    }
    const back = await cells.start(name);
    const { text } = await resumed(back, id);
    expect(lastOf(text)).toMatch(BROKEN_OFF);
    expect((await known(cells.at(1), id)).text).toBe(text);
    const ofCall = async () => (await cells.uncharged()).filter(({ request_id }) => request_id === id);
    const listed = await until("it is on the operator's list", ofCall, ({ length }) => length > 0);
    expect(listed).toHaveLength(1);
    expect(listed[0]?.amount_micro_usd).toBeGreaterThan(0);
    const record = await cells.call(back, "GET", `/v1/generation/${id}`);
    expect(record.json.cost?.total_micro_usd, record.text).toBe(listed[0]?.amount_micro_usd);
    expect(await cells.chargesOf(id)).toEqual([]);
    await end(name);
  });

  test("and retired: the answer of a call that is no stream is the error", async () => {
    const name = `owner-${++owners}`;
    const owner = await cells.start(name);
    const going = new AbortController();
    const asked = { svc: by("stalls"), body: { stream: false }, signal: going.signal };
    const answer = begin(owner, "chat", asked).catch(() => undefined);
    const told = await until(
      "its cell told of it",
      () => cells.told(name),
      ({ ids }) => ids.length === 1,
    );
    expect(told.leftMs).toBe(-1);
    const [id = ""] = told.ids;
    going.abort();
    await answer;
    await end(name);
    const { leftMs } = await cells.told(name);
    expect([leftMs > 0, leftMs <= 600_000]).toEqual([true, true]);
    const { status, json } = await until(
      "it is known to be over",
      () => cells.call(cells.at(0), "GET", `/v1/generation/${id}/stream`),
      ({ status }) => status !== 503,
    );
    expect([status, json.error.details.status]).toEqual([409, 503]);
    expect(JSON.parse(json.error.details.answer).error.message).toContain("it is not charged");
  });

  test("a call without data retention ends with it, for its readers too, and is not charged", async () => {
    const { name, id } = await stalled(ZDR);
    const reading = await readingAt(cells.at(0), id);
    await cells.kill(name);
    await cells.start(name);
    for (const text of [await reading.rest(), (await known(cells.at(1), id)).text]) {
      expect(lastOf(text)).toMatch(BROKEN_OFF);
      expect(lastOf(text)).toContain("may not be stored");
    }
    expect(await cells.chargesOf(id)).toEqual([]);
    await end(name);
  });
});

test("a call without data retention that had ended before its cell is not said to have ended with it, nor to be free", async () => {
  const name = `owner-${++owners}`;
  const owner = await cells.start(name);
  const svc = { route: { providers: { only: ["brief"] }, require: { zdr: true } } };
  const answer = await begin(owner, "messages", { svc });
  const id = answer.headers.get("x-svc-request-id") ?? "";
  const whole = await answer.text();
  expect((await resumed(cells.at(0), id)).text).toBe(whole);
  await until(
    "its cell has taken back what it told",
    () => cells.told(name),
    ({ ids }) => !ids.includes(id),
  );
  await cells.kill(name);
  const back = await cells.start(name);
  for (const at of [back, cells.at(0), cells.at(1)])
    for (const last of [undefined, String(idsIn(whole).at(-1))]) {
      const { status, text } = await until(
        "it is known to be gone",
        () => resumed(at, id, last),
        ({ status }) => status !== 503,
      );
      expect(status, text).toBe(404);
    }
  expect(await chargeOf(id)).toBeGreaterThan(0);
  await end(name);
});

test("a cell that stopped in good order told of all its calls: any other id is known to be nowhere", async () => {
  const name = `owner-${++owners}`;
  const owner = await cells.start(name);
  const id = await brief(owner);
  const { text: whole } = await resumed(owner, id);
  // From a life before: the process that stops has told nothing of it by itself.
  await cells.kill(name);
  await cells.start(name);
  expect(await cells.stop(name)).toBe(0);
  const [strange] = othersThan(id);
  for (const at of [cells.at(0), cells.at(1)]) {
    const { status } = await until("it is known how the cell stands", () => resumed(at, strange), isCertain);
    expect(status).toBe(404);
    expect((await resumed(at, id)).status).toBe(503);
  }
  await cells.start(name);
  expect((await known(cells.at(1), id)).text).toBe(whole);
  await end(name);
});

test("a call that a killed cell had told of and not stored is nowhere, also once the cell's next life has stopped", async () => {
  const name = `owner-${++owners}`;
  const owner = await cells.start(name);
  const id = await brief(owner);
  await cells.kill(name);
  const [lost, strange] = othersThan(id);
  await cells.tellOf(name, id, lost);
  await cells.start(name);
  expect((await resumed(cells.at(0), lost)).status).toBe(404);
  expect(await cells.stop(name)).toBe(0);
  const { status } = await until(
    "it is known how the cell stands",
    () => resumed(cells.at(0), strange),
    isCertain,
  );
  expect(status).toBe(404);
  expect((await resumed(cells.at(0), lost)).status).toBe(404);
  expect((await resumed(cells.at(0), id)).status).toBe(503);
  await end(name);
});

test("a reader whose cell is killed goes on at the next", async () => {
  const reader = await cells.start("reader");
  const { id } = await leftAfter(cells.at(0), "chat", 1, { svc: by("slow") });
  const reading = await readingAt(reader, id);
  await cells.kill("reader");
  const got = wholeEvents(await reading.rest());
  const next = await known(cells.at(1), id, String(idsIn(got).at(-1)));
  expect(got + next.text).toBe((await resumed(cells.at(0), id)).text);
  await cells.retire("reader");
});
