/** What may be edited in place: text within the bounds of the operator's own files. */
import { expect, test } from "vitest";
import { OPERATOR_BOUNDS } from "../../../../src/base/document/compose.ts";
import { EditError, editDocument } from "../../../../src/base/document/edit.ts";

const EDIT = [{ path: ["a"], text: "2" }];

test("a value is replaced, and everything else stays", () => {
  expect(editDocument("# one\na: 1 # two\nb:   3\n", EDIT, [])).toBe("# one\na: 2 # two\nb:   3\n");
});

test.each([
  ["nested too deeply", `a: 1\nb: ${"[".repeat(OPERATOR_BOUNDS.depth + 1)}`, "nested too deeply"],
  ["of too many anchors", `a: 1\nb:\n${"- &a 1\n".repeat(OPERATOR_BOUNDS.anchorsAndAliases + 1)}`, "anchors"],
  ["with a mistake", "a: 1\nb: [", "it "],
])("S9: a text %s is not composed to be edited", (_what, text, why) => {
  expect(() => editDocument(text, EDIT, [])).toThrow(EditError);
  expect(() => editDocument(text, EDIT, [])).toThrow(why);
});
