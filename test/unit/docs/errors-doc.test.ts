/**
 * `docs/errors.md` and the error table of `src/base/errors.ts` say the same: every row, in the same order.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "../../../src/base/errors.ts";

const docs = readFileSync(resolve(import.meta.dirname, "../../../docs/errors.md"), "utf8");

/** Cells of each body row of the page's table: status, type, code, retry, text. */
const rows = docs
  .split("\n")
  .filter((line) => /^\| \d/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );

test("docs/errors.md lists exactly the rows of ERRORS, in its order", () => {
  const inCode = Object.values(ERRORS).map((e) => [
    String(e.status),
    `\`${e.type}\``,
    `\`${e.code}\``,
    e.retryable ? "yes" : "no",
  ]);
  expect(
    rows.map((cells) => cells.slice(0, 4)),
    "edit docs/errors.md to match src/base/errors.ts (or the reverse)",
  ).toEqual(inCode);
});

test("every error says when it comes and what to do, in words of its own", () => {
  const texts = rows.map((cells) => cells[4] ?? "");
  expect(rows.filter((cells) => cells.length !== 5 || (cells[4] ?? "").length < 20)).toEqual([]);
  expect(new Set(texts).size).toBe(texts.length);
});

test("a pair of status and code is one row, so that a caller can branch on it", () => {
  const pairs = Object.values(ERRORS).map((e) => `${e.status} ${e.code}`);
  expect(new Set(pairs).size).toBe(pairs.length);
});
