/** What a call costs that nobody watches, what cells tell each other of those that run, and where a client may begin. */
import { expect, test } from "vitest";
import { LiveFeed } from "../../../../src/analytics/live/live-feed.ts";
import { MARKS } from "../../../../src/analytics/live/live-mark.ts";
import { positionAt, positionText, readPosition } from "../../../../src/analytics/live/live-position.ts";
import { Snapshots } from "../../../../src/analytics/live/live-snapshot.ts";
import { OrgEvents } from "../../../../src/analytics/live/org-events.ts";
import { OrgRelay } from "../../../../src/analytics/tail/org-relay.ts";
import { newId } from "../../../../src/base/ids.ts";
import type { ReservedCall } from "../../../../src/inference/exchange/call.ts";
import { WatchedCalls } from "../../../../src/inference/exchange/live/watched-calls.ts";
import type { EventRow } from "../../../../src/store/events/events.ts";
import { Network } from "../../../support/analytics/cell-network.ts";
import { ManualTime } from "../../../support/jobs/fixtures.ts";
import { openListener, running } from "./live.fixtures.ts";

test("of a call that nobody watches only its org is read", () => {
  const { feed, time } = openListener();
  const watched = new WatchedCalls({ watch: feed, clock: time });
  const read: string[] = [];
  const call = new Proxy({} as ReservedCall, {
    get(_, member) {
      read.push(String(member));
      return { orgId: "org_2" };
    },
  });
  watched.started(call);
  watched.firstContent(call);
  expect(read).toEqual(["key", "key"]);
});

function openCell(network: Network, cell: string, time: ManualTime) {
  const signals = network.of(cell);
  const feed = new LiveFeed(time);
  feed.connect(new OrgRelay({ signals, clock: time, timers: time }, MARKS, feed));
  const snapshots = new Snapshots(signals);
  return { feed, snapshots };
}

test("a call at one cell is told at another that watches its org, and at no other", async () => {
  const time = new ManualTime();
  const network = new Network();
  const [a, b] = [openCell(network, "a", time), openCell(network, "b", time)];
  const told: string[] = [];
  a.feed.watch("org_1", {
    take: ({ kind, call }) => void told.push(`${kind} ${call.requestId}`),
    miss: (count) => void told.push(`missed ${count}`),
  });
  expect(b.feed.isWatched("org_1")).toBe(false);
  await a.feed.reachOthers("org_1");
  expect([b.feed.isWatched("org_1"), b.feed.isWatched("org_2")]).toEqual([true, false]);
  b.feed.started(running("x"));
  b.feed.started(running("other", { orgId: "org_2" }));
  b.feed.firstToken(running("x"));
  time.advance(50);
  network.isLost = (topic) => topic === "live.rows";
  b.feed.started(running("lost"));
  b.feed.passOn();
  network.isLost = () => false;
  b.feed.started(running("y"));
  b.feed.passOn();
  expect(told).toEqual(["started x", "firstToken x", "missed 1", "started y"]);
  const stranger = network.of("stranger");
  for (const rows of [[{ kind: "started" }], [{ kind: "started", call: running("z", { orgId: "org_2" }) }]])
    stranger.tell("live.rows", { orgId: "org_1", before: 0, rows });
  expect(told).toHaveLength(4);
});

test("what runs now is the newest 500 of all cells that pass, and how many there are", async () => {
  const time = new ManualTime();
  const network = new Network();
  const [a, b] = [openCell(network, "a", time), openCell(network, "b", time)];
  const many = (cell: string, count: number) =>
    Array.from({ length: count }, (_, at) =>
      running(`${cell}${at}`, {
        startedAtMs: 2 * at + (cell === "b" ? 1 : 0),
        model: at % 2 === 0 ? "even" : "odd",
        environment: at === 3 ? "test" : "live",
      }),
    );
  a.snapshots.serve((orgId) => (orgId === "org_1" ? many("a", 400) : []));
  b.snapshots.serve((orgId) => (orgId === "org_1" ? many("b", 700) : []));
  const asked = { orgId: "org_1", environment: "live", filters: {} } as const;
  const all = await a.snapshots.of(asked);
  expect([all.count, all.calls.length]).toEqual([1100, 500]);
  expect(all.calls.at(-1)?.requestId).toBe("b699");
  expect(all.calls.map(({ startedAtMs }) => startedAtMs)).toEqual(
    all.calls.map(({ startedAtMs }) => startedAtMs).toSorted((x, y) => x - y),
  );
  const odd = await a.snapshots.of({ ...asked, environment: "test", filters: { model: "odd" } });
  expect([odd.count, odd.calls.map(({ requestId }) => requestId)]).toEqual([2, ["a3", "b3"]]);
  // All who ask while a question is under way share the next one.
  let questions = 0;
  b.snapshots.serve(() => {
    questions += 1;
    return [];
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => a.snapshots.of(asked)));
  expect([answers.map(({ count }) => count), questions]).toEqual([Array(20).fill(400), 2]);
});

test("a position is read as it was written, and nothing else is one", () => {
  const position = {
    call: { settledAtUs: 1_790_000_000_000_123, requestId: "01KAAAAAAAAAAAAAAAAAAAAAAA" },
    eventId: newId("evt", 5),
  };
  expect(readPosition(positionText(position))).toEqual(position);
  const now = positionAt(Date.now());
  expect(readPosition(positionText(now))).toEqual(now);
  for (const text of [
    "",
    "1",
    "1..",
    "1..evt_",
    "-1..evt_0000000000",
    "99999999999999999..evt_0000000000",
    `1.x.${now.eventId}`,
  ])
    expect(readPosition(text)).toBe(undefined);
});

test("events that were missed are the newest, oldest first; of other cells some come once more", () => {
  const rows = Array.from({ length: 300 }, (_, at): EventRow => {
    const createdAtMs = 1_000_000 + at * 1000;
    return { id: newId("evt", createdAtMs), orgId: "org_1", type: "key.created", createdAtMs, data: {} };
  });
  const source = { of: () => rows.toReversed(), watch() {} };
  const missed = (index: number, hasOthers: boolean) => {
    const position = { ...positionAt(0), eventId: rows[index]?.id ?? "" };
    const { events, isWhole } = new OrgEvents(source, hasOthers).missed("org_1", position);
    return [events.map(({ id }) => rows.findIndex((row) => row.id === id)), isWhole] as const;
  };
  expect(missed(296, false)).toEqual([[297, 298, 299], true]);
  expect(missed(296, true)).toEqual([[294, 295, 296, 297, 298, 299], true]);
  const [many, isWhole] = missed(10, false);
  expect([many.length, many[0], many.at(-1), isWhole]).toEqual([200, 100, 299, false]);
});
