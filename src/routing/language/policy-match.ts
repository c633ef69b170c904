/** The facts a rule looks at, and whether a call matches it. */
import type { Decision } from "../planner/decision.ts";
import type { PolicyMatch } from "./policy-document.ts";

/** What is known about a call before it is planned. */
export interface PolicyFacts {
  /** Full id: `<vendor>/<model>`. */
  readonly modelId: string;
  readonly projectId: string;
  readonly projectSlug: string;
  readonly keyId: string;
  /** The app that the request names, in its body or by its headers; empty without one. */
  readonly app: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly stream: boolean;
  readonly hasTools: boolean;
  readonly hasImages: boolean;
  /** Estimated prompt tokens. */
  readonly inputTokens: number;
}

type Tags = (tags: PolicyFacts["tags"]) => boolean;

export class Rule {
  readonly decision: Decision;
  readonly #models: readonly string[] | undefined;
  readonly #projects: ReadonlySet<string> | undefined;
  readonly #keys: ReadonlySet<string> | undefined;
  readonly #apps: ReadonlySet<string> | undefined;
  readonly #tags: Tags | undefined;
  readonly #stream: boolean | undefined;
  readonly #tools: boolean | undefined;
  readonly #images: boolean | undefined;
  readonly #minTokens: number;
  readonly #maxTokens: number;

  constructor(match: PolicyMatch, decision: Decision) {
    this.decision = decision;
    this.#models = match.model === undefined ? undefined : listOf(match.model);
    this.#projects = setOf(match.project);
    this.#keys = setOf(match.key);
    this.#apps = setOf(match.app);
    this.#tags = match.tag === undefined ? undefined : tagsOf(match.tag);
    this.#stream = match.stream;
    this.#tools = match.tools;
    this.#images = match.images;
    this.#minTokens = match.min_input_tokens ?? 0;
    this.#maxTokens = match.max_input_tokens ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Whether the rule applies to the model; called once per model and cached.
   * @param known patterns already matched against this model by other rules: one list may appear, by YAML alias, in
   *   every rule
   */
  takesModel(modelId: string, known: Map<string, boolean>): boolean {
    if (this.#models === undefined) return true;
    return this.#models.some((glob) => {
      const does = known.get(glob) ?? fitsModel(glob, modelId);
      known.set(glob, does);
      return does;
    });
  }

  /** Whether the call matches everything but the model. */
  takes(facts: PolicyFacts): boolean {
    return (
      (this.#stream === undefined || this.#stream === facts.stream) &&
      (this.#tools === undefined || this.#tools === facts.hasTools) &&
      (this.#images === undefined || this.#images === facts.hasImages) &&
      facts.inputTokens >= this.#minTokens &&
      facts.inputTokens <= this.#maxTokens &&
      (this.#keys === undefined || this.#keys.has(facts.keyId)) &&
      (this.#projects === undefined ||
        this.#projects.has(facts.projectId) ||
        this.#projects.has(facts.projectSlug)) &&
      (this.#apps === undefined || this.#apps.has(facts.app)) &&
      (this.#tags === undefined || this.#tags(facts.tags))
    );
  }
}

const listOf = (names: string | readonly string[]): readonly string[] =>
  typeof names === "string" ? [names] : names;

const setOf = (names: string | readonly string[] | undefined): ReadonlySet<string> | undefined =>
  names === undefined ? undefined : new Set(listOf(names));

/** All pairs of a mapping must match; one element of a list is enough. */
function tagsOf(wanted: NonNullable<PolicyMatch["tag"]>): Tags {
  if (typeof wanted === "object" && !Array.isArray(wanted)) {
    const pairs = Object.entries(wanted);
    return (tags) => pairs.every(([name, value]) => Object.hasOwn(tags, name) && tags[name] === value);
  }
  const any = listOf(wanted).map((text) => {
    const at = text.indexOf("=");
    return at < 0 ? { name: text, value: undefined } : { name: text.slice(0, at), value: text.slice(at + 1) };
  });
  return (tags) =>
    any.some(({ name, value }) => Object.hasOwn(tags, name) && (value === undefined || tags[name] === value));
}

/** A pattern without a vendor matches any vendor's model. */
export const fitsModel = (glob: string, modelId: string): boolean =>
  fits(glob, glob.includes("/") ? modelId : bareName(modelId));

export const bareName = (modelId: string): string => modelId.slice(modelId.indexOf("/") + 1);

const STAR = 0x2a;
const ANY = 0x3f;

/**
 * `*` matches any text, `?` one character. On a mismatch only the last star backtracks: time is the product of both
 * lengths.
 */
export function fits(glob: string, text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let starText = 0;
  while (t < text.length) {
    const wanted = g < glob.length ? glob.charCodeAt(g) : -1;
    if (wanted === STAR) {
      star = g++;
      starText = t;
    } else if (wanted === ANY || wanted === text.charCodeAt(t)) {
      g++;
      t++;
    } else if (star >= 0) {
      g = star + 1;
      t = ++starText;
    } else {
      return false;
    }
  }
  while (glob.charCodeAt(g) === STAR) g++;
  return g === glob.length;
}
