/** What models write, in paragraphs and code: nothing of it is lost, and of a text that grows the blocks before stay as they are. */
import { expect, test } from "vitest";
import { blocksOf, MOST_OF_BLOCK } from "../../../console/text/prose.ts";

const shown = (text: string) => blocksOf(text).map(({ kind, text: said }) => `${kind}: ${said}`);

test("paragraphs end at an empty line, code between its fences", () => {
  expect(shown("One\ntwo\n\nThree\n```ts\nlet a;\n\nlet b;\n```\nFour")).toEqual([
    "text: One\ntwo",
    "text: Three",
    "code: let a;\n\nlet b;",
    "text: Four",
  ]);
});

test.each([
  ["a longer fence holds shorter ones", "````\n```\na\n```\n````", ["code: ```\na\n```"]],
  ["fences of another kind do not end it", "~~~\n```\n~~~\nb", ["code: ```", "text: b"]],
  ["a fence that is still open is code", "```js\nlet a", ["code: let a"]],
  ["code in a line is text", "```a``` is b", ["text: ```a``` is b"]],
  ["markup is text", "<b>a</b>\n\n# b", ["text: <b>a</b>", "text: # b"]],
  ["nothing", "", []],
])("%s", (_, text, expected) => {
  expect(shown(text)).toEqual(expected);
});

test("long blocks are cut, and together they are the whole", () => {
  const long = `${"word ".repeat(3000)}\n${"😀".repeat(5000)}`;
  const blocks = blocksOf(long);
  expect(blocks.map(({ text }) => text).join("")).toBe(long);
  for (const { text } of blocks) {
    expect(text.length).toBeLessThanOrEqual(MOST_OF_BLOCK);
    expect(text.isWellFormed()).toBe(true);
  }
  expect(blocks.map(({ goesOn }) => goesOn)).toEqual(blocks.map((_, at) => at > 0));
});

test("a text that grows changes its last blocks alone", () => {
  const text = Array.from({ length: 40 }, (_, at) => `Paragraph ${at} ${"said ".repeat(300)}`).join("\n\n");
  const before = blocksOf(text.slice(0, text.length / 2));
  const after = blocksOf(text);
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
});
