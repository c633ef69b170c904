/** The log of a call: whatever of it is in memory, in the store or gone, a reader gets every event once, in order, or is told. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextTurn, systemClock } from "../../../../../src/base/clock.ts";
import { brokenOffEvents } from "../../../../../src/inference/exchange/detached/broken-off.ts";
import type { CallLog, LoggedCall } from "../../../../../src/inference/exchange/detached/call-log.ts";
import { pieceOf } from "../../../../../src/inference/exchange/detached/elsewhere/pieces.ts";
import { EventLog, type Part } from "../../../../../src/inference/exchange/detached/event-log.ts";
import { LogReader } from "../../../../../src/inference/exchange/detached/log-reader.ts";
import { EventNumbers, startOf } from "../../../../../src/wire/neutral/event-numbers.ts";
import { BodyReader } from "../../../../support/body.fixtures.ts";

const event = (text: string) => `event: delta\ndata: {"text":${JSON.stringify(text)}}\n\n`;

describe("numbers", () => {
  test("each event has its number, a comment none", () => {
    const numbers = new EventNumbers();
    const text = `${event("a")}: keep-alive\n\n${event("b")}data: [DONE]\n\n`;
    expect(numbers.numbered(Buffer.from(text)).toString()).toBe(
      `id: 0\n${event("a")}: keep-alive\n\nid: 1\n${event("b")}id: 2\ndata: [DONE]\n\n`,
    );
    expect(numbers.next).toBe(3);
  });

  test("an event is found by its number, and by no text that looks like one", () => {
    const events = new EventNumbers(9).numbered(
      Buffer.from(event("\n\nid: 11\n") + event("b") + event("id: 1")),
    );
    const text = events.toString();
    expect(startOf(events, 9)).toBe(0);
    expect(startOf(events, 10)).toBe(text.indexOf("id: 10\n"));
    expect(startOf(events, 11)).toBe(text.lastIndexOf("id: 11\n"));
    expect(startOf(events, 1)).toBe(-1);
    expect(startOf(events, 12)).toBe(-1);
  });
});

/** A store of parts, as the rows of a folder are one. */
function storedParts() {
  const parts = new Map<number, Buffer>();
  return { parts, read: (first: number) => parts.get(first) };
}

function allFrom(log: EventLog, first: number): string {
  let text = "";
  for (let next = first; ; ) {
    const part = log.read(next);
    if (part === "lost") throw new Error(`lost at ${next}`);
    if (part === undefined) return text;
    next = part.end;
    text += part.bytes.toString();
  }
}

const doings = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.string({ maxLength: 30_000 }), { minLength: 1, maxLength: 4 }) },
    fc.constant("store" as const),
    fc.constant("leave" as const),
  ),
  { maxLength: 30 },
);

test("a reader gets the same from any event on, whatever was stored when", () => {
  fc.assert(
    fc.property(doings, (acts) => {
      const store = storedParts();
      const log = new EventLog(store);
      let whole = "";
      const starts: number[] = [];
      for (const act of acts) {
        if (act === "store") {
          const parts = log.unstored();
          for (const { first, bytes } of parts) store.parts.set(first, bytes);
          log.stored(parts.at(-1)?.end ?? 0);
        } else if (act === "leave") log.leaveMemory();
        else {
          const part = log.number(Buffer.from(act.map(event).join("")));
          for (let number = part.first; number < part.end; number++)
            starts.push(whole.length + startOf(part.bytes, number));
          whole += part.bytes.toString("latin1");
          log.append(part);
        }
      }
      const latin1 = (number: number) => Buffer.from(allFrom(log, number)).toString("latin1");
      for (const [number, start] of starts.entries()) expect(latin1(number)).toBe(whole.slice(start));
      expect(log.next).toBe(starts.length);
    }),
    { numRuns: 60 },
  );
});

describe("what is gone", () => {
  test("a reader of events that were dropped is told so, one of later events reads on", () => {
    const log = new EventLog(undefined);
    for (const text of ["a", "b", "c"]) log.append(log.number(Buffer.from(event(text))));
    log.dropTo(2, log.bytes);
    expect(log.read(1)).toBe("lost");
    expect(allFrom(log, 2)).toBe(`id: 2\n${event("c")}`);
    expect(log.keptFrom).toBe(2);
  });

  test("events that are numbered and wait for a commit are not there yet", () => {
    const store = storedParts();
    const log = new EventLog(store);
    log.append(log.number(Buffer.from(event("a"))));
    const last = log.number(Buffer.from(event("b")));
    expect(allFrom(log, 0)).toBe(`id: 0\n${event("a")}`);
    expect(log.read(1)).toBe(undefined);
    for (const { first, bytes } of [...log.unstored(), last]) store.parts.set(first, bytes);
    log.append(last, true);
    log.end();
    log.leaveMemory();
    expect(allFrom(log, 0)).toBe(`id: 0\n${event("a")}id: 1\n${event("b")}`);
  });
});

test("readers that wait are woken by the next event, and by the end", async () => {
  const log = new EventLog(undefined);
  const first = log.changed();
  log.append(log.number(Buffer.from(event("a"))));
  await first;
  const second = log.changed();
  log.end();
  await second;
  expect(log.isOver).toBe(true);
});

async function readFrom(log: CallLog, first: number): Promise<string> {
  const options = { clock: systemClock, filler: "", keepAliveMs: 0 };
  const reader = new BodyReader((client) => new LogReader(log, first, client, options).begin());
  return Buffer.concat(await reader.all).toString();
}

const CHARGED = { how: "charged", response: undefined } as const;

test("who has more than a killed process had stored gets the end behind it, with a number that is new to it", async () => {
  const call = { id: "R", format: "chat" } as LoggedCall;
  const events = new EventLog(undefined);
  events.append(events.number(Buffer.from(event("a"))));
  const error = brokenOffEvents(call, 1, CHARGED).bytes.toString();
  events.append(events.number(Buffer.from(error.slice(error.indexOf("data:")))));
  events.end();
  const killed = { events, call, brokenOff: CHARGED } as Partial<CallLog> as CallLog;
  expect(await readFrom(killed, 0)).toBe(`id: 0\n${event("a")}${error}`);
  expect(await readFrom(killed, 1)).toBe(error);
  for (const next of [2, 7]) expect(await readFrom(killed, next)).toBe(error.replace("id: 1", `id: ${next}`));
  expect(await readFrom({ ...killed, brokenOff: undefined }, 7)).toBe("");
});

test("a reader waits for events that are numbered and not committed yet", async () => {
  const log = new EventLog(undefined);
  log.append(log.number(Buffer.from(event("a"))));
  const last = log.number(Buffer.from(event("b")));
  const reading = readFrom({ call: { orgId: "org_1" }, events: log } as CallLog, 0);
  await nextTurn();
  log.append(last, true);
  log.end();
  expect(await reading).toBe(`id: 0\n${event("a")}id: 1\n${event("b")}`);
});

test("a long event behind a comment is told in pieces from its own beginning on", () => {
  const log = new EventLog(undefined);
  const most = 40;
  const event = `data: ${"x".repeat(3 * most)}\n\n`;
  log.append(log.number(Buffer.from(`: still there\n\n${event}`)));
  let text = "";
  // Each piece is asked for anew, as by another cell.
  for (let [next, skip, asked] = [0, 0, 0]; next === 0; asked++) {
    expect(asked).toBeLessThan(5);
    const part = log.read(next) as Part;
    const piece = pieceOf(part, skip, most);
    text += piece.bytes.toString();
    [next, skip] = [piece.next, piece.skip];
  }
  expect(text).toBe(`id: 0\n${event}`);
});
