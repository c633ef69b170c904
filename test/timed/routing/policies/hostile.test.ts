/**
 * What the worst policy of 64 KB takes a processor, whatever its text is: each kind that is known to be dear, and what a
 * fuzzer makes of the pieces of YAML. Behind all other tests, by the processor's time.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_POLICY_BYTES, readPolicy } from "../../../../src/routing/language/policy-reading.ts";
import { rounds } from "../../../support/effort.ts";
import { HOSTILE, UNITS } from "../../../support/hostile-yaml.fixtures.ts";
import { processorMs } from "../../../support/processor-time.fixtures.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";

const MOST_MS = 50;
/** The first ones compile, and some collect what others left. */
const TRIES = 6;

const numbered = (count: number, text: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => text(i));
const IDS = numbered(400, (i) => `ep_provider-${i % 40}_some-model-name-${i}_us-east-1`);
/** Names as many as a large catalog has. */
const KNOWN = {
  providers: new Set(numbered(40, (i) => `provider-${i}`)),
  endpoints: new Set(IDS),
  regions: new Set(numbered(40, (i) => `region-${i}`)),
  judged: IDS.map((id) => endpoint(id)),
  models: new Set(numbered(250, (i) => `vendor-${i}/some-model-${i}`)),
};

const readMs = (text: string): number => processorMs(() => readPolicy(text, { known: KNOWN }));
/** As long as a policy may be, and such as a careful person would write. */
const ORDINARY = `version: 1\nrules:\n${numbered(200, (i) => `- name: r${i}\n  then:\n    order:\n${"    - gcp\n".repeat(29)}`).join("")}`;

/**
 * How far `text` is above the bound, as a share of it; the least of several tries, and no more of these than it takes to be
 * below. A processor that others use, too, takes longer for everything: then twice an ordinary policy is the bound.
 */
function excess(text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let left = TRIES; left > 0 && least >= 1; left--) {
    const took = readMs(text);
    least = Math.min(least, took / MOST_MS);
    if (least >= 1) least = Math.min(least, took / (2 * readMs(ORDINARY)));
  }
  return least;
}

test.each(Object.entries(HOSTILE))("S9: %s", (_what, text) => {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_POLICY_BYTES);
  expect(excess(text)).toBeLessThan(1);
});

test("S9: so is what is made of the pieces of YAML in any order", () => {
  const text = fc
    .tuple(
      fc.constantFrom("", "version: 1\nx: ", "version: 1\nrules:\n", "x: [", "x: {", 'x: "', "x: |\n "),
      fc.array(fc.constantFrom(...UNITS), { minLength: 1, maxLength: 6 }),
      fc.array(fc.constantFrom(...UNITS), { maxLength: 3 }),
    )
    .map(([head, units, tail]) => {
      const unit = units.join("");
      const end = tail.join("");
      const room = MAX_POLICY_BYTES - Buffer.byteLength(head + end);
      return head + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + end;
    });
  fc.assert(
    fc.property(text, (hostile) => excess(hostile) < 1),
    { numRuns: rounds(800), seed: 9 },
  );
});
