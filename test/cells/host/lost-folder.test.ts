/** A cell whose charges ClickHouse lacks is killed, and is away, then retired with its folder lost, then found again. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";
import { type Entry, type Listed, LostFolder } from "./lost-folder-rig.ts";

const missing = missingRedis();
const LIMITS = [1, 20, 500];
/** Calls after the lost ones: with them the list has more than 20 entries. */
const LATER = 15;
const sum = (entries: readonly Entry[]): number =>
  entries.reduce((all, one) => all + one.amount_micro_usd, 0);
const seqs = ({ entries }: Listed): number[] => entries.map(({ seq }) => seq);
const down = (from: number, to: number): number[] =>
  Array.from({ length: from - to + 1 }, (_, at) => from - at);

describe.skipIf(missing !== undefined)("C2: entries of the ledger that ClickHouse lacks", () => {
  let all: LostFolder;
  /** Numbers of the entries that are lost, two runs of them. */
  let lost: [first: number, last: number][] = [];
  let newest = 0;
  /** What lists said while the cell was away. */
  let incompleteSince = "";
  beforeAll(async () => {
    all = await LostFolder.open();
    await all.calls(3, 0);
    await all.start({ isHeld: true });
    for (const between of [3, 0]) {
      const first = (await all.newest()) + 1;
      await all.calls(4, "lost");
      lost = [...lost, [first, await all.newest()]];
      if (between > 0) await all.calls(between, 1);
    }
    await all.end("SIGKILL");
    await all.calls(LATER, 0);
    newest = await all.newest();
  });
  afterAll(() => all?.close());

  /** Each list, at every cell and by every size of pages, once no cell that runs is late. */
  const everywhere = async (isInTime: (list: Listed) => boolean, query = ""): Promise<Listed[]> => {
    const lists: Listed[] = [];
    for (const url of all.urls)
      for (const limit of LIMITS)
        lists.push(await until("no cell is late", () => all.list(url, limit, query), isInTime));
    return lists;
  };
  const lacksNothing = ({ incompleteSince: since }: Listed) => since === undefined;
  const has = (count: number) => (list: Listed) => list.entries.length >= count;

  async function expectWhole(): Promise<Entry[]> {
    const [first, ...others] = await everywhere(lacksNothing);
    for (const { entries } of others) expect(entries).toEqual(first?.entries);
    expect(first?.incompleteSince).toBeUndefined();
    expect(sum(first?.entries ?? [])).toBe(await all.balance());
    return [...(first?.entries ?? [])];
  }

  test("while the cell is only away, all others are shown, and lists say since when some may be missing", async () => {
    const [[first1 = 0, last1 = 0] = [], [first2 = 0, last2 = 0] = []] = lost;
    const there = [...down(newest, last2 + 1), ...down(first2 - 1, last1 + 1), ...down(first1 - 1, 1)];
    for (const list of await everywhere(has(there.length))) {
      expect(seqs(list)).toEqual(there);
      incompleteSince = list.incompleteSince ?? "none";
      expect(Date.parse(incompleteSince)).not.toBeNaN();
      expect(list.entries.filter(({ kind }) => kind === "adjustment")).toEqual([]);
    }
    for (const list of await everywhere(has(there.length - 1), "&kind=settle"))
      expect([seqs(list), typeof list.incompleteSince]).toEqual([there.slice(0, -1), "string"]);
    for (const list of await everywhere(has(0), "&kind=adjustment"))
      expect([seqs(list), typeof list.incompleteSince]).toEqual([[], "string"]);
  });

  let before: Entry[] = [];
  test("once it is retired, one entry stands for each run, in one list at every cell, whose sum is the balance", async () => {
    await all.retire();
    before = await expectWhole();
    const shown = lost.map(([first_seq, last_seq]) => ({ first_seq, last_seq, entries: 4 }));
    const gaps = before.filter(({ kind }) => kind === "adjustment");
    expect(gaps.map(({ details }) => details)).toEqual(shown.reverse());
    expect(gaps.map(({ seq, ref_type }) => [seq, ref_type])).toEqual(
      shown.map(({ last_seq }) => [last_seq, "missing_entries"]),
    );
    expect(new Set(before.map(({ seq }) => seq)).size).toBe(newest - 3 - 3);
    expect(before.slice(0, LATER).map(({ seq }) => seq)).toEqual(down(newest, newest - LATER + 1));
    for (const list of await everywhere(lacksNothing, "&kind=adjustment")) expect(list.entries).toEqual(gaps);
    for (const list of await everywhere(lacksNothing, "&kind=settle"))
      expect(list.entries).toEqual(before.filter(({ kind }) => kind === "settle"));
    for (const url of all.urls) {
      const { text } = await all.ask(url, "/v1/credits/ledger?format=csv&limit=500");
      const lines = text.trimEnd().split("\r\n").slice(1);
      expect(lines.map((line) => Number(line.split(",")[0]))).toEqual(before.map(({ seq }) => seq));
    }
  });

  test("entries that come later leave the others as they are", async () => {
    await all.calls(3, 1);
    expect((await expectWhole()).slice(3)).toEqual(before);
  });

  test("another cell that is away changes nothing of what was found, and the newest page says that calls may be missing", async () => {
    const whole = await expectWhole();
    await all.setAway("another", true);
    for (const list of await everywhere(has(whole.length))) {
      expect(list.entries).toEqual(whole);
      expect(list.incompleteSince).toBe(new Date(0).toISOString());
    }
    await all.setAway("another", false);
    expect(await expectWhole()).toEqual(whole);
  });

  test("where the folder is found again, the true entries are shown, and no number has changed", async () => {
    await all.start({ isHeld: false });
    const whole = await until(
      "its entries are listed",
      async () => (await all.list(all.urls[0] ?? "", 500)).entries,
      (entries) => entries.every(({ kind }) => kind !== "adjustment"),
    );
    expect(whole.map(({ seq }) => seq)).toEqual(down(whole[0]?.seq ?? 0, 1));
    const gone = before.filter(({ kind }) => kind === "adjustment");
    for (const { details, amount_micro_usd } of gone) {
      const { first_seq = 0, last_seq = 0 } = details ?? {};
      const found = whole.filter(({ seq }) => seq >= first_seq && seq <= last_seq);
      expect(sum(found)).toBe(amount_micro_usd);
      for (const { created_at } of found) expect(created_at >= incompleteSince).toBe(true);
    }
    const kept = before.filter(({ kind }) => kind !== "adjustment");
    expect(whole).toEqual(expect.arrayContaining(kept));
    expect(await expectWhole()).toEqual(whole);
  });

  test("a cell that stopped, and could not bring its entries to ClickHouse, is only away", async () => {
    await all.end("SIGTERM");
    await all.start({ isHeld: true });
    await all.calls(2, "lost");
    await all.end("SIGTERM");
    await all.calls(1, 0);
    const newest = await all.newest();
    for (const list of await everywhere(has(newest - 2))) {
      expect(seqs(list)).toEqual([newest, ...down(newest - 3, 1)]);
      expect(list.incompleteSince).toBeDefined();
    }
    await all.start({ isHeld: false });
    await until(
      "it has brought them",
      async () => (await all.list(all.urls[0] ?? "", 500)).entries.length === newest,
    );
    expect((await expectWhole()).map(({ seq }) => seq)).toEqual(down(newest, 1));
  });
});
