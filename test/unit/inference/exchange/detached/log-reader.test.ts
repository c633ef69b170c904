/** A reader of a log gets each event in the turn in which it is said, unless it is slow, and is told that a silent call still runs. */
import { beforeEach, describe, expect, test } from "vitest";
import type { CallLog, LoggedCall } from "../../../../../src/inference/exchange/detached/call-log.ts";
import { EventLog } from "../../../../../src/inference/exchange/detached/event-log.ts";
import { LogReader } from "../../../../../src/inference/exchange/detached/log-reader.ts";
import { BodyReader } from "../../../../support/body.fixtures.ts";

const CALL = { id: "R", orgId: "o", format: "chat" } as LoggedCall;
const KEEP_ALIVE_MS = 15_000;
const event = (text: string): string => `data: ${text}\n\n`;

let events: EventLog;
let nowMs = 0;
beforeEach(() => {
  events = new EventLog(undefined);
  nowMs = 0;
});

const say = (...texts: string[]) => events.append(events.number(Buffer.from(texts.map(event).join(""))));

function read(next = 0): BodyReader {
  const log: CallLog = {
    call: CALL,
    events,
    endedMs: 0,
    brokenOff: undefined,
    whole() {},
    cancel() {},
  } as CallLog;
  const options = { clock: { monotonic: () => nowMs }, filler: ":\n\n", keepAliveMs: KEEP_ALIVE_MS };
  return new BodyReader((client) => new LogReader(log, next, client, options).begin());
}

describe("a reader", () => {
  test("has what was said, and then each event in the turn in which it is said", () => {
    say("a", "b");
    const reader = read(1);
    expect(reader.text).toBe(`id: 1\n${event("b")}`);
    say("c");
    expect(reader.text).toBe(`id: 1\n${event("b")}id: 2\n${event("c")}`);
  });

  test("hears at once that it is connected, and again where nothing was said for long", () => {
    const reader = read();
    expect(reader.text).toBe(":\n\n");
    nowMs = KEEP_ALIVE_MS - 1;
    events.look();
    expect(reader.parts).toHaveLength(1);
    say("a");
    nowMs += KEEP_ALIVE_MS - 1;
    events.look();
    expect(reader.parts).toHaveLength(2);
    nowMs++;
    events.look();
    expect(reader.text).toBe(`:\n\nid: 0\n${event("a")}:\n\n`);
  });

  test("that is slow gets nothing until it reads again, and then all it missed", async () => {
    const reader = read();
    reader.isFull = true;
    say("a");
    const said = reader.text;
    say("b");
    say("c");
    events.look();
    events.end();
    expect(reader.text).toBe(said);
    reader.isFull = false;
    reader.resume();
    await reader.all;
    expect(reader.text).toBe(
      `:\n\n${["a", "b", "c"].map((text, at) => `id: ${at}\n${event(text)}`).join("")}`,
    );
  });

  test("that left is told nothing more", () => {
    const reader = read();
    reader.gone = true;
    events.look();
    reader.gone = false;
    say("a");
    expect(reader.text).toBe(":\n\n");
  });

  test("that is slow for longer than its events are kept is told so", async () => {
    const reader = read();
    reader.isFull = true;
    say("a");
    say("b");
    say("c");
    events.dropTo(2, 10);
    reader.resume();
    await expect(reader.all).rejects.toMatchObject({ kind: "state", details: { kept_from: 2 } });
  });

  test("that waits for an event behind the last gets it, and no earlier one", () => {
    const reader = read(2);
    say("a");
    say("b");
    expect(reader.text).toBe(":\n\n");
    say("c");
    expect(reader.text).toBe(`:\n\nid: 2\n${event("c")}`);
  });

  test("has the end where nothing more is said", async () => {
    const reader = read();
    say("a");
    events.end();
    expect(Buffer.concat(await reader.all).toString()).toBe(`:\n\nid: 0\n${event("a")}`);
  });

  test("that cannot be told anything any more harms neither the call nor the other readers", async () => {
    const broken = read();
    const other = read();
    const thrown = new Error("it has no socket any more");
    broken.write = () => {
      throw thrown;
    };
    say("a");
    await expect(broken.all).rejects.toBe(thrown);
    expect(other.text).toBe(`:\n\nid: 0\n${event("a")}`);
    const late = read();
    late.write = broken.write;
    nowMs += KEEP_ALIVE_MS;
    events.look();
    await expect(late.all).rejects.toBe(thrown);
    expect(other.text).toBe(`:\n\nid: 0\n${event("a")}:\n\n`);
  });
});
