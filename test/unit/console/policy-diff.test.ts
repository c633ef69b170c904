/** Differences of texts by line: both texts can be read from them, and they are as short as can be. */
import { expect, test } from "vitest";
import { type DiffLine, folded, lineDiff, linesOf } from "../../../console/pages/policies/line-diff.ts";
import { seededRandom } from "../../../src/base/clock.ts";

const shown = (before: string, after: string): string[] =>
  lineDiff(before, after).map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`);

test("lines that are gone, came and stayed, with their numbers in both texts", () => {
  expect(shown("a\nb\nc\n", "a\nx\ny\nc\nd\n")).toEqual([" a", "-b", "+x", "+y", " c", "+d"]);
  expect(lineDiff("a\nb\n", "b\nc\n")).toEqual([
    { kind: "removed", text: "a", old: 1 },
    { kind: "same", text: "b", old: 2, new: 1 },
    { kind: "added", text: "c", new: 2 },
  ]);
  expect(shown("", "a")).toEqual(["+a"]);
  expect(shown("a\r\nb", "")).toEqual(["-a", "-b"]);
  expect(shown("", "")).toEqual([]);
});

test("a line break at the end is no line, and CRLF no difference", () => {
  expect(shown("a\nb", "a\r\nb\r\n")).toEqual([" a", " b"]);
});

test("texts of all kinds: both are in the difference, and no shorter one would do", () => {
  const random = seededRandom(7);
  const text = () =>
    Array.from({ length: Math.floor(random() * 12) }, () => "abcd".charAt(Math.floor(random() * 4))).join(
      "\n",
    );
  for (let i = 0; i < 500; i++) {
    const [before, after] = [text(), text()];
    const lines = lineDiff(before, after);
    const of = (left: DiffLine["kind"]) => lines.filter(({ kind }) => kind !== left);
    expect(of("added").map((line) => line.text)).toEqual(linesOf(before));
    expect(of("removed").map((line) => line.text)).toEqual(linesOf(after));
    expect(of("added").map((line) => line.old)).toEqual(linesOf(before).map((_, at) => at + 1));
    expect(of("removed").map((line) => line.new)).toEqual(linesOf(after).map((_, at) => at + 1));
    const same = lines.filter(({ kind }) => kind === "same").length;
    expect(same).toBe(longestCommon(linesOf(before), linesOf(after)));
  }
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const best = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (x: number, y: number) => best[x]?.[y] ?? 0;
  for (let x = 1; x <= a.length; x++)
    for (let y = 1; y <= b.length; y++)
      (best[x] as number[])[y] =
        a[x - 1] === b[y - 1] ? at(x - 1, y - 1) + 1 : Math.max(at(x - 1, y), at(x, y - 1));
  return at(a.length, b.length);
}

test("texts that have nothing in common are told as replaced, however long", () => {
  const text = (word: string) => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join("\n");
  const lines = lineDiff(text("old"), text("new"));
  expect(lines).toHaveLength(10_000);
  expect([lines[4999]?.kind, lines[5000]?.kind]).toEqual(["removed", "added"]);
});

test("long runs that are the same are folded, and one line is not", () => {
  const before = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  const after = before.with(10, "changed");
  const pieces = folded(lineDiff(before.join("\n"), after.join("\n")), 3);
  expect(pieces.map((piece) => ("hidden" in piece ? -piece.hidden.length : piece.lines.length))).toEqual([
    -7, 8, -6,
  ]);
  const near = folded(lineDiff(before.slice(0, 15).join("\n"), after.slice(0, 15).join("\n")), 3);
  expect(near.at(-1)).toEqual({ lines: [{ kind: "same", text: "line 14", old: 15, new: 15 }] });
  expect(folded(lineDiff("a\nb\nc\nd\ne", "a\nb\nc\nd\ne"), 3)).toEqual([{ hidden: expect.any(Array) }]);
});
