/** Calls between cells: counted, so that whoever hears knows what was lost on the way. */
import { expect, test } from "vitest";
import { TailRow } from "../../../../src/analytics/tail/tail-feed.ts";
import { TailRelay } from "../../../../src/analytics/tail/tail-relay.ts";
import { Network } from "../../../support/analytics/cell-network.ts";

let nowMs = 0;
function open(network: Network, cell: string) {
  const rows: string[] = [];
  let missed = 0;
  const note = (count: number) => {
    missed += count;
  };
  const timers: (() => void)[] = [];
  const relay = new TailRelay(
    {
      signals: network.of(cell),
      clock: { monotonic: () => nowMs },
      timers: { after: (_ms, act) => (timers.push(act) > 0 ? () => {} : () => {}) },
    },
    { receive: ({ item }) => void rows.push(item.request_id), miss: (_org, count) => note(count) },
  );
  const tick = () => {
    for (const act of timers.splice(0)) act();
  };
  return { relay, rows, missed: () => missed, tick };
}

const row = (id: string, orgId = "org_1") =>
  new TailRow({
    orgId,
    environment: "live",
    settledAtUs: 1,
    item: { request_id: id } as TailRow["item"],
  });

test("an org's calls are passed on only while another cell watches it", async () => {
  const network = new Network();
  const [a, b] = [open(network, "a"), open(network, "b")];
  b.relay.pass([row("before")]);
  expect(b.relay.isWatched("org_1")).toBe(false);
  await a.relay.watch("org_1");
  expect(b.relay.isWatched("org_1")).toBe(true);
  b.relay.pass([row("1"), row("2", "org_2"), row("3")]);
  a.relay.leave("org_1");
  expect(b.relay.isWatched("org_1")).toBe(false);
  b.relay.pass([row("after")]);
  expect([a.rows, a.missed()]).toEqual([["1", "3"], 0]);
});

test("calls that are lost on the way, or that a cell could not keep, are counted with the next that arrives", async () => {
  const network = new Network();
  const [a, b] = [open(network, "a"), open(network, "b")];
  await a.relay.watch("org_1");
  b.relay.pass([row("1")]);
  network.isLost = (topic) => topic === "tail.rows";
  b.relay.pass([row("2"), row("3")]);
  network.isLost = () => false;
  b.relay.miss("org_1", 5);
  b.relay.pass([row("4")]);
  expect([a.rows, a.missed()]).toEqual([["1", "4"], 7]);
});

test("a watch ends by itself when the cell that watches is silent, and one that starts later learns of it", async () => {
  const network = new Network();
  const [a, b] = [open(network, "a"), open(network, "b")];
  await a.relay.watch("org_1");
  nowMs += 12_000;
  a.tick();
  nowMs += 12_000;
  b.relay.pass([row("1")]);
  const late = open(network, "late");
  expect(late.relay.isWatched("org_1")).toBe(true);
  late.relay.pass([row("2")]);
  nowMs += 16_000;
  b.relay.pass([row("3")]);
  expect(b.relay.isWatched("org_1")).toBe(false);
  expect([a.rows, a.missed()]).toEqual([["1", "2"], 0]);
});

test("messages of another shape are ignored", async () => {
  const network = new Network();
  const a = open(network, "a");
  await a.relay.watch("org_1");
  const stranger = network.of("stranger");
  for (const content of [null, "x", { orgId: "org_1", before: -1, rows: [] }, { orgId: 1 }, [1, 2]])
    for (const topic of ["tail.rows", "tail.watching", "tail.left"]) stranger.tell(topic, content);
  expect([a.rows, a.missed(), a.relay.isWatched("org_1")]).toEqual([[], 0, false]);
});
