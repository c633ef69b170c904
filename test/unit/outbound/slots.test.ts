/** Room for calls: limits in all and for one origin, and whose turn it is. */
import { describe, expect, test } from "vitest";
import { Slots } from "../../../src/outbound/slots.ts";
import { kindOf } from "../../support/outbound/fixtures.ts";

const never = new AbortController().signal;

/** Asks for room, and notes when there is some. */
function asker(slots: Slots): { ask: (name: string) => Promise<void>; begun: string[] } {
  const begun: string[] = [];
  const ask = async (name: string) => {
    if (!slots.take(name)) await slots.wait(name, never);
    begun.push(name);
  };
  return { ask, begun };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a slow origin takes its own share and leaves the rest to others", async () => {
  const slots = new Slots({ total: 4, perOrigin: 2, waiting: 10 });
  const { ask, begun } = asker(slots);
  for (const name of ["slow", "slow", "slow", "slow", "b"]) void ask(name);
  await turn();
  expect(begun).toEqual(["slow", "slow", "b"]);
  slots.release("slow");
  await turn();
  expect(begun).toEqual(["slow", "slow", "b", "slow"]);
});

test("origins that wait have their turns one after the other, whoever came first with many", async () => {
  const slots = new Slots({ total: 1, perOrigin: 1, waiting: 10 });
  const { ask, begun } = asker(slots);
  for (const name of ["a", "a", "a", "a", "b", "c", "b"]) void ask(name);
  for (let i = 0; i < 6; i += 1) {
    await turn();
    slots.release(begun.at(-1) as string);
  }
  await turn();
  expect(begun).toEqual(["a", "b", "c", "a", "b", "a", "a"]);
});

test("one that waits is not overtaken by one that comes later", async () => {
  const slots = new Slots({ total: 5, perOrigin: 1, waiting: 10 });
  const { ask, begun } = asker(slots);
  for (const name of ["a", "a"]) void ask(name);
  slots.release("a");
  expect(slots.take("a")).toBe(false);
  await turn();
  expect(begun).toEqual(["a", "a"]);
});

describe("the wait", () => {
  test("is refused to more than may wait", async () => {
    const slots = new Slots({ total: 1, perOrigin: 1, waiting: 1 });
    expect(slots.take("a")).toBe(true);
    const first = slots.wait("a", never);
    expect(await kindOf(slots.wait("b", never))).toBe("busy");
    slots.release("a");
    await first;
  });

  test("ends with its signal's reason, and its place is free again", async () => {
    const slots = new Slots({ total: 1, perOrigin: 1, waiting: 1 });
    slots.take("a");
    const limit = new AbortController();
    const ended = slots.wait("b", limit.signal);
    limit.abort(new Error("too late"));
    await expect(ended).rejects.toThrow("too late");
    const next = slots.wait("c", never);
    slots.release("a");
    await next;
    expect(slots.take("b")).toBe(false);
    slots.release("c");
    expect(slots.take("b")).toBe(true);
  });
});
