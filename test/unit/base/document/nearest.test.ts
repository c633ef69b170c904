/** The nearest of known words: as near as the usual table of edit distances says, and the same ones, however it is computed. */
import { describe, expect, test } from "vitest";
import { type Random, seededRandom } from "../../../../src/base/clock.ts";
import { didYouMeanOneOf, NearestWords, nearest, nearestOf } from "../../../../src/base/document/nearest.ts";
import { rounds } from "../../../support/effort.ts";

/** Levenshtein's distance by the table that textbooks have. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** All that are near enough, the nearest first, the earlier first among equals. */
function nearOnes(word: string, known: readonly string[], most: number): string[] {
  const within = Math.min(Math.max(2, Math.floor(word.length / 3)), 10, word.length - 1);
  return known
    .map((each) => ({ each, typos: distance(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ typos }) => typos <= within)
    .toSorted((a, b) => a.typos - b.typos)
    .slice(0, most)
    .map(({ each }) => each);
}

/** Around the number of bits that are computed at a time. */
const LENGTHS = [0, 1, 5, 31, 32, 33, 64, 65, 100];
const LETTERS = "abcde-01.A世é";
const pick = (random: Random, most: number) => Math.floor(random() * most);
const wordOf = (random: Random, length: number) =>
  Array.from({ length }, () => LETTERS[pick(random, LETTERS.length)]).join("");

/** A word with so many letters changed, left out or put in. */
function misspelt(random: Random, word: string, typos: number): string {
  let out = word;
  for (let typo = 0; typo < typos; typo++) {
    const at = pick(random, out.length + 1);
    const letter = wordOf(random, pick(random, 2));
    out = out.slice(0, at) + letter + out.slice(at + pick(random, 2));
  }
  return out;
}

test.each([1, 2, 3, 4])("are those of a table of distances (seed %i)", (seed) => {
  const random = seededRandom(seed);
  for (let round = 0; round < rounds(40); round++) {
    const known = Array.from({ length: 12 }, () =>
      wordOf(random, LENGTHS[pick(random, LENGTHS.length)] as number),
    );
    const near = known.flatMap((word) => [misspelt(random, word, 1), misspelt(random, word, 4)]);
    const all = [...known, ...near];
    const words = new NearestWords(all);
    for (const word of [wordOf(random, 6), ...near.map((each) => misspelt(random, each, 2))])
      for (const most of [1, 3])
        expect(words.of(word, most), JSON.stringify({ word, all })).toEqual(nearOnes(word, all, most));
  }
});

describe("what is near", () => {
  test.each<[string, string[], string[]]>([
    ["temprature", ["temperature", "top_p"], ["temperature"]],
    ["Temperature", ["temperature"], ["temperature"]],
    ["x", ["temperature"], []],
    ["", ["a", "abc"], []],
    // Another word altogether, however short.
    ["ft", ["o3", "fx", "f"], ["fx", "f"]],
    ["x", ["y", "xy"], []],
    ["ab", [], []],
    ["a".repeat(201), ["a".repeat(201)], []],
    ["a".repeat(200), ["a".repeat(199)], ["a".repeat(199)]],
    // İ becomes two characters in lower case.
    ["İstanbul", ["istanbul"], ["istanbul"]],
    ["gpt-5", ["gpt-4", "gpt-3", "gpt-2", "gpt-1"], ["gpt-4", "gpt-3", "gpt-2"]],
  ])("%.20j of %.40j", (word, known, near) => {
    expect(nearestOf(word, known, 3)).toEqual(near);
    expect(nearest(word, known)).toBe(near[0]);
  });
});

test("of twenty thousand words that are alike the nearest are found", () => {
  const known = Array.from({ length: 20_000 }, (_, at) => `model-${String(at).padStart(5, "0")}-instruct`);
  const words = new NearestWords(known);
  expect(words.of("model-12345-instruct-x", 1)).toEqual(["model-12345-instruct"]);
  expect(words.of("modle-12345-instruct", 1)).toEqual(["model-12345-instruct"]);
  expect(words.of("model-99999-instruct", 3)).toHaveLength(3);
});

test("several are one sentence", () => {
  expect(didYouMeanOneOf([])).toBe("");
  expect(didYouMeanOneOf(["a"])).toBe('; did you mean "a"?');
  expect(didYouMeanOneOf(["a", "b", "c"])).toBe('; did you mean "a", "b" or "c"?');
});
