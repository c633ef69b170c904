/**
 * Streams that are cut behind every event, and go on at another of three cells each time, one of which is killed again and again: what
 * the clients put together is the whole stream, charged once and recorded once.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../../../../src/base/clock.ts";
import { begin, eventsIn, idsIn, resumed, STREAMS } from "../../../../support/detached/fixtures.ts";
import { amount } from "../../../../support/effort.ts";
import { anyMoment } from "../../../../support/pace.ts";
import { until } from "../../../../support/wait.ts";
import { type At, by, DetachedCells } from "./cells-rig.ts";

const KILLED = "killed";
const CALLS = amount(1000, 12);
const AT_ONCE = 6;

let cells: DetachedCells;
/** The cell that is killed, while it is there. */
let third: At | undefined;
beforeAll(async () => {
  cells = await DetachedCells.open();
  third = await cells.start(KILLED);
});
afterAll(() => cells?.close());

/** The first event of an answer, whose client is killed then; "": it has none; undefined: its cell is away, or was killed. */
async function firstEvent(answer: Promise<Response>, going: AbortController): Promise<string | undefined> {
  try {
    const response = await answer;
    if (response.status === 503) return undefined;
    expect(response.status).toBe(200);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("\n\n")) {
      const { value, done } = await reader.read();
      if (done) return "";
      text += Buffer.from(value).toString("latin1");
    }
    return text.slice(0, text.indexOf("\n\n") + 2);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  } finally {
    going.abort();
  }
}

test(
  `${CALLS} calls, each cut behind every event`,
  async () => {
    const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
    const random = seededRandom(seed);
    const formats = Object.keys(STREAMS);
    const ids: string[] = [];
    let cuts = 0;
    let kills = 0;
    let left = CALLS;
    let isOver = false;
    const killing = async () => {
      while (!isOver) {
        await anyMoment(random, amount(5000, 500));
        third = undefined;
        await cells.kill(KILLED);
        kills++;
        third = await cells.start(KILLED);
      }
    };
    const at = (index: number) => [cells.at(0), cells.at(1), third][index % 3] ?? cells.at(0);
    const cutCall = async (n: number) => {
      const owner = n % 2;
      // A cell that stood still for too long, on a busy machine, does nothing until it has caught up.
      const begun = async () => {
        const going = new AbortController();
        const asked = begin(at(owner), formats[n % formats.length] as string, {
          svc: by("brief"),
          signal: going.signal,
        });
        const id = (await asked).headers.get("x-svc-request-id") ?? "";
        return { id, event: (await firstEvent(asked, going)) ?? "" };
      };
      const { id, event: first } = await until("the call is taken", begun, ({ event }) => event !== "");
      ids.push(id);
      let got = first;
      for (let turn = owner + 1; ; turn++) {
        const going = new AbortController();
        const last = idsIn(got).at(-1);
        const answer = fetch(`${at(turn).url}/v1/generation/${id}/stream`, {
          headers: { authorization: `Bearer ${cells.gateway.liveKey}`, "last-event-id": String(last) },
          signal: going.signal,
        });
        const event = await firstEvent(answer, going);
        if (event === "") break;
        got += event ?? "";
        cuts++;
      }
      const whole = await until(
        "the whole is read",
        () => resumed(at(owner), id),
        ({ status }) => status === 200,
      );
      expect(got, `seed ${seed}: ${id}`).toBe(whole.text);
      expect(eventsIn(got).length).toBeGreaterThan(8);
    };
    const killer = killing();
    try {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          while (left > 0) await cutCall(--left);
        }),
      );
    } finally {
      isOver = true;
      await killer;
    }
    expect(kills).toBeGreaterThan(0);
    const charges = await until(
      "all calls are in the ledger",
      () => cells.charges(),
      (all) => ids.every((id) => all.has(id)),
    );
    for (const id of ids) expect(charges.get(id)?.length, `seed ${seed}: ${id}`).toBe(1);
    const records = await until(
      "all calls are recorded",
      () => cells.records(),
      (all) => ids.every((id) => all.has(id)),
    );
    for (const id of ids) expect(records.get(id), `seed ${seed}: ${id}`).toBe(1);
    if (process.env.WEIR_THOROUGH !== undefined)
      console.log(`${CALLS} calls, ${cuts} cuts, ${kills} kills, seed ${seed}`);
  },
  amount(3_600_000, 600_000),
);
