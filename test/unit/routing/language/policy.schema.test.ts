/** The grammar as it is shown: src/routing/language/policy.schema.json, no wider and no narrower than what is read, and docs/policies.md. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { MAX_ATTEMPTS } from "../../../../src/base/route.ts";
import { MAX_RULES, policySchema } from "../../../../src/routing/language/policy-document.ts";
import { MAX_POLICY_BYTES, readPolicy } from "../../../../src/routing/language/policy-reading.ts";
import { BAD_BLOCKS } from "../../../support/policy.bad-blocks.ts";
import { BAD_DOCUMENTS } from "../../../support/policy.bad-samples.ts";
import { GOOD_SAMPLES, grammarKeys } from "../../../support/policy.good-samples.ts";
import { policyJsonSchema } from "../../../support/policy.json-schema.ts";

const FILE = new URL("../../../../src/routing/language/policy.schema.json", import.meta.url);
const written: unknown = JSON.parse(readFileSync(FILE, "utf8"));
const schema = z.fromJSONSchema(written as Parameters<typeof z.fromJSONSchema>[0]);

/** Undefined where it is no YAML. */
function parsed(yaml: string): { value: unknown } | undefined {
  try {
    return { value: parse(yaml, { logLevel: "error" }) };
  } catch {
    return undefined;
  }
}

test("the file matches the current grammar: if not, write policyJsonSchema() of test/support to it", () => {
  expect(written).toEqual(policyJsonSchema());
});

describe("the schema", () => {
  test.each(GOOD_SAMPLES)("takes $what", ({ yaml }) => {
    schema.parse(parsed(yaml)?.value);
  });

  test("refuses what the reader refuses, except what no schema can express", () => {
    const read = [...BAD_DOCUMENTS, ...BAD_BLOCKS].flatMap(({ what, yaml }) => {
      const document = parsed(yaml);
      return document === undefined ? [] : [{ what, value: document.value }];
    });
    expect(read.length).toBeGreaterThan(80);
    const taken = read.filter(({ value }) => schema.safeParse(value).success).map(({ what }) => what);
    expect(taken).toEqual(BEYOND_SCHEMAS);
  });
});

describe("the guide", () => {
  const guide = readFileSync(new URL("../../../../docs/policies.md", import.meta.url), "utf8");

  test("shows policies that can be read", () => {
    const shown = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = ""]) => yaml);
    expect(shown.length).toBeGreaterThanOrEqual(4);
    for (const yaml of shown) expect(readPolicy(yaml), yaml).toMatchObject({ ok: true });
  });

  test("names every key of the grammar, and the bounds that there are", () => {
    const named = new Set(guide.match(/\w+/g));
    expect([...grammarKeys(written)].filter((key) => !named.has(key))).toEqual([]);
    const { sort, rules } = policySchema.shape;
    for (const word of sort.unwrap().options) expect(guide).toContain(`- \`${word}\`: `);
    expect(guide).toContain(`| \`rules\` | to ${MAX_RULES} |`);
    expect(rules.safeParse(Array(MAX_RULES).fill({})).success).toBe(true);
    expect(guide).toContain(`At most ${MAX_POLICY_BYTES / 1024} KB`);
    expect(guide).toContain(`| \`max_attempts\` | 1 to ${MAX_ATTEMPTS} |`);
  });
});

/** Names that clash, bounds that contradict each other, sums of weights, another document's name. */
const BEYOND_SCHEMAS = [
  "another policy's name",
  "two sorts that differ",
  "a name twice",
  "a name that a nameless rule has",
  "more at the least than at the most",
  "one that is both allowed and not",
  "weights that are all nothing",
  "two arms of one name",
  "arms of no weight",
];
