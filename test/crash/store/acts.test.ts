/** Acts against a plain map that runs them one after the other: whatever waits, lies in the journal, in LMDB, or came back. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openStore } from "../../../src/store/store.ts";
import { amount, rounds } from "../../support/effort.ts";
import { type Act, act, actsOf, Model, Refused, Subject } from "./acts.program.ts";
import { ACTS } from "./acts.writer.ts";

/** `WEIR_ACT_LIVES=200` for many. */
const LIVES = Number(process.env.WEIR_ACT_LIVES ?? amount(4, 2));

const home = mkdtempSync(join(tmpdir(), "weir-store-acts-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, String(++folders));

/** Acts that begin in one turn of the event loop, and what comes next. */
interface Round {
  readonly acts: readonly Act[];
  readonly next: "go on" | "turn" | "wait" | "let LMDB follow" | "restart";
}

const round: fc.Arbitrary<Round> = fc.record({
  acts: fc.array(act, { maxLength: 4 }),
  next: fc.constantFrom("go on", "turn", "turn", "wait", "let LMDB follow", "restart"),
});

describe.each([
  ["run once", false],
  ["run twice: each is one act", true],
])("acts that are %s", (_, actsTwice) => {
  test("read the writes of earlier acts and match the model; other readers see whole groups", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 20 }), async (program) => {
        const folder = newFolder();
        let store = openStore(folder, { actsTwice });
        let subject = new Subject(store);
        const model = new Model();
        /** After each act, beginning with none. */
        const states = [model.state()];
        let seen = 0;
        /** What is read outside of acts is a state that was, never one before what is known to be committed. */
        const look = (committed: number) => {
          const at = states.lastIndexOf(subject.state());
          expect(at).toBeGreaterThanOrEqual(Math.max(seen, committed));
          seen = committed;
        };
        let all: Promise<unknown>[] = [];
        for (const { acts, next } of program) {
          for (const steps of acts) {
            const expected = outcomeOf(() => model.act(steps));
            states.push(model.state());
            const number = states.length - 1;
            const running = subject.act(steps).then(
              (value) => {
                look(number);
                return { value };
              },
              (error: unknown) => ({ error }),
            );
            all.push(running.then((outcome) => expect(outcome).toEqual(expected)));
          }
          look(seen);
          if (next === "turn") await turn();
          if (next === "wait") await Promise.all(all);
          if (next === "let LMDB follow") await store.caughtUp();
          if (next !== "restart") continue;
          await Promise.all(all);
          all = [];
          await store.close();
          store = openStore(folder, { actsTwice });
          subject = new Subject(store);
          look(states.length - 1);
        }
        await Promise.all(all);
        expect(subject.state()).toBe(model.state());
        await store.close();
      }),
      { numRuns: rounds(40) },
    );
  });
});

function outcomeOf(act: () => unknown): { value: unknown } | { error: unknown } {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}

test(
  `over ${LIVES} lives that end by kill -9, what was told is there, in order, and nothing of an act alone`,
  async () => {
    const folder = newFolder();
    /** What the lives before left. */
    const model = new Model();
    for (let seed = 1; seed <= LIVES; seed++) {
      const told = await live(folder, seed);
      const store = openStore(folder);
      const found = store.table<number>("done").get(seed) ?? 0;
      expect(found, "acts that are there").toBeGreaterThanOrEqual(told);
      for (const steps of actsOf(seed, ACTS).slice(0, found)) outcomeOf(() => model.act(steps));
      const state = new Subject(store).state();
      expect(state).toBe(model.state());
      await store.close();
    }
  },
  60_000 + LIVES * 5_000,
);

/** Runs the writer until it kills itself. Returns the greatest number that it was told is committed. */
async function live(folder: string, seed: number): Promise<number> {
  const script = join(import.meta.dirname, "acts.writer.ts");
  const child = spawn(process.execPath, [script, folder, String(seed)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [lines, [, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(signal, "how the writer ended").toBe("SIGKILL");
  return Math.max(0, ...lines.trim().split("\n").map(Number));
}

describe("an act", () => {
  test("within another is refused, and so is one after the store has closed", async () => {
    const store = openStore(newFolder());
    const rows = store.table<number>("rows");
    const outer = store.act(() => {
      rows.put("a", 1);
      return store.act(() => rows.put("b", 1));
    });
    await expect(outer).rejects.toThrow("an act inside another");
    expect(rows.get("a")).toBeUndefined();
    expect(() => rows.put("a", 1)).toThrow("outside an act");
    await store.close();
    await expect(store.act(() => {})).rejects.toThrow("closed");
  });

  test("that throws keeps the writes of others under the same key", async () => {
    const store = openStore(newFolder());
    const rows = store.table<number>("rows");
    const first = store.act(() => rows.put("a", 1));
    const refused = expect(
      store.act(() => {
        rows.put("a", 2);
        if (rows.get("a") === 2) throw new Refused("no");
      }),
    ).rejects.toThrow(Refused);
    const last = store.act(() => rows.get("a"));
    await Promise.all([first, refused]);
    expect([await last, rows.get("a")]).toEqual([1, 1]);
    await store.close();
  });
});

describe("Table.watch", () => {
  test("watchers are called for each changed row in order, once reads see it and before its act resolves", async () => {
    const failures: unknown[] = [];
    const store = openStore(newFolder(), { onFailure: (error) => failures.push(error) });
    const [rows, others] = [store.table<number>("rows"), store.table<number>("others")];
    const told: unknown[] = [];
    rows.watch((key, row) => told.push([key, row, rows.get(key)]));
    rows.watch(() => {
      throw new Error("a fault of a watcher");
    });
    const first = store.act(() => {
      rows.put("a", 1);
      others.put("b", 1);
      rows.put("a", 2);
    });
    const refused = expect(
      store.act(() => {
        rows.put("c", 1);
        throw new Refused("no");
      }),
    ).rejects.toThrow(Refused);
    expect(told).toEqual([]);
    await first;
    expect(told).toEqual([
      ["a", 1, 2],
      ["a", 2, 2],
    ]);
    await refused;
    await store.act(() => rows.remove("a"));
    expect(told.at(-1)).toEqual(["a", undefined, undefined]);
    expect(failures).toHaveLength(3);
    await store.close();
  });
});
