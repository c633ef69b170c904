/** A client of the live stream: writes that are few, what is missed is told, and nothing that is over is shown as running. */
import { expect, test } from "vitest";
import { positionAt, positionText } from "../../../../src/analytics/live/live-position.ts";
import type { Snapshot } from "../../../../src/analytics/live/live-snapshot.ts";
import type { OrgEvent } from "../../../../src/analytics/live/org-events.ts";
import { newId } from "../../../../src/base/ids.ts";
import { openListener, running, settled } from "./live.fixtures.ts";

const orgEvent = (id: string): OrgEvent => ({ id, orgId: "org_1", json: `{"id":"${id}"}` });

test("what comes within an interval leaves in one write, each call's beginning before its end", () => {
  const { time, sink, feed, listener } = openListener();
  listener.rows.begin();
  for (let at = 0; at < 40; at++) {
    feed.started(running(`call${at}`));
    feed.firstToken(running(`call${at}`, { ttftMs: 5 }));
    listener.setCredit(`event: credit\ndata: {"id":"${at}"}\n\n`);
    feed.passOn();
    listener.ends.take(settled(`call${at}`));
    time.advance(5);
  }
  time.advance(200);
  // 200 ms of calls, at most one write in 200 ms.
  expect(sink.writes.length).toBeLessThanOrEqual(3);
  const { told } = sink;
  for (let at = 0; at < 40; at++)
    expect(told.filter((event) => event.endsWith(` call${at}`))).toEqual([
      `call.started call${at}`,
      `call.first_token call${at}`,
      `call.ended call${at}`,
    ]);
  expect(told.filter((event) => event.startsWith("credit")).length).toBe(sink.writes.length);
  expect(told.filter((event) => event.startsWith("credit")).at(-1)).toBe("credit 39");
});

test("a client that reads nothing is kept so much and no more, is told what it missed, and then what runs", async () => {
  const snapshot = async (): Promise<Snapshot> => ({ count: 1, calls: [running("now")] });
  const { time, sink, feed, listener } = openListener({ snapshot });
  listener.rows.begin();
  sink.isSlow = true;
  feed.started(running("first"));
  feed.passOn();
  time.advance(300);
  expect(sink.told).toEqual(["call.started first"]);
  const fill = (count: number) => {
    for (let at = 0; at < count; at++) {
      feed.started(running("later"));
      listener.ends.take(settled("later"));
      listener.orgEvents.take(orgEvent(newId("evt", time.now())));
      if (at % 100 === 0) feed.passOn();
    }
    feed.passOn();
    time.advance(300);
  };
  fill(1500);
  expect(sink.writes).toHaveLength(1);
  sink.isSlow = false;
  sink.read();
  time.advance(300);
  const { told } = sink;
  const count = (name: string) => told.filter((event) => event.startsWith(name)).length;
  expect([count("call.started"), count("call.ended"), count("event")]).toEqual([1 + 1000, 1000, 200]);
  expect(told.at(-1)).toBe(`gap ${500 + 500 + 1300} 500 500 1300`);
  // The snapshot is there a turn later.
  await Promise.resolve();
  await Promise.resolve();
  feed.started(running("next"));
  feed.passOn();
  time.advance(300);
  expect(sink.told.slice(-2)).toEqual(["running now", "call.started next"]);
});

test("what the feed could not keep, or was lost between cells, is told as missed", () => {
  const { time, sink, feed } = openListener();
  for (let at = 0; at < 2100; at++) feed.started(running("many"));
  time.advance(300);
  time.advance(300);
  const missed = 2100 - sink.told.filter((event) => event === "call.started many").length;
  expect(missed).toBeGreaterThan(0);
  expect(sink.told.at(-1)).toBe(`gap ${missed} ${missed} 0 0`);
});

test("a call that ends while the snapshot is taken is not shown as running", async () => {
  const { promise, resolve } = Promise.withResolvers<Snapshot>();
  const { time, sink, listener } = openListener({ snapshot: () => promise });
  listener.rows.begin();
  const taken = listener.snapshot();
  listener.ends.take(settled("ended"));
  time.advance(300);
  resolve({ count: 2, calls: [running("ended"), running("runs")] });
  await taken;
  time.advance(300);
  expect(sink.told).toEqual(["call.ended ended", "running runs"]);
});

test("a snapshot that waits to be sent leaves before the ends that are read from the past", async () => {
  const { time, sink, listener } = openListener({
    snapshot: async () => ({ count: 1, calls: [running("ended")] }),
  });
  listener.setCredit("event: credit\ndata: {}\n\n");
  time.advance(300);
  await listener.snapshot();
  await listener.client.sendNow(() => listener.pastText([settled("ended")]));
  time.advance(300);
  expect(sink.told).toEqual(["credit", "running ended", "call.ended ended"]);
});

test("a beginning that comes behind its end, which was read from the past, is left out", async () => {
  const { time, sink, feed, listener } = openListener();
  const past = new Set<string>();
  listener.resume(past);
  feed.started(running("ended"));
  past.add("late");
  await listener.client.sendNow(() => listener.pastText([settled("late")]));
  feed.started(running("late"));
  time.advance(300);
  listener.rows.begin(past);
  listener.ends.take(settled("late"));
  listener.ends.take(settled("ended"));
  time.advance(300);
  expect(sink.told).toEqual(["call.ended late", "call.started ended", "call.ended ended"]);
});

test("ids of events move the position on, over both of its sequences", () => {
  const { time, sink, listener } = openListener();
  listener.rows.begin();
  listener.greet(["calls", "events"]);
  const start = positionText(positionAt(time.now()));
  const [older, newer] = [newId("evt", time.now() + 1), newId("evt", time.now() + 2)];
  listener.ends.take(settled("01KAAAAAAAAAAAAAAAAAAAAAAA", 1_900_000_000_000_001));
  listener.orgEvents.take(orgEvent(newer));
  listener.orgEvents.take(orgEvent(older));
  time.advance(300);
  const ids = [...sink.writes.join("").matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  const call = "1900000000000001.01KAAAAAAAAAAAAAAAAAAAAAAA";
  expect(ids).toEqual([
    start,
    `${call}.${start.split(".").at(-1)}`,
    `${call}.${newer}`,
    // What another cell made before comes late, and moves nobody back.
    `${call}.${newer}`,
  ]);
});

test("nothing is kept for a client that has left", () => {
  const { time, sink, feed, listener } = openListener();
  sink.end();
  expect(feed.isWatched("org_1")).toBe(false);
  listener.setCredit("event: credit\ndata: {}\n\n");
  listener.marks.miss(1);
  listener.ends.take(settled("late"));
  time.advance(300);
  expect(sink.writes).toEqual([]);
});
