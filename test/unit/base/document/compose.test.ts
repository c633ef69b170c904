/** Texts that break a bound are refused with the place where they do, and what keeps to the bounds is read as ever. */
import { expect, test } from "vitest";
import { z } from "zod";
import {
  type DocumentBounds,
  OPERATOR_BOUNDS,
  TENANT_BOUNDS,
} from "../../../../src/base/document/compose.ts";
import { readDocument } from "../../../../src/base/document/document.ts";

const read = (text: string, bounds: DocumentBounds = TENANT_BOUNDS) =>
  readDocument(text, "policy.yaml", z.unknown(), bounds);

function refusalOf(text: string, bounds?: DocumentBounds) {
  const reading = read(text, bounds);
  if (reading.ok) expect.fail("it was read");
  const [first] = reading.problems;
  return `${first?.line}:${first?.column} ${first?.message}`;
}

const { depth, tokens, blanks, anchorsAndAliases } = TENANT_BOUNDS;
const DEEP = `is nested too deeply: at most ${depth} levels are read`;

test.each([
  ["lists", "[", "]"],
  ["mappings", "{a: ", "}"],
  ["lists of dashes", "- ", ""],
  ["mappings of question marks", "? ", ""],
])("S9: %s within each other are read to a depth, and refused where they go deeper", (_what, open, close) => {
  const within = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
  expect(refusalOf(within(depth + 1))).toBe(`1:${depth * open.length + 1} ${DEEP}`);
  const reading = read(within(depth));
  // Keys that are no words are refused by another rule.
  if (open !== "? ") expect(reading.ok).toBe(true);
  else expect(refusalOf(within(depth))).toContain("a key must be a word");
});

test("S9: what is nested by indentation is bounded, too", () => {
  const stairs = (levels: number) =>
    Array.from({ length: levels }, (_, i) => `${" ".repeat(i)}a:\n`).join("");
  expect(read(stairs(depth)).ok).toBe(true);
  expect(refusalOf(stairs(depth + 1))).toBe(`${depth + 1}:${depth + 2} ${DEEP}`);
});

test("S9: words and signs are counted, wherever they are", () => {
  // Each item is a word and a comma; before the first are a word, a colon and a bracket.
  const text = `x: [${"a,".repeat(tokens)}]`;
  expect(refusalOf(text)).toBe(`1:${4 + tokens - 2} holds more than ${tokens} words and signs`);
  expect(read(`x: [${"a,".repeat((tokens - 4) / 2)}]`).ok).toBe(true);
});

test("S9: gaps, line ends and comments are counted apart, so that a text may be laid out wide", () => {
  expect(read(`x: 1${"\n".repeat(blanks - 1)}`).ok).toBe(true);
  expect(refusalOf(`x: 1${"\n".repeat(blanks)}`)).toBe(
    `${blanks}:1 holds more than ${blanks} gaps, line ends and comments`,
  );
  expect(read(`# ${"-".repeat(60_000)}\nx: "${" ".repeat(60_000)}"`).ok).toBe(true);
});

test("S9: anchors and aliases are counted, and what they stand for together", () => {
  const half = anchorsAndAliases / 2;
  const names = (count: number) =>
    `x: [${Array.from({ length: count }, (_, i) => `&a${i} 1`)}]\ny: [${Array.from({ length: count }, (_, i) => `*a${i}`)}]`;
  expect(read(names(half)).ok).toBe(true);
  expect(refusalOf(names(half + 1))).toMatch(/^2:\d+ holds more than 1000 anchors and aliases$/);
  const doubled = (times: number) =>
    `a0: &a0 [1]\n${Array.from({ length: times }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`).join("")}`;
  expect(read(doubled(10)).ok).toBe(true);
  expect(refusalOf(doubled(20))).toBe("1:1 its aliases multiply too far");
  expect(refusalOf("x: &a [1, *a]")).toBe("1:11 *a is inside the value that &a names");
  expect(refusalOf("x: *a\ny: &a 1")).toBe("1:4 nothing before *a has the anchor &a");
});

test("S9: an alias stands for the last anchor of its name before it", () => {
  const reading = read("x: &a 1\ny: *a\nz: &a [2]\nu: *a\n");
  expect(reading).toMatchObject({ ok: true, value: { x: 1, y: 1, z: [2], u: [2] } });
});

test("S9: a policy of 64 KB, one short name a line, is within the bounds", () => {
  const rule = (i: number) => `- name: r${i}\n  then:\n    order:\n${"    - gcp\n".repeat(29)}`;
  const text = `version: 1\nrules:\n${Array.from({ length: 200 }, (_, i) => rule(i)).join("")}`;
  expect(text.length).toBeGreaterThan(62_000);
  expect(read(text).ok).toBe(true);
});

test("S9: a catalog of the operator may be a hundred times larger", () => {
  const text = `models:\n${"  - { id: a, prices: { input: 1.5, output: 2 } }\n".repeat(20_000)}`;
  expect(read(text, OPERATOR_BOUNDS).ok).toBe(true);
});

test("S9: a wrong merge of YAML 1.1 is a problem with words of its own", () => {
  expect(refusalOf("%YAML 1.1\n---\nx: {<<: 1}\n")).toMatch(/^1:1 cannot be read: /);
});
