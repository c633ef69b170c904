/**
 * Writes the matrix of the conformance suite, from the suite's own data: which case runs on which pair of a client's format and an
 * upstream's dialect, and why not on the others. `node scripts/matrix-table.ts`; test/gateway/conformance/matrix.test.ts holds the
 * file against it.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ANSWERS } from "../test/support/conformance/cases.ts";
import { FAILURES } from "../test/support/conformance/failures.ts";
import {
  CLIENTS,
  isChosen,
  MATRIX,
  OPTION_CASES,
  REFUSED_CASES,
  UPSTREAMS,
} from "../test/support/conformance/pairs.ts";

export const MATRIX_FILE = join(import.meta.dirname, "../test/gateway/conformance/matrix.md");

type Cells = readonly (string | number)[];

interface Case {
  readonly name: string;
  readonly isOfOneEnd?: true;
}

/** The whole file. */
export function matrixText(): string {
  const parts = [
    "# The conformance matrix",
    "Written by `node scripts/matrix-table.ts` from `test/support/conformance`; test/README.md says what the cases are about.",
    `${total()} cases, each whole and streamed. Pairs marked † are those of \`npm test\`; \`npm run test:all\` runs the others too.`,
    pairs(),
    "What an end has no place for:",
    lacks(),
    `Answered: ${names(ANSWERS)}`,
    `Upstream fails: ${names(FAILURES)}`,
    `Option: ${OPTION_CASES.join(" · ")}`,
    `Refused before any upstream is asked, once for each format: ${REFUSED_CASES.join(" · ")}`,
    "‡ One end alone reads it, before anything of the other's is known: on pairs marked † only.",
  ];
  return `${parts.join("\n\n")}\n`;
}

function total(): number {
  const ofPairs = MATRIX.map(({ answered, warned, failed, options }) => answered + warned + failed + options);
  return ofPairs.reduce((sum, cases) => sum + cases, REFUSED_CASES.length * Object.keys(CLIENTS).length);
}

function pairs(): string {
  const head = ["client", "upstream", "answered", "warned", "upstream fails", "option", "whole + streamed"];
  const rows = MATRIX.map(({ client, upstream, answered, warned, failed, options }) => {
    const cases = answered + warned + failed + options;
    const mark = isChosen(client, upstream) ? " †" : "";
    return [client, `${upstream}${mark}`, answered, warned, failed, options, `${cases} + ${cases}`];
  });
  return table([head, ...rows]);
}

function lacks(): string {
  const formats = Object.values(CLIENTS).flatMap(({ name, lacks }) =>
    Object.entries(lacks).map(([feature, why]) => [`format ${name}`, feature, why, "not run"]),
  );
  const dialects = UPSTREAMS.flatMap(({ name, lacks }) =>
    Object.entries(lacks).map(([feature, { why, isTold, isRefused }]) => [
      `dialect ${name}`,
      feature,
      why,
      isRefused ? "refused" : isTold ? "a warning names it; strict refuses" : "nothing is lost",
    ]),
  );
  return table([["end", "feature", "why", "then"], ...formats, ...dialects]);
}

function table([head = [], ...body]: readonly Cells[]): string {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...body].map((cells) => `${cells[i]}`.length)));
  // As the formatter has it.
  const line = (cells: Cells): string =>
    `| ${cells.map((cell, i) => `${cell}`.padEnd(widths[i] as number)).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  return [head, rule, ...body].map(line).join("\n");
}

const names = (cases: readonly Case[]): string =>
  cases.map(({ name, isOfOneEnd }) => (isOfOneEnd ? `${name} ‡` : name)).join(" · ");

if (process.argv[1] === import.meta.filename) writeFileSync(MATRIX_FILE, matrixText());
