/**
 * The cell that runs a detached stream, or a background response, dies at an append to its journal, and returns: the call ends clearly and
 * alike at every cell, is charged once, for what its log holds, has one record, and nothing of it stays held.
 */
import pLimit from "p-limit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { estimateOutputTokens } from "../../../../../src/wire/estimate.ts";
import { RUNNING } from "../../../../support/background/fixtures.ts";
import {
  begin,
  idsIn,
  lastOf,
  leftAfter,
  resumed,
  said,
  wholeEvents,
  wordsIn,
} from "../../../../support/detached/fixtures.ts";
import { isThorough } from "../../../../support/effort.ts";
import { type Answer, callsBy } from "../../../../support/gateway.ts";
import { killAtAppend } from "../../../../support/store/kill-at-append.ts";
import { until } from "../../../../support/wait.ts";
import { expectResponse } from "../../../../support/wire/open-responses.ts";
import { type At, by, DetachedCells, TOKENS } from "./cells-rig.ts";

let cells: DetachedCells;
beforeAll(async () => {
  cells = await DetachedCells.open();
});
afterAll(() => cells?.close());

/** `cut`: its process died. `free`: nothing was said, and it costs nothing. `unknown`: no client and no cell knows it. */
type End = "whole" | "cut" | "cut, free" | "unknown";

/** The append at which the cell dies: the `at`-th that has this text. */
interface Moment {
  readonly text: string;
  readonly at: number;
  readonly how: "before" | "torn" | "behind";
  /** Where it is the same in each run. */
  readonly end?: End;
}

/** The row of a call; the act that settles it; what Redis answered to its charge. */
const [ROW, SETTLED, NUMBERED] = ["detached.calls", "endedMs", "charges_numbered"];

const CHOSEN_OF_STREAM: readonly Moment[] = [
  { text: SETTLED, at: 1, how: "before", end: "cut" },
  { text: SETTLED, at: 1, how: "behind", end: "whole" },
  { text: NUMBERED, at: 1, how: "before", end: "whole" },
];
const CHOSEN_OF_RESPONSE: readonly Moment[] = [
  { text: ROW, at: 1, how: "behind", end: "cut, free" },
  { text: SETTLED, at: 1, how: "before", end: "cut" },
  { text: SETTLED, at: 1, how: "behind", end: "whole" },
];
const CHOSEN_OF_RETURN: readonly Moment[] = [{ text: SETTLED, at: 1, how: "behind", end: "cut" }];

/** Every append, those of a start's jobs among them. A call has about fourteen, a return about ten. */
const everyOf = (count: number): readonly Moment[] =>
  (["before", "torn", "behind"] as const).flatMap((how) =>
    Array.from({ length: count }, (_, at) => ({ text: "", at: at + 1, how })),
  );
const momentsOf = (chosen: readonly Moment[], count: number) =>
  [...chosen, ...(isThorough ? everyOf(count) : [])].map((moment) => {
    const { text, at, how } = moment;
    return [`${how} append ${at}${text && ` of ${text}`}`, moment] as const;
  });

/** Each starts a cell twice, a second of a processor: more at once would keep readers waiting for longer than they wait. */
const some = pLimit(4);
let owners = 0;

/** A cell that dies at an append of what it is asked. */
async function mortal(name: string, { text, at, how }: Moment): Promise<At> {
  const owner = await cells.start(name, { env: killAtAppend(`${at} ${how}`, text) });
  cells.signal(name, "SIGUSR2");
  return owner;
}

/** It is killed, unless it has died, and returns. */
async function returned(name: string): Promise<At> {
  await cells.kill(name);
  return await cells.start(name);
}

/** Resolves once the cell has died, or the call that it was asked is over, its record written. */
const deathOrRecord = (name: string, id: string | undefined) =>
  until("it has died, or the call is recorded", async () => {
    if (cells.hasDied(name)) return true;
    return id !== undefined && (await cells.call(cells.at(0), "GET", `/v1/requests/${id}`)).status === 200;
  });

/** What calls cost by their records. */
const costs = new Map<string, number>();

/**
 * What the record of a call says that has ended, and that nothing of it is held.
 * @param text what it said, as its log has it
 */
async function booked(name: string, id: string, isCut: boolean, text: string): Promise<End> {
  const { json: record } = await until(
    "there is a record",
    () => cells.call(cells.at(0), "GET", `/v1/requests/${id}`),
    ({ status }) => status === 200,
  );
  const { cost_micro: cost, output_tokens: tokens } = record;
  costs.set(id, cost);
  await until(
    "nothing is held",
    () => cells.creditAt(name),
    ({ held }) => held === 0,
  );
  if (!isCut) {
    expect(record).toMatchObject({ status: "ok", error_code: "", usage_source: "provider" });
    return "whole";
  }
  expect(record).toMatchObject({ status: "error", error_code: "gateway_unavailable" });
  // Its provider may have said all, and how much that was, before it died.
  const isReported = record.usage_source === "provider";
  expect(tokens).toBe(isReported ? TOKENS : estimateOutputTokens(Buffer.byteLength(text)));
  expect(cost > 0).toBe(tokens > 0);
  return cost > 0 ? "cut" : "cut, free";
}

/** Answers but that a cell is away, or that the key's call may still run. */
const isSettled = ({ status, text }: { readonly status: number; readonly text: string }) =>
  status !== 503 && !text.includes("idempotency_in_progress");

const all = () => [cells.at(0), cells.at(1)] as const;
const keyed = (name: string) => ({ "idempotency-key": name });

function expectNumbered(text: string): void {
  const ids = idsIn(text);
  expect(ids).toEqual(ids.map((_, index) => index));
}

// -- a detached stream --

/** What a reader got: its events, and whether it was cut off from what follows. */
interface Read {
  readonly text: string;
  readonly isCut: boolean;
}

/** What the answer to a request has, until its end or until its connection is cut. */
async function eventsOf(asked: Promise<Response | undefined>, onHead = (_id: string) => {}): Promise<Read> {
  let text = "";
  let isCut = false;
  try {
    const response = await asked;
    if (response?.ok !== true) return { text, isCut: true };
    onHead(response.headers.get("x-svc-request-id") ?? "");
    for await (const bytes of response.body as ReadableStream<Uint8Array>)
      text += Buffer.from(bytes).toString("latin1");
  } catch {
    isCut = true;
  }
  return { text: said(wholeEvents(text)), isCut };
}

/** Asks the cell for a stream. @returns what its client, and a reader at another cell, got until it ended or the cell died */
async function toldUntilDeath(owner: At, headers: Record<string, string>) {
  const { url, liveKey } = cells.at(0);
  let id: string | undefined;
  let reading: Promise<Read> | undefined;
  const asked = firstAnswer(() => begin(owner, "chat", { svc: by("steady"), headers }));
  const told = await eventsOf(asked, (of) => {
    id = of;
    const authorization = `Bearer ${liveKey}`;
    reading = eventsOf(fetch(`${url}/v1/generation/${id}/stream`, { headers: { authorization } }));
  });
  return { id, told, reading };
}

/** The same request at another cell, once it is known there what became of the first. */
const repeated = (headers: Record<string, string>) =>
  until(
    "the key's call is over",
    async () => {
      const response = await begin(cells.at(1), "chat", { svc: by("steady"), headers });
      const isReplay = response.headers.get("idempotent-replayed") === "true";
      const id = response.headers.get("x-svc-request-id") ?? "";
      return { status: response.status, isReplay, id, text: await response.text() };
    },
    isSettled,
  );

const known = (at: At, id: string, last?: string) =>
  until("the call's cell can be asked", () => resumed(at, id, last), isSettled);

/** The first answer of a cell that has just started and may not serve yet; undefined where it dies before that. */
const firstAnswer = <T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T | undefined> =>
  until(
    "the cell serves, or has died",
    () => ask().catch(() => undefined),
    (answer) => answer?.status !== 503,
  );

/** What every cell has of a call. @param others beside the two that live on */
async function streamAtAll(id: string, others: readonly At[]) {
  const [first, ...more] = await Promise.all([...all(), ...others].map((at) => known(at, id)));
  for (const each of more) expect(each).toEqual(first);
  return first as Awaited<ReturnType<typeof known>>;
}

async function streamEnds(name: string, moment: Moment): Promise<End> {
  const headers = keyed(name);
  const owner = await mortal(name, moment);
  const { id: toldId, told, reading } = await toldUntilDeath(owner, headers);
  await deathOrRecord(name, toldId);
  if (moment.end !== undefined) expect(cells.hasDied(name)).toBe(true);
  const back = await returned(name);
  const again = await repeated(headers);
  const id = toldId ?? (again.isReplay ? again.id : undefined);
  if (id === undefined) {
    expect(again.status, again.text).toBe(200);
    return "unknown";
  }
  const whole = await streamAtAll(id, [back]);
  // Its client knows of it, so that it is kept.
  expect(whole.status, whole.text).toBe(200);
  expectNumbered(whole.text);
  const isCut = whole.text.includes('"gateway_unavailable"');
  if (!isCut) expect(lastOf(whole.text)).toBe("data: [DONE]");
  for (const read of [told, (await reading) ?? told]) {
    // Who was cut off, as by a return that takes long, goes on behind what it has.
    const last = String(idsIn(read.text).at(-1) ?? "");
    const text = read.isCut ? read.text + (await known(cells.at(1), id, last)).text : read.text;
    expectNumbered(text);
    expect(lastOf(text)).toBe(lastOf(whole.text));
  }
  const end = await booked(name, id, isCut, wordsIn(whole.text));
  // A repetition in the moment before its key is answered is a reader of the log like others.
  if (isCut && again.isReplay) expect([again.status, said(again.text)]).toEqual([200, whole.text]);
  else if (end === "cut")
    expect(again).toMatchObject({ status: 409, text: expect.stringContaining(`/${id}/stream`) });
  else expect(again).toMatchObject({ status: 200, isReplay: end === "whole" });
  return end;
}

test.concurrent.for(momentsOf(CHOSEN_OF_STREAM, 24))("a stream whose cell dies %s", ([, moment]) =>
  some(async () => {
    const name = `owner-${++owners}`;
    const end = await streamEnds(name, moment);
    if (moment.end !== undefined) expect(end).toBe(moment.end);
    await cells.stop(name);
  }),
);

// -- a background response --

function respond(at: At, provider: string, headers: Record<string, string>): Promise<Answer> {
  const body = { model: "test/model", input: "x", background: true, svc: by(provider) };
  return callsBy(cells.gateway, at.url, cells.gateway.simulator).call("POST", "/v1/responses", {
    body,
    headers,
  });
}
const stateAt = (at: At, id: string) => cells.call(at, "GET", `/v1/responses/${id}`);
const isEnded = ({ status, json }: Answer) => status === 200 && !RUNNING.includes(json.status);
const callOf = (id: string | undefined) => id?.slice("resp_".length);

/** The ended response, which every cell has alike. @param others beside the two that live on */
async function responseAtAll(id: string, others: readonly At[]) {
  const asked = [...all(), ...others, ...all(), ...others];
  const [first, ...more] = await Promise.all(
    asked.map((at) => until("it has ended", () => stateAt(at, id), isEnded)),
  );
  const { json } = first as Answer;
  for (const each of more) expect(each.json).toEqual(json);
  expectResponse(json);
  if (json.status !== "completed")
    expect(json).toMatchObject({ status: "failed", error: { code: "gateway_unavailable" } });
  return json;
}

async function responseEnds(name: string, moment: Moment): Promise<End> {
  const headers = keyed(name);
  const owner = await mortal(name, moment);
  const accepted = await firstAnswer(() => respond(owner, "steady", headers));
  if (accepted !== undefined) expect(accepted.status, accepted.text).toBe(200);
  await deathOrRecord(name, callOf(accepted?.json.id));
  if (moment.end !== undefined) expect(cells.hasDied(name)).toBe(true);
  const back = await returned(name);
  const again = await until(
    "the key's call is over",
    () => respond(cells.at(1), "steady", headers),
    isSettled,
  );
  expect(again.status, again.text).toBe(200);
  if (accepted !== undefined) expect(again.json).toEqual(accepted.json);
  const { id } = again.json;
  const json = await responseAtAll(id, [back]);
  const log = await known(back, callOf(id) as string);
  const end = await booked(name, callOf(id) as string, json.status === "failed", wordsIn(log.text));
  // Its first call was not accepted, so the repetition made one at the other cell.
  const isOther = accepted === undefined && end === "whole";
  return isOther ? "unknown" : end;
}

test.concurrent.for(momentsOf(CHOSEN_OF_RESPONSE, 24))("a response whose cell dies %s", ([, moment]) =>
  some(async () => {
    const name = `owner-${++owners}`;
    const end = await responseEnds(name, moment);
    if (moment.end !== undefined) expect(end).toBe(moment.end);
    await cells.stop(name);
  }),
);

// -- both, whose cell dies once more --

test.concurrent.for(momentsOf(CHOSEN_OF_RETURN, 40))(
  "a cell that was killed dies %s of its return",
  ([, moment]) =>
    some(async () => {
      const name = `owner-${++owners}`;
      const owner = await cells.start(name);
      const { id: response } = (await respond(owner, "stalls", {})).json;
      const { id } = await leftAfter(owner, "chat", 20, { svc: by("stalls") });
      // What was said is stored ten times a second: before another call has ended that takes longer.
      await (await begin(owner, "chat", { svc: by("steady") })).text();
      await cells.kill(name);
      const second = cells.start(name, {
        env: killAtAppend(`${moment.at} ${moment.how} start`, moment.text),
      });
      if (moment.end !== undefined) await expect(second).rejects.toThrow("the gateway ended with null");
      else await second.catch(() => {});
      const back = await returned(name);
      const { text } = await streamAtAll(id, [back]);
      expect(await booked(name, id, true, wordsIn(text))).toBe("cut");
      expect(await responseAtAll(response, [back])).toMatchObject({ status: "failed" });
      const log = await known(back, callOf(response) as string);
      expect(await booked(name, callOf(response) as string, true, wordsIn(log.text))).toBe("cut");
      await cells.stop(name);
    }),
);

// -- behind all of them --

test("then each call has one charge and one record, and what was not spent is there", async () => {
  const { gateway } = cells;
  const [charges, records] = [await cells.charges(), await cells.records()];
  for (const [id, cost] of costs) expect(charges.get(id) ?? [], id).toEqual(cost === 0 ? [] : [-cost]);
  for (const [id, each] of charges) expect([each.length, records.get(id)], id).toEqual([1, 1]);
  for (const [id, count] of records) expect(count, id).toBe(1);
  const { json } = await cells.call(cells.at(0), "GET", "/v1/credits/ledger?kind=grant");
  const entries: number[] = json.data.map((entry: { amount_micro_usd: number }) => entry.amount_micro_usd);
  const balance = [...entries, ...[...charges.values()].flat()].reduce((sum, amount) => sum + amount, 0);
  const { balance: left } = callsBy(gateway, cells.at(0).url, gateway.simulator);
  const { available } = await until("nothing is held", left, ({ held }) => held === 0);
  expect(available).toBe(balance);
  for (let owner = 1; owner <= owners; owner++)
    expect(await cells.creditAt(`owner-${owner}`)).toEqual({ balance, leased: 0, held: 0 });
});
