/** `test/README.md` prints the matrix of the conformance suite: it says what the suite's own data say. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { ANSWERS } from "../../support/conformance/cases.ts";
import { FAILURES } from "../../support/conformance/failures.ts";
import { CLIENTS, MATRIX, REQUEST_CASES, UPSTREAMS } from "../../support/conformance/pairs.ts";

const readme = readFileSync(resolve(import.meta.dirname, "../../README.md"), "utf8");
const CURE = "copy what is expected into test/README.md";

const table = (rows: readonly (readonly (string | number)[])[]): string => {
  const [head = [], ...body] = rows.map((cells) => `| ${cells.join(" | ")} |`);
  return [head, `|${" --- |".repeat(rows[0]?.length ?? 0)}`, ...body].join("\n");
};

test("the README has a row for every pair, with as many cases as the suite runs on it", () => {
  const rows = MATRIX.map(({ client, upstream, answered, warned, failed, refused }) => {
    const cases = answered + warned + failed + refused;
    return [client, upstream, answered, warned, failed, refused, `${cases} + ${cases}`];
  });
  const head = [
    "client",
    "upstream",
    "answered",
    "warned",
    "upstream fails",
    "request itself",
    "whole + streamed",
  ];
  expect(readme, CURE).toContain(table([head, ...rows]));
});

test("the README names what each end has no place for, and why", () => {
  const formats = Object.values(CLIENTS).flatMap(({ name, lacks }) =>
    Object.entries(lacks).map(([feature, why]) => [`format ${name}`, feature, why, "not run"]),
  );
  const dialects = UPSTREAMS.flatMap(({ name, lacks }) =>
    Object.entries(lacks).map(([feature, { why, isTold }]) => [
      `dialect ${name}`,
      feature,
      why,
      isTold ? "a warning names it; strict refuses" : "nothing is lost",
    ]),
  );
  expect(readme, CURE).toContain(table([["end", "feature", "why", "then"], ...formats, ...dialects]));
});

test("the README lists the cases", () => {
  const names = (cases: readonly { readonly name: string }[]) => cases.map(({ name }) => name).join(" · ");
  expect(readme, CURE).toContain(names(ANSWERS));
  expect(readme, CURE).toContain(names(FAILURES));
  expect(readme, CURE).toContain(REQUEST_CASES.join(" · "));
});

test("every format meets every dialect, and no case is without a pair", () => {
  expect(MATRIX.length).toBe(Object.keys(CLIENTS).length * UPSTREAMS.length);
  for (const { needs, name } of ANSWERS) {
    const formats = Object.values(CLIENTS).filter(({ lacks }) => needs.every((feature) => !lacks[feature]));
    const dialects = UPSTREAMS.filter(({ lacks }) => needs.every((feature) => !lacks[feature]));
    expect(formats.length, name).toBeGreaterThan(1);
    expect(dialects.length, name).toBeGreaterThan(1);
  }
});
