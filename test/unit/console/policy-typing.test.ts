/** What Tab, Shift+Tab and Enter write into a policy. */
import { expect, test } from "vitest";
import { type Edit, indented, newLine, outdented } from "../../../console/pages/policies/editor/typing.ts";

/** @param marked with | at the cursor, or at both ends of the selection @returns the same of the text afterwards */
function after(marked: string, act: (text: string, at: { start: number; end: number }) => Edit | undefined) {
  const start = marked.indexOf("|");
  const end = Math.max(start, marked.lastIndexOf("|") - 1);
  const text = marked.replaceAll("|", "");
  const edit = act(text, { start, end });
  if (edit === undefined) return undefined;
  const next = text.slice(0, edit.from) + edit.insert + text.slice(edit.to);
  const mark = edit.start === edit.end ? "" : "|";
  return `${next.slice(0, edit.start)}|${next.slice(edit.start, edit.end)}${mark}${next.slice(edit.end)}`;
}

test.each([
  ["|", "  |"],
  ["a|", "a |"],
  ["x\n|b", "x\n  |b"],
  ["a|bc|d", "a |d"],
  ["|a\nb|\nc", "|  a\n  b|\nc"],
  ["a\n|b\n\nc\n|d", "a\n|  b\n\n  c|\nd"],
])("Tab: %j, %j", (before, then) => {
  expect(after(before, indented)).toBe(then);
});

test.each([
  ["  a|", "a|"],
  ["   a\n |  b", "   a\n| b"],
  [" |a", "|a"],
  ["|  a\n b\nc|", "|a\nb\nc|"],
  ["a|", undefined],
])("Shift+Tab: %j, %j", (before, then) => {
  expect(after(before, outdented)).toBe(then);
});

test.each([
  ["version: 1|", "version: 1\n|"],
  ["  sort: price|", "  sort: price\n  |"],
  ["defaults:|", "defaults:\n  |"],
  ["defaults: # all|", "defaults: # all\n  |"],
  ["  - name: a|", "  - name: a\n    |"],
  ["  - match:|", "  - match:\n      |"],
  ["  - |", "  - \n  |"],
  ["a: |b", "a: \n  |b"],
  ["a: b|", "a: b\n|"],
])("Enter: %j, %j", (before, then) => {
  expect(after(before, newLine)).toBe(then);
});
