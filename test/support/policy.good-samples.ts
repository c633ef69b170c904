/** Policies that read, each with calls and what is decided about them. */
import { readFileSync } from "node:fs";
import type { PolicyFacts } from "../../src/routing/language/policy-match.ts";
import type { Decision } from "../../src/routing/planner/decision.ts";

export const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/policies/${name}`, import.meta.url), "utf8");

/** A short chat call of project `search`. */
export const callFacts = (given: Partial<PolicyFacts> = {}): PolicyFacts => ({
  modelId: "openai/gpt-5",
  projectId: "prj_1",
  projectSlug: "search",
  keyId: "key_1",
  app: "",
  tags: {},
  stream: false,
  hasTools: false,
  hasImages: false,
  inputTokens: 100,
  ...given,
});

type Expected = { readonly [K in keyof Decision]?: unknown };

export interface GoodSample {
  readonly what: string;
  readonly yaml: string;
  readonly calls: readonly (readonly [Partial<PolicyFacts>, Expected])[];
}

const good = (what: string, yaml: string, ...calls: GoodSample["calls"]): GoodSample => ({
  what,
  yaml,
  calls,
});

const CAREFUL = { zdr: true, regions: ["eu"] };

const WRITTEN: readonly GoodSample[] = [
  good(
    "every key of the grammar",
    fixture("every-key.yaml"),
    [
      { stream: true, app: "mail", tags: { team: "search", tier: "gold", more: "" } },
      {
        rule: "the-narrow-one",
        deny: "Not here.",
        maxAttempts: 4,
        hedgeAfterMs: 1500,
        onDisconnect: "detach",
      },
    ],
    [
      { app: "mail" },
      { rule: "trials-lifted", deny: undefined, canary: undefined, shadow: undefined, experiment: undefined },
    ],
  ),
  good(
    "an ordinary house policy",
    fixture("house.yaml"),
    [{}, { rule: "", sort: "price", maxAttempts: 3, timeoutMs: 20_000, require: { no_train: true } }],
    [{ inputTokens: 32_000 }, { rule: "long-prompts", order: ["long-context-co"], hedgeAfterMs: undefined }],
    [
      { projectSlug: "legal" },
      { rule: "legal", affinity: "none", require: { no_train: true, zdr: true, regions: ["eu"] } },
    ],
    [
      { hasTools: true, tags: { kind: "agent" } },
      { rule: "agents", sort: "latency", hedgeAfterMs: 2000 },
    ],
    [
      { hasTools: true, tags: { kind: "human" } },
      { rule: "", sort: "price", hedgeAfterMs: undefined },
    ],
  ),
  good(
    "a migration with a canary and a shadow",
    fixture("migration.yaml"),
    [
      {},
      {
        canary: { endpoint: "ep_new", percent: 10, maxErrorRate: 0.01, minSamples: 500 },
        shadow: { endpoint: "ep_new", percent: 2, bill: "platform" },
      },
    ],
    [{ app: "reindex" }, { canary: undefined, shadow: undefined, sort: "price" }],
    [{ modelId: "acme/one" }, { deny: "These are gone; ask for openai/* instead." }],
  ),
  good(
    "anchors",
    fixture("anchors.yaml"),
    [{}, { rule: "", sort: "balanced", require: CAREFUL }],
    [{ app: "mail" }, { rule: "mail", sort: "latency", require: CAREFUL }],
    [{ app: "chat" }, { rule: "chat", sort: "latency", hedgeAfterMs: 800, require: CAREFUL }],
  ),
  good(
    "JSON, which is YAML too",
    fixture("comparison.json"),
    [{ modelId: "weir/sim-small" }, { experiment: { name: "quality", arms: [{ weight: 1 }, { arm: "b" }] } }],
    [{}, { rule: "", experiment: undefined, affinity: "session" }],
  ),
];

const SHORT: readonly GoodSample[] = [
  good("the least that is one", "version: 1", [
    {},
    { rule: "", sort: "balanced", fallbacks: true, maxAttempts: 8, affinity: "session", require: {} },
  ]),
  good("a byte order mark and Windows line ends", "\ufeffversion: 1\r\nsort: price\r\n", [
    {},
    { sort: "price" },
  ]),
  good("the same sort twice", "version: 1\nsort: price\ndefaults: {sort: price}", [{}, { sort: "price" }]),
  good("no rules", "version: 1\nrules: []", [{}, { rule: "" }]),
  good("a rule that neither matches nor does", "version: 1\nsort: latency\nrules: [{}]", [
    {},
    { rule: "rule-1", sort: "latency" },
  ]),
  good(
    "rules without names, counted from one",
    "version: 1\nrules:\n  - {match: {app: a}}\n  - {match: {app: b}}",
    [{ app: "a" }, { rule: "rule-1" }],
    [{ app: "b" }, { rule: "rule-2" }],
    [{}, { rule: "" }],
  ),
  good(
    "bounds, lower",
    "version: 1\ndefaults: {max_attempts: 1, timeout_ms: 1, hedge_after_ms: 0, require: {max_price: {input: 0, output: 0}}}",
    [
      {},
      {
        maxAttempts: 1,
        timeoutMs: 1,
        hedgeAfterMs: undefined,
        require: { max_price: { input: 0, output: 0 } },
      },
    ],
  ),
  good(
    "bounds, upper",
    "version: 1\ndefaults: {max_attempts: 8, timeout_ms: 86400000, hedge_after_ms: 600000}",
    [{}, { maxAttempts: 8, timeoutMs: 86_400_000, hedgeAfterMs: 600_000 }],
  ),
  good(
    "trials at their bounds",
    "version: 1\ndefaults:\n  canary: {endpoint: e, percent: 0, max_error_rate: 0, min_samples: 1}\n  shadow: {endpoint: e, percent: 100}",
    [{}, { canary: { percent: 0, maxErrorRate: 0, minSamples: 1 }, shadow: { percent: 100 } }],
  ),
  good("200 rules", `version: 1\nrules: [${"{match: {app: x}}, ".repeat(199)}{then: {sort: price}}]`, [
    {},
    { rule: "rule-200", sort: "price" },
  ]),
  good("weights, of which one may be nothing", "version: 1\ndefaults: {weights: {ep_a: 2.5, ep/b: 0}}", [
    {},
    {
      weights: new Map([
        ["ep_a", 2.5],
        ["ep/b", 0],
      ]),
    },
  ]),
  good(
    "one arm of weight nothing",
    "version: 1\ndefaults: {experiment: {name: e, arms: [{arm: a, endpoint: x, weight: 0}, {arm: b, endpoint: x}]}}",
    [{}, { experiment: { arms: [{ weight: 0 }, { weight: 1 }] } }],
  ),
  good("a refusal of everything", "version: 1\ndefaults: {deny: {message: Closed for the holidays.}}", [
    {},
    { rule: "", deny: "Closed for the holidays." },
  ]),
  good(
    "a refusal with an exception",
    "version: 1\ndefaults: {deny: {message: no}}\nrules: [{match: {key: key_1}, then: {deny: false}}]",
    [{}, { deny: undefined }],
    [{ keyId: "key_2" }, { deny: "no" }],
  ),
  good("only one provider", "version: 1\ndefaults: {only: [openai], fallbacks: false}", [
    {},
    { only: ["openai"], fallbacks: false, isChosenByRequest: false },
  ]),
  good("a tag of no known type, which is a text", "version: 1\nsort: !ours price", [{}, { sort: "price" }]),
];

export const GOOD_SAMPLES: readonly GoodSample[] = [...WRITTEN, ...SHORT];

/** Names of properties in a JSON Schema, at every depth; the names in a record are the author's own. */
export function grammarKeys(schema: unknown): Set<string> {
  if (Array.isArray(schema)) return new Set(schema.flatMap((inner) => [...grammarKeys(inner)]));
  if (typeof schema !== "object" || schema === null) return new Set();
  const found = new Set<string>();
  for (const [word, inner] of Object.entries(schema)) {
    if (word === "properties") for (const key of Object.keys(inner)) found.add(key);
    const inside = word === "properties" ? Object.values(inner) : inner;
    for (const key of grammarKeys(inside)) found.add(key);
  }
  return found;
}
