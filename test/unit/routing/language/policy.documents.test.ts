/** Policy documents: what reads and what it decides, what does not and where it says so. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../src/routing/language/policy.ts";
import {
  type PolicyProblem,
  type PolicyReading,
  readPolicy,
} from "../../../../src/routing/language/policy-reading.ts";
import { BAD_BLOCKS } from "../../../support/policy.bad-blocks.ts";
import { BAD_DOCUMENTS } from "../../../support/policy.bad-samples.ts";
import { callFacts, fixture, GOOD_SAMPLES, grammarKeys } from "../../../support/policy.good-samples.ts";
import { policyJsonSchema } from "../../../support/policy.json-schema.ts";
import { processorMs } from "../../../support/processor-time.fixtures.ts";
import { endpoint, provider } from "../../../support/routing/fixtures.ts";

const problemsOf = (reading: PolicyReading): readonly PolicyProblem[] => (reading.ok ? [] : reading.problems);

const told = ({ line, column, pointer, message }: PolicyProblem): string =>
  `${line}:${column} ${pointer}: ${message}`;

describe("valid documents", () => {
  test.each(GOOD_SAMPLES)("$what", ({ yaml, calls }) => {
    const reading = readPolicy(yaml);
    if (!reading.ok) expect.fail(reading.problems.map(told).join("\n"));
    const policy = compilePolicy(reading.document, { name: "house", version: 3 });
    expect(calls.length).toBeGreaterThan(0);
    for (const [facts, decision] of calls) {
      const decided = policy.decide(callFacts(facts), {});
      expect(decided).toMatchObject(decision);
      expect(decided.policy).toEqual({ name: "house", version: 3 });
    }
  });

  test("a sample has every key that the grammar has", () => {
    const reading = readPolicy(fixture("every-key.yaml"));
    if (!reading.ok) expect.fail(reading.problems.map(told).join("\n"));
    const keys = (value: unknown): string[] =>
      typeof value !== "object" || value === null
        ? []
        : Object.entries(value).flatMap(([key, inner]) => [key, ...keys(inner)]);
    const said = new Set(keys(reading.document));
    const known = grammarKeys(policyJsonSchema());
    expect(known.size).toBeGreaterThan(40);
    expect([...known].filter((key) => !said.has(key))).toEqual([]);
  });

  test("the largest that is allowed", () => {
    const yaml = `version: 1\n# ${"x".repeat(65_536)}`.slice(0, 65_536);
    expect(readPolicy(yaml).ok).toBe(true);
    expect(readPolicy(`${yaml}x`).ok).toBe(false);
  });

  test("every sample on disk is one that a test reads", () => {
    const folder = new URL("../../../fixtures/policies/", import.meta.url);
    const good = GOOD_SAMPLES.map(({ yaml }) => yaml);
    const files = readdirSync(folder).filter((name) => !good.includes(fixture(name)));
    expect(files.sort()).toEqual(["alias-bomb.yaml", "contradictions.yaml", "many-mistakes.yaml"]);
  });
});

describe("invalid documents", () => {
  test.each([...BAD_DOCUMENTS, ...BAD_BLOCKS])("$what", ({ yaml, name, problem }) => {
    const [first] = problemsOf(readPolicy(yaml, name === undefined ? {} : { name }));
    if (first === undefined) expect.fail("it was read");
    expect(told(first)).toBe(problem);
  });

  test("a key that is at fault is where it stands, whatever its value is", () => {
    const yaml =
      'version: 1\nrules:\n  - then: { weights: { ep_a: 1, "": 2 } }\n  - match: { tag: { "": x } }\n';
    expect(problemsOf(readPolicy(yaml)).map(told)).toEqual([
      "3:33 /rules/0/then/weights/: the key is not valid: Too small: expected string to have >=1 characters",
      "4:21 /rules/1/match/tag/: the key is not valid: Too small: expected string to have >=1 characters",
    ]);
  });

  test("are told in 100 problems of 500 characters, however long and often repeated a name is", () => {
    const long = "n".repeat(1000);
    const rules = "  - then: *d\n".repeat(190);
    const problems = problemsOf(readPolicy(`version: 1\ndefaults: &d\n  ${long}: 1\nrules:\n${rules}`));
    expect(problems).toHaveLength(100);
    for (const { message, pointer } of problems) {
      expect(message.length).toBeLessThanOrEqual(501);
      expect(pointer.length).toBeLessThanOrEqual(501);
    }
    expect(problems[1]).toMatchObject({ line: 5, column: 11 });
  });

  test("aliases that multiply are not followed", () => {
    const took = processorMs(() =>
      expect(problemsOf(readPolicy(fixture("alias-bomb.yaml"))).map(told)).toEqual([
        "1:1 : its aliases multiply too far",
      ]),
    );
    expect(took).toBeLessThan(500);
  });

  test("all problems are reported at once, in text order", () => {
    expect(problemsOf(readPolicy(fixture("many-mistakes.yaml"))).map(told)).toEqual(MISTAKES);
  });

  test("so is all that cannot hold together", () => {
    expect(problemsOf(readPolicy(fixture("contradictions.yaml"), { name: "home" })).map(told)).toEqual(
      CONTRADICTIONS,
    );
  });
});

const MISTAKES = [
  "3:9 /policy: must be lower-case letters, digits, - and _, at most 64",
  '4:7 /sort: Invalid option: expected one of "price"|"latency"|"throughput"|"balanced"',
  '6:3 /defaults/fallback: unknown key "fallback"; did you mean "fallbacks"?',
  "7:17 /defaults/max_attempts: Too big: expected number to be <=8",
  "8:15 /defaults/timeout_ms: Invalid input: expected number, received string",
  "10:10 /defaults/require/zdr: Invalid input: expected boolean, received string",
  '11:5 /defaults/require/region: unknown key "region"; did you mean "regions"?',
  "12:12 /defaults/weights: Invalid input: expected object, received array",
  '16:7 /rules/0/match/models: unknown key "models"; did you mean "model"?',
  "17:15 /rules/0/match/stream: Invalid input: expected boolean, received string",
  "21:18 /rules/0/then/canary/percent: Too big: expected number to be <=100",
  '22:9 /rules/0/then/canary/max_eror_rate: unknown key "max_eror_rate"; did you mean "max_error_rate"?',
  '24:5 /rules/1/nmae: unknown key "nmae"; did you mean "name"?',
  '29:23 /rules/1/then/experiment/arms/0/endpont: unknown key "endpont"; did you mean "endpoint"?',
  "30:47 /rules/1/then/experiment/arms/1/weight: Too small: expected number to be >=0",
  '32:17 /rules/2/then/affinity: Invalid option: expected one of "none"|"user"|"session"|"prompt"; did you mean "session"?',
];

const CONTRADICTIONS = [
  '3:9 /policy: is "house", and this is a version of "home"',
  "6:9 /defaults/sort: is latency, and the top of the document says price",
  '8:12 /defaults/ignore/0: "groq" stands in only, too',
  "9:12 /defaults/weights: needs a weight above 0",
  "12:55 /rules/0/match/max_input_tokens: is 100, below min_input_tokens 500: no call fits",
  '13:5 /rules/1: "rule-2" is the name of rule 1 already',
  "17:11 /rules/1/then/experiment/arms: needs a weight above 0",
  '18:20 /rules/1/then/experiment/arms/1/arm: "a" is the name of arm 1 already',
];

describe("names that the catalog lacks", () => {
  const known = {
    providers: new Set(["openai", "groq"]),
    endpoints: new Set(["ep_first", "ep_second"]),
    regions: new Set(["eu", "us"]),
    judged: [
      endpoint("ep_first", { provider: provider("openai"), region: "eu" }),
      endpoint("ep_second", {
        provider: provider("groq"),
        region: "us",
        dataPolicy: { trains: true, retentionDays: 30, zdr: false },
      }),
    ],
    models: new Set(["openai/gpt-5", "acme/small"]),
  };
  const warnings = (yaml: string): string[] => {
    const reading = readPolicy(yaml, { known });
    if (!reading.ok) expect.fail(reading.problems.map(told).join("\n"));
    return reading.warnings.map(told);
  };

  test("are warnings with a suggestion, at any position", () => {
    const yaml = `version: 1
defaults:
  order: [openai, grok]
  only: [openai, ep_first, ep_tenth]
  ignore: [nobody-at-all]
  weights: {ep_secnd: 1}
  canary: {endpoint: ep_fist, percent: 1, max_error_rate: 0.1, min_samples: 1}
  shadow: {endpoint: openai, percent: 1}
rules:
  - match: {model: openai/gpt5}
    then: {experiment: {name: e, arms: [{arm: a, endpoint: ep_first}, {arm: b, endpoint: ep_b}]}}
  - match: {model: [smal, small, "openai/*", "gpt-?", "openia/*", "gpt-??"]}
`;
    expect(warnings(yaml)).toEqual([
      '3:19 /defaults/order/1: there is no provider or endpoint "grok"; did you mean "groq"?',
      '4:28 /defaults/only/2: there is no provider or endpoint "ep_tenth"',
      '5:12 /defaults/ignore/0: there is no provider or endpoint "nobody-at-all"',
      '6:13 /defaults/weights/ep_secnd: there is no endpoint "ep_secnd"; did you mean "ep_second"?',
      '7:22 /defaults/canary/endpoint: there is no endpoint "ep_fist"; did you mean "ep_first"?',
      '8:22 /defaults/shadow/endpoint: there is no endpoint "openai"',
      '10:20 /rules/0/match/model: there is no model "openai/gpt5"; did you mean "openai/gpt-5"?',
      '11:90 /rules/0/then/experiment/arms/1/endpoint: there is no endpoint "ep_b"',
      '12:21 /rules/1/match/model/0: there is no model "smal"; did you mean "small"?',
      '12:55 /rules/1/match/model/4: no model fits "openia/*"',
      '12:67 /rules/1/match/model/5: no model fits "gpt-??"',
    ]);
  });

  test("C13: regions are among them, and so is each block that no endpoint of the catalog satisfies, with why", () => {
    const refused = "no endpoint satisfies this, and calls that it applies to are refused.";
    expect(
      warnings(`version: 1
defaults: { require: { zdr: true } }
rules:
  - match: { tag: a }
    then: { require: { regions: [eu, uss] } }
  - match: { tag: b }
    then: { require: { regions: [mars] } }
  - match: { tag: c }
    then: { require: { regions: [us] } }
  - match: { tag: d }
    then: { only: [groq] }
  - match: { tag: e }
    then: { require: { max_price: { input: 0 } } }
  - match: { tag: f }
    then: { ignore: [openai, groq] }
  - match: { tag: g }
    then: { order: [ep_second], fallbacks: false }
  - match: { tag: h }
    then: { deny: { message: "No." }, require: { regions: [us] } }
`),
    ).toEqual([
      '5:38 /rules/0/then/require/regions/1: there is no endpoint in region "uss"; did you mean "us"?',
      `7:11 /rules/1/then: ${refused} require.regions ["mars"] of the routing policy excludes all 2 endpoints of the catalog.`,
      '7:34 /rules/1/then/require/regions/0: there is no endpoint in region "mars"',
      `9:11 /rules/2/then: ${refused} require.regions ["us"] of the routing policy excludes 1 of the 2 endpoints of the catalog, require.zdr of the routing policy excludes 1.`,
      `11:11 /rules/3/then: ${refused} require.zdr of the routing policy excludes 1 of the 2 endpoints of the catalog, only ["groq"] of the routing policy excludes 1.`,
      `13:11 /rules/4/then: ${refused} require.max_price {"input":0} of the routing policy excludes all 2 endpoints of the catalog.`,
      `15:11 /rules/5/then: ${refused} ignore ["openai", "groq"] of the routing policy excludes all 2 endpoints of the catalog.`,
      `17:11 /rules/6/then: ${refused} require.zdr of the routing policy excludes 1 of the 2 endpoints of the catalog, order without fallbacks, ["ep_second"] of the routing policy excludes 1.`,
    ]);
  });

  test("are none where all is known, and none are looked for without a catalog", () => {
    expect(warnings("version: 1\ndefaults: {order: [openai, ep_first]}")).toEqual([]);
    const unasked = readPolicy("version: 1\ndefaults: {order: [nobody]}");
    expect(unasked.ok && unasked.warnings).toEqual([]);
  });
});
