/** What is made of texts is kept, and how much of it. */
import { expect, test } from "vitest";
import { TextCache } from "../../../../src/wire/schema/text-cache.ts";

/** A cache of lengths, and the first characters of the texts that it was asked to make something of. */
function counting() {
  const made: string[] = [];
  const cache = new TextCache((text) => {
    made.push(text.slice(0, 8));
    return text.length;
  });
  return { cache, made };
}

const textOf = (name: string, length: number): string => name.padEnd(length, ".");
const KIB = 1024;

test("a text is met twice and made once", () => {
  const { cache, made } = counting();
  expect([cache.get("a"), cache.get("bc"), cache.get("a")]).toEqual([1, 2, 1]);
  expect(made).toEqual(["a", "bc"]);
});

test("nothing that was made is kept too", () => {
  let made = 0;
  const cache = new TextCache<undefined>(() => {
    made++;
    return undefined;
  });
  cache.get("a");
  cache.get("a");
  expect(made).toBe(1);
});

test("a long text is made each time", () => {
  const { cache, made } = counting();
  for (let i = 0; i < 2; i++) cache.get(textOf("long", 64 * KIB + 1));
  expect(made).toHaveLength(2);
});

test("of many texts those are kept that were met last", () => {
  const { cache, made } = counting();
  const get = (name: string) => cache.get(textOf(name, 64 * KIB));
  // Each counts 1 KiB more.
  for (let i = 0; i < 63; i++) get(`t${i}.`);
  get("t0.");
  get("more.");
  made.length = 0;
  get("t0.");
  get("t2.");
  get("t1.");
  expect(made.map((text) => text.split(".")[0])).toEqual(["t1"]);
});
