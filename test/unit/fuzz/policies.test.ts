/**
 * Policies that were damaged: every text is read or refused with places in it, and what reads decides. Damage is done to
 * bytes, to lines and to words; a word may become any other of the grammar, so that much of it nearly fits.
 */
import { describe } from "vitest";
import type { Random } from "../../../src/base/clock.ts";
import type { RouteOptions } from "../../../src/base/route.ts";
import { compilePolicy, decisionNotes } from "../../../src/routing/language/policy.ts";
import { type PolicyProblem, readPolicy } from "../../../src/routing/language/policy-reading.ts";
import { must } from "../../support/fuzz/rules.ts";
import { BAD_BLOCKS } from "../../support/policy.bad-blocks.ts";
import { BAD_DOCUMENTS } from "../../support/policy.bad-samples.ts";
import { callFacts, GOOD_SAMPLES } from "../../support/policy.good-samples.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { family } from "./harness.ts";
import { below, damagedText, pick } from "./mutations.ts";

const GOOD = GOOD_SAMPLES.map(({ yaml }) => yaml);
/** Short enough to be read within the harness's bound of time. */
const ANY = [...GOOD, ...[...BAD_DOCUMENTS, ...BAD_BLOCKS].map(({ yaml }) => yaml)].filter(
  ({ length }) => length < 4_096,
);

/** Every word and number that stands in a sample, and some that break things. */
const WORDS = [
  ...new Set(ANY.flatMap((text) => text.match(/[\w./*?=-]+/g) ?? [])),

  "null",
  "~",
  "[]",
  "{}",
  "''",
  "*a",
  "&a",
  "<<",
  "? ",
  "? ? ? ? ? ? ",
  "- ",
  "!!map",
  "!!binary x",
  "|",
  ">",
  "%YAML 9",
  "__proto__",
  "constructor",
  "toString",
  "-0",
  "0x1f",
  "1e400",
  ".nan",
  "-.inf",
  "2026-01-01",
  "\u2028",
];

function damaged(text: string, other: string, random: Random): string {
  switch (below(random, 4)) {
    case 0:
      return damagedText(text, other, random);
    case 1:
      return withLines(text, other, random);
    default:
      return withWords(text, random);
  }
}

/** A line goes, comes twice, moves in or out, or is another sample's. */
function withLines(text: string, other: string, random: Random): string {
  const lines = text.split("\n");
  const at = below(random, lines.length);
  const line = lines[at] ?? "";
  const others = other.split("\n");
  const instead = [[], [line, line], [`  ${line}`], [line.replace(/^ {2}/, "")], [pick(random, others)]];
  lines.splice(at, 1, ...pick(random, instead));
  return lines.join("\n");
}

function withWords(text: string, random: Random): string {
  const words = [...text.matchAll(/[\w./*?=-]+/g)];
  let out = text;
  // From behind, so that what is not yet replaced stays where it was.
  for (const { index, 0: word } of words.reverse()) {
    if (random() * words.length > 1.5) continue;
    out = out.slice(0, index) + pick(random, WORDS) + out.slice(index + word.length);
  }
  return out;
}

const KNOWN = {
  providers: new Set(["openai"]),
  endpoints: new Set(["ep_first", "ep_a"]),
  regions: new Set(["eu"]),
  judged: ["ep_first", "ep_a"].map((id) => endpoint(id)),
  models: new Set(["openai/gpt-5"]),
};

const CALLS = GOOD_SAMPLES.flatMap(({ calls }) => calls.map(([given]) => callFacts(given)));
const ROUTES: readonly RouteOptions[] = [
  {},
  { order: ["a"], require: { regions: [], max_price: { input: 1 } } },
  { sort: "price", only: ["b"], require: { zdr: true } },
];

function checkPlaces(told: readonly PolicyProblem[], text: string): void {
  const lines = text.split("\n");
  let before = 0;
  for (const { line, column, pointer, message } of told) {
    const place = `${line}:${column} ${message}`;
    must(message !== "", "says nothing");
    must(pointer === "" || pointer.startsWith("/"), `no pointer: ${pointer}`);
    must(line >= 1 && line <= lines.length, `a line beyond the text: ${place}`);
    must(column >= 1 && column <= (lines[line - 1] ?? "").length + 1, `a column beyond the line: ${place}`);
    const at = line * 1e6 + column;
    must(at >= before, `not in the order of the text: ${place}`);
    before = at;
  }
}

/** @returns whether it was read. */
function check(text: string): boolean {
  const reading = readPolicy(text, { name: "house", known: KNOWN });
  checkPlaces(reading.ok ? reading.warnings : reading.problems, text);
  if (!reading.ok) {
    must(reading.problems.length > 0, "refused without a word");
    return false;
  }
  const policy = compilePolicy(reading.document, { name: "house", version: 1 });
  for (const call of CALLS) {
    for (const route of ROUTES) {
      const decision = policy.decide(call, route);
      must(decision.maxAttempts >= 1 && decision.maxAttempts <= 8, `${decision.maxAttempts} attempts`);
      must(decision.deny === undefined || decision.deny !== "", "refuses without a word");
      must(
        decisionNotes(decision).every((note) => note !== ""),
        "empty notes",
      );
    }
  }
  return true;
}

describe("policies", () => {
  family("policies that were good", 0.1, (round) => check(round.damaged(damaged, GOOD, ANY)));
  family("policies of any kind", 0.02, (round) => check(round.damaged(damaged, ANY)));
});
