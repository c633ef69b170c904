/** What takes the place of a detached call's client: what it tells, what it does not, and how fast. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import type { ClientReply } from "../../../../../src/inference/client-reply.ts";
import type { LoggedCall } from "../../../../../src/inference/exchange/detached/call-log.ts";
import { DetachedReply } from "../../../../../src/inference/exchange/detached/detached-reply.ts";
import { EventLog } from "../../../../../src/inference/exchange/detached/event-log.ts";
import { readable } from "../../../../../src/inference/exchange/detached/readable-call.ts";
import { replay } from "../../../../../src/inference/exchange/kept/idempotency.ts";
import { RecordingReply } from "../../../../../src/inference/exchange/kept/recording-reply.ts";
import { FORMATS } from "../../../../../src/wire/formats.ts";
import { BodyReader } from "../../../../support/body.fixtures.ts";
import { until } from "../../../../support/wait.ts";

class Client implements ClientReply {
  gone = false;
  heads = 0;
  told = "";
  /** Its socket takes no more, until `resume` is called. */
  isFull = false;
  resume: (() => void) | undefined;
  leave = () => {};

  send(status: number, _headers: string, body: Buffer | string): void {
    this.told += `${status} ${body}`;
  }
  sendJson(status: number, _headers: string, body: Buffer | string): void {
    this.told += `${status} ${body}`;
  }
  openStream(): void {
    this.heads++;
  }
  write(chunk: Buffer): boolean {
    this.told += chunk.toString();
    return !this.isFull;
  }
  end(chunk?: Buffer): void {
    this.told += `${chunk ?? ""}<end>`;
  }
  abort(): void {
    this.told += "<abort>";
  }
  onDrain(resume: () => void): void {
    this.resume = resume;
  }
  onGone(gone: () => void): void {
    this.leave = gone;
  }
}

const CALL: LoggedCall = {
  id: "01M8PKENTVCEN70A2NPJH458CS",
  orgId: "org_1",
  projectId: "prj_1",
  environment: "live",
  format: "messages",
  isStream: true,
  isInMemory: true,
  startedMs: 1,
};

const replyTo = (client: ClientReply, log = new EventLog(undefined)) =>
  new DetachedReply(CALL, log, client, { grew() {}, ended() {} }, systemClock);

function streamTo(client: ClientReply, log?: EventLog): DetachedReply {
  const reply = replyTo(client, log);
  reply.openStream("", FORMATS.messages.keepAlive);
  return reply;
}

const event = (text: string): Buffer => Buffer.from(`event: delta\ndata: ${text}\n\n`);

test("an end that could not be stored in time is not told: the error has its number", () => {
  const client = new Client();
  const log = new EventLog(undefined);
  const reply = streamTo(client, log);
  reply.write(event("a"));
  reply.ending(event("whole"), 200);
  reply.withdrawEnding();
  reply.end(event("error"));
  expect(client.told).toBe(`id: 0\n${event("a")}id: 1\n${event("error")}<end>`);
  expect(`${client.told}`).not.toContain("whole");
  expect(log.read(1)).toMatchObject({ first: 1, end: 2 });
});

test("a repetition of its Idempotency-Key gets the numbers that its client got, also where pings came between", () => {
  const client = new Client();
  const recorder = new RecordingReply(client, 1_000_000);
  recorder.passThrough((over) => replyTo(over));
  recorder.openStream("", FORMATS.messages.keepAlive);
  recorder.write(Buffer.from(FORMATS.messages.keepAlive));
  recorder.write(event("a"));
  const body = recorder.with(event("z")) as Buffer;
  recorder.end(event("z"));
  const again = new Client();
  const answer = { requestId: CALL.id, status: 200, isStream: true, isNumbered: true, fingerprint: "" };
  replay(again, { ...answer, body });
  expect(again.told).toBe(`200 id: 0\n${event("a")}id: 1\n${event("z")}`);
  expect(client.told).toBe(`${FORMATS.messages.keepAlive}id: 0\n${event("a")}id: 1\n${event("z")}<end>`);
});

describe("a long log", () => {
  const EVENTS = 3000;
  /** Each event is a part of its own in the store, as a call that speaks slowly has them. */
  function longLog(): { readonly log: EventLog; readonly whole: string } {
    const parts = new Map<number, Buffer>();
    const log = new EventLog({ read: (first) => parts.get(first) });
    let whole = "";
    for (let number = 0; number < EVENTS; number++) {
      log.append(log.number(event(`${number} of many`.padEnd(300, "."))));
      for (const { first, bytes } of log.unstored()) parts.set(first, bytes);
      log.stored(log.next);
      whole += parts.get(number)?.toString() ?? "";
    }
    return { log, whole };
  }

  test("is read in turns of the event loop, by readers and by a client that was slow", async () => {
    const { log, whole } = longLog();
    const client = new Client();
    client.isFull = true;
    const reply = streamTo(client, log);
    reply.write(event("last"));
    log.end();
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    count();
    const call = readable({
      call: CALL,
      events: log,
      endedMs: 1,
      brokenOff: undefined,
      whole() {},
      cancel() {},
    });
    const options = { clock: { monotonic: () => 0 }, filler: "", keepAliveMs: 0 };
    const told = await new BodyReader((reader) => call.tell("", reader, options)).all;
    client.isFull = false;
    client.resume?.();
    await until("the client has the end", () => client.told.endsWith("<end>"));
    isOver = true;
    const all = `${whole}id: ${EVENTS}\n${event("last")}`;
    expect(Buffer.concat(told).toString()).toBe(all);
    expect(client.told).toBe(`${all}<end>`);
    // Hundreds of kilobytes, sixteen at a time.
    expect(told.length).toBeGreaterThan(30);
    expect(told.length).toBeLessThan(120);
    expect(turns).toBeGreaterThan(30);
  });
});

describe("until the beginning of the call is kept", () => {
  test("its client is told nothing, nor is any reader, and then all of it", async () => {
    const client = new Client();
    const log = new EventLog(undefined);
    const reply = replyTo(client, log);
    reply.hold();
    reply.openStream("", FORMATS.messages.keepAlive);
    const options = { clock: systemClock, filler: ": still there\n\n", keepAliveMs: 60_000 };
    const reader = new BodyReader((told) => readable(reply).tell("", told, options));
    reply.write(event("a"));
    expect([client.heads, client.told, reader.text, log.read(0)]).toEqual([0, "", "", undefined]);
    reply.kept();
    expect([client.heads, client.told, reader.text]).toEqual([
      1,
      `id: 0\n${event("a")}`,
      `id: 0\n${event("a")}`,
    ]);
    reply.write(event("b"));
    expect(client.told).toBe(reader.text);
  });

  test("a call that ends before has its end stored with its beginning, and tells both", () => {
    const client = new Client();
    const reply = replyTo(client);
    reply.hold();
    reply.openStream("", FORMATS.messages.keepAlive);
    reply.write(event("a"));
    reply.end(event("z"));
    reply.kept();
    expect([client.heads, client.told]).toEqual([1, `id: 0\n${event("a")}id: 1\n${event("z")}<end>`]);
  });

  test.for(["leaves", "is answered otherwise", "is cut off"])(
    "a client that %s meanwhile is told no head",
    (how) => {
      const client = new Client();
      const reply = replyTo(client);
      reply.hold();
      reply.openStream("", FORMATS.messages.keepAlive);
      if (how === "leaves") client.leave();
      else if (how === "is cut off") reply.abort();
      else reply.dismiss(() => {});
      reply.kept();
      expect(client.heads).toBe(0);
    },
  );
});
