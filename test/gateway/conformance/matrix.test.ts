/** The matrix of the conformance suite: `matrix.md` prints it, and the pairs of `npm test` are one of each kind. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MATRIX_FILE, matrixText } from "../../../scripts/matrix-table.ts";
import { ANSWERS } from "../../support/conformance/cases.ts";
import type { ClientName, UpstreamName } from "../../support/conformance/ends.ts";
import { FAILURES } from "../../support/conformance/failures.ts";
import {
  answersOn,
  CLIENTS,
  failuresOn,
  isChosen,
  MATRIX,
  UPSTREAMS,
  upstreamsIn,
  upstreamsOf,
} from "../../support/conformance/pairs.ts";

const FORMATS = Object.keys(CLIENTS) as ClientName[];
const DIALECTS: readonly UpstreamName[] = UPSTREAMS.map(({ name }) => name);
const dialectsOf = (format: ClientName) => upstreamsOf(format).map(({ name }) => name);

test("matrix.md says what the suite runs", () => {
  expect(readFileSync(MATRIX_FILE, "utf8"), "node scripts/matrix-table.ts writes it").toBe(matrixText());
});

test("every format meets every dialect that it may go out in, and no case is without a pair", () => {
  const alone = UPSTREAMS.filter(({ only }) => only !== undefined);
  expect(MATRIX.length).toBe(FORMATS.length * (UPSTREAMS.length - alone.length) + alone.length);
  expect(alone.map(({ name }) => name)).toEqual(["completions"]);
  for (const { needs, name } of ANSWERS) {
    const formats = Object.values(CLIENTS).filter(({ lacks }) => needs.every((feature) => !lacks[feature]));
    const dialects = UPSTREAMS.filter(({ lacks }) => needs.every((feature) => !lacks[feature]));
    expect(formats.length * dialects.length, name).toBeGreaterThan(0);
  }
});

test("the two parts of a run are the whole, and share no pair", () => {
  for (const format of FORMATS) {
    const of = (part: "quick" | "rest" | "all") => upstreamsIn(part, format).map(({ name }) => name);
    expect([...of("quick"), ...of("rest")].sort(), format).toEqual(dialectsOf(format).sort());
    expect(of("all"), format).toEqual(dialectsOf(format));
  }
});

test("the chosen pairs have each format to itself where it can, each told to another dialect, and each dialect from another format", () => {
  for (const format of FORMATS) {
    const upstreams = DIALECTS.filter((dialect) => isChosen(format, dialect));
    if (DIALECTS.some((dialect) => dialect === format)) expect(upstreams, format).toContain(format);
    expect(upstreams.filter((dialect) => dialect !== format).length, format).toBeGreaterThan(0);
  }
  for (const { name: dialect, only } of UPSTREAMS) {
    if (only !== undefined) continue;
    const others = FORMATS.filter((format) => format !== dialect && isChosen(format, dialect));
    expect(others.length, dialect).toBeGreaterThan(0);
  }
});

test("a case of one end alone is on each end's chosen pairs, and on no other", () => {
  for (const [on, cases] of [
    [answersOn, ANSWERS],
    [failuresOn, FAILURES],
  ] as const) {
    const ofOneEnd = cases.filter(({ isOfOneEnd }) => isOfOneEnd).map(({ name }) => name);
    expect(ofOneEnd.length).toBeGreaterThan(0);
    for (const format of FORMATS) {
      for (const upstream of upstreamsOf(format)) {
        const names = on(CLIENTS[format], upstream).map(({ name }) => name);
        const found = ofOneEnd.filter((name) => names.includes(name));
        expect(found, `${format} to ${upstream.name}`).toEqual(
          isChosen(format, upstream.name) ? ofOneEnd : [],
        );
      }
    }
  }
});
