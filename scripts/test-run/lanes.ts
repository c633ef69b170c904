/**
 * The lanes of the tests: folders of `test`, in the order in which a whole run takes them. test/README.md has what each may start;
 * `test/unit/tidy/lanes.ts` holds them to it.
 */

export interface Lane {
  /** Its folder in `test` and its project of vitest are called so. */
  readonly name: string;
  /** What its tests need, for the message of a run that leaves them out. */
  readonly needs: string;
  /** A part of `npm test`: its files start no process, and several run at the same time. */
  readonly isQuick?: true;
  /** Its files run one at a time, behind all other lanes: what runs beside them would change what they measure. */
  readonly isAlone?: true;
}

export const LANES: readonly Lane[] = [
  { name: "unit", needs: "the code alone", isQuick: true },
  { name: "gateway", needs: "a gateway in the process", isQuick: true },
  // Those with the longest files first: begun last, they would leave processors with nothing to do.
  { name: "crash", needs: "processes that are killed" },
  { name: "cells", needs: "Redis" },
  { name: "process", needs: "processes" },
  { name: "engine", needs: "ClickHouse" },
  { name: "browser", needs: "a browser" },
  { name: "timed", needs: "a quiet machine", isAlone: true },
];

/** The project that runs tests of other lanes once more, against several cells. */
export const ANY_CELL_PROJECT = "any cell";

/** Names the part of the tests that a run takes to vitest's configuration, and to the tests that are in two parts. */
export const PART_VARIABLE = "WEIR_TEST_PART";

/** `quick`: of `npm test`; `rest`: what that leaves out; `all`: both. */
export type PartName = "quick" | "rest" | "all";

/** @param text value of `PART_VARIABLE`; everything where it is not set */
export function partOf(text: string | undefined): PartName {
  if (text === undefined || text === "all") return "all";
  if (text === "quick" || text === "rest") return text;
  throw new Error(`${PART_VARIABLE} is "${text}": it is quick, rest or all`);
}

/** The conformance matrix is in both parts: each runs pairs of its own (`test/support/conformance/pairs.ts`). */
const IN_TWO_PARTS = "test/gateway/conformance/*.test.ts";

/** Patterns of a lane's files in a part; none where the lane is left out. */
export function filesOf({ name, isQuick }: Lane, part: PartName): string[] {
  if (part === "rest" && isQuick) return name === "gateway" ? [IN_TWO_PARTS] : [];
  return part === "quick" && !isQuick ? [] : [`test/${name}/**/*.test.ts`];
}

/** What a quick run says at its end. */
export function leftOut(): string {
  const needs = LANES.filter((lane) => !lane.isQuick).map((lane) => lane.needs);
  return [
    `Left out: tests that need ${needs.slice(0, -1).join(", ")} or ${needs.at(-1)}, those against any of several cells,`,
    "and most pairs of the conformance matrix. All of it: npm run test:all; one lane: npm test -- test/<lane>",
  ].join("\n");
}
