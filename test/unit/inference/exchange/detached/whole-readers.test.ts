/** Readers of a call that is no stream: they wait as long as it runs, however long that is, and their leaving is noticed meanwhile. */
import { expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import type { AnswerStream } from "../../../../../src/base/operation/answer.ts";
import { perform } from "../../../../../src/edge/perform.ts";
import type { CallLog, WholeBody } from "../../../../../src/inference/exchange/detached/call-log.ts";
import { EventLog } from "../../../../../src/inference/exchange/detached/event-log.ts";
import { detachedOperations } from "../../../../../src/inference/exchange/detached/operations.ts";
import { readable } from "../../../../../src/inference/exchange/detached/readable-call.ts";
import { BodyReader } from "../../../../support/body.fixtures.ts";
import { NO_HEAD } from "../../../../support/http-head.fixtures.ts";
import { ORIGIN } from "../../../../support/trail.fixtures.ts";

const ID = "0".repeat(26);
const OWNER = { orgId: "o", projectId: "p", environment: "live" } as const;
const CALLER = {
  ...OWNER,
  requestId: "",
  actor: { kind: "key", id: "k" } as const,
  origin: ORIGIN,
  scopes: new Set<string>(),
};

/** A call that runs, and its reader. @param whole the answer that it will have */
async function read(whole: WholeBody): Promise<{ readonly events: EventLog; readonly stream: AnswerStream }> {
  const call = {
    ...OWNER,
    id: ID,
    format: "chat",
    isStream: false,
    isInMemory: false,
    startedMs: 1,
  } as const;
  const events = new EventLog(undefined);
  const log: CallLog = { call, events, endedMs: 0, brokenOff: undefined, whole: () => whole, cancel() {} };
  const calls = { readable: async () => readable(log) };
  const { readCallStream } = detachedOperations({ calls, clock: systemClock, keepAliveMs: 0 });
  const input = { params: { id: ID }, query: "", body: Buffer.alloc(0) };
  const named = { name: "readCallStream", ...readCallStream };
  const { headers, stream } = await perform(named, input, CALLER, NO_HEAD, 1000);
  expect(headers).toEqual(["content-type", "application/json"]);
  return { events, stream: stream ?? expect.fail("the answer comes as it is there") };
}

test("the operation does not wait for the call, whose answer is the body", async () => {
  const { events, stream } = await read({ status: 200, body: Buffer.from("{}") });
  const reader = new BodyReader(stream.body);
  events.end();
  expect(String(await reader.all)).toBe("{}");
});

test("an error comes before any part, so that it is told as one", async () => {
  const { events, stream } = await read({ status: 502, body: Buffer.from("failed") });
  const reader = new BodyReader(stream.body);
  events.end();
  await expect(reader.all).rejects.toMatchObject({
    kind: "state",
    details: { status: 502, answer: "failed" },
  });
});

test("a reader that leaves waits no longer", async () => {
  const { events, stream } = await read({ status: 200, body: Buffer.from("{}") });
  const reader = new BodyReader(stream.body);
  reader.gone = true;
  // As each second does.
  events.look();
  expect(await reader.all).toEqual([]);
});

test("a slow reader is given a part of a long answer at a time", async () => {
  const body = Buffer.alloc(300_000, "a");
  const { events, stream } = await read({ status: 200, body });
  const reader = new BodyReader((client) => stream.body(client));
  reader.isFull = true;
  events.end();
  await reader.begun;
  expect(reader.text.length).toBeLessThan(100_000);
  reader.isFull = false;
  reader.resume();
  expect(Buffer.concat(await reader.all).equals(body)).toBe(true);
});
