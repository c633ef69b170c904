/** Which bodies are decompressed at once, and in which order the others follow. */
import { describe, expect, test } from "vitest";
import { nextTurn } from "../../../../src/base/clock.ts";
import { DecodeQueue } from "../../../../src/edge/body/decode-queue.ts";

/** Bodies named by org and number, such as `a1`. */
class Bodies {
  readonly queue = new DecodeQueue();
  /** In the order in which they began. */
  readonly begun: string[] = [];
  readonly stopped: string[] = [];
  readonly #over = new Map<string, () => void>();

  add(name: string, endsAtOnce = false): () => void {
    return this.queue.add(name.slice(0, 1), (over) => {
      this.begun.push(name);
      this.#over.set(name, over);
      if (endsAtOnce) over();
      return () => this.stopped.push(name);
    });
  }

  async end(...names: string[]): Promise<void> {
    for (const name of names) this.#over.get(name)?.();
    await nextTurn();
  }
}

const AT_ONCE = ["a1", "a2", "a3", "a4"];

test("four run, and the next begins when one has ended", async () => {
  const bodies = new Bodies();
  for (const name of [...AT_ONCE, "a5", "a6"]) bodies.add(name);
  expect(bodies.begun).toEqual(AT_ONCE);
  await bodies.end("a2");
  expect(bodies.begun).toEqual([...AT_ONCE, "a5"]);
  await bodies.end("a2");
  expect(bodies.begun).toEqual([...AT_ONCE, "a5"]);
  await bodies.end("a1", "a3", "a4", "a5");
  expect(bodies.begun).toEqual([...AT_ONCE, "a5", "a6"]);
});

test("orgs take turns", async () => {
  const bodies = new Bodies();
  for (const name of [...AT_ONCE, "a5", "a6", "a7", "b1", "b2", "c1"]) bodies.add(name);
  const order = ["a5", "b1", "c1", "a6", "b2", "a7"];
  for (const [at, name] of [...AT_ONCE, ...order].slice(0, order.length).entries()) {
    await bodies.end(name);
    expect(bodies.begun.slice(4)).toEqual(order.slice(0, at + 1));
  }
});

test("one that comes while a place is being given on does not go before those that wait", async () => {
  const bodies = new Bodies();
  for (const name of [...AT_ONCE, "b1"]) bodies.add(name);
  const ended = bodies.end("a1");
  bodies.add("a5");
  await ended;
  expect(bodies.begun).toEqual([...AT_ONCE, "b1"]);
  await bodies.end("a2");
  expect(bodies.begun.at(-1)).toBe("a5");
  // Where nobody waits it begins at once.
  await bodies.end("a3");
  bodies.add("a6");
  expect(bodies.begun.at(-1)).toBe("a6");
});

test("those that end at once let the next begin, in turns of their own", async () => {
  const bodies = new Bodies();
  for (const name of AT_ONCE) bodies.add(name);
  for (let at = 0; at < 600; at++) bodies.add(`${at % 2}${at}`, true);
  await bodies.end(...AT_ONCE);
  expect(bodies.begun.length).toBeLessThan(20);
  for (let turn = 0; turn < 200; turn++) await nextTurn();
  expect(bodies.begun).toHaveLength(604);
});

describe("who leaves", () => {
  test("gives the place up to the next", async () => {
    const bodies = new Bodies();
    const stops = [...AT_ONCE, "a5", "b1"].map((name) => bodies.add(name));
    stops[4]?.();
    stops[0]?.();
    stops[0]?.();
    await nextTurn();
    expect(bodies.stopped).toEqual(["a1"]);
    expect(bodies.begun).toEqual([...AT_ONCE, "b1"]);
    stops[5]?.();
    expect(bodies.stopped).toEqual(["a1", "b1"]);
  });

  test("makes room to wait in", async () => {
    const bodies = new Bodies();
    for (const name of AT_ONCE) bodies.add(name);
    for (let round = 0; round < 5000; round++) bodies.add(`b${round}`)();
    bodies.add("c1");
    await bodies.end("a1");
    expect(bodies.begun).toEqual([...AT_ONCE, "c1"]);
  });
});

test("an org's waiting bodies take half of the places, and all of them together have a bound", () => {
  const bodies = new Bodies();
  for (const name of AT_ONCE) bodies.add(name);
  const add = (org: string, count: number) => {
    for (let at = 0; at < count; at++) bodies.add(`${org}${at}`);
  };
  add("a", 512);
  expect(() => bodies.add("a")).toThrow(expect.objectContaining({ code: "concurrency", retryAfterMs: 1000 }));
  add("b", 500);
  add("c", 12);
  expect(() => bodies.add("c")).toThrow("Too many compressed bodies are under way.");
  // Two orgs that fill all places keep no third one out.
  bodies.add("d1");
  expect(() => bodies.add("d2")).toThrow("Too many compressed bodies are under way.");
});
