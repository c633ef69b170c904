/**
 * Reads a policy's YAML text into a document that is sure to compile, or returns every problem with its position. Never
 * throws, whatever the text is.
 */
import { TENANT_BOUNDS } from "../../base/document/compose.ts";
import { type Place, type Problem, pointerTo, readDocument } from "../../base/document/document.ts";
import { didYouMean, nearest } from "../../base/document/nearest.ts";
import { DEFAULT_DECISION } from "../planner/decision.ts";
import { exclusionOf, type Judged } from "../planner/eligibility.ts";
import { leftOut, leftOutText, NO_FACTS } from "../planner/left-out.ts";
import { merged } from "./policy.ts";
import { MAX_LISTED, type PolicyBlock, type PolicyDocument, policySchema } from "./policy-document.ts";
import { bareName, fitsModel } from "./policy-match.ts";

export const MAX_POLICY_BYTES = 64 * 1024;
/** Each is located in the text and sent to the caller. */
const MAX_PROBLEMS = 100;
const MAX_WARNINGS = 100;
/** Characters of a message, and of a pointer: both may repeat a name of the document, which may be as long as it. */
const MAX_SAID = 500;
/** Letters of unknown names times the names that each is compared with: some 20 ms. Further ones get no suggestion. */
const MAX_COMPARED = 250_000;
/** Times that an endpoint is held against a block, some 10 ms in all; blocks beyond it get no warning. */
const MAX_JUDGED = 20_000;
/** So often each endpoint is, to tell why a block leaves out all. */
const JUDGED_TO_TELL = 8;

/** Names in the current catalog. */
export interface KnownNames {
  readonly providers: ReadonlySet<string>;
  readonly endpoints: ReadonlySet<string>;
  /** Where endpoints are. */
  readonly regions: ReadonlySet<string>;
  /** Each endpoint that is switched on, also where only an org's own key reaches it. */
  readonly judged: readonly Judged[];
  readonly models: ReadonlySet<string>;
}

export type PolicyProblem = Omit<Problem, "file">;

export type PolicyReading =
  | {
      readonly ok: true;
      readonly document: PolicyDocument;
      /** Names in the policy that the catalog does not have, and blocks that leave out all of it. */
      readonly warnings: readonly PolicyProblem[];
    }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

export interface ReadingOptions {
  /** Name that the document's `policy` must have, if it is present. */
  readonly name?: string;
  readonly known?: KnownNames;
}

type Path = readonly PropertyKey[];
/** @param isOfKey what is wrong is the last key of the path, not the value there */
type Say = (path: Path, message: string, isOfKey?: boolean) => void;

export function readPolicy(text: string, options: ReadingOptions = {}): PolicyReading {
  try {
    return read(text, options);
  } catch {
    // A defect in the reader must not throw.
    return whole("cannot be read");
  }
}

const whole = (message: string): PolicyReading => refused([{ pointer: "", message, line: 1, column: 1 }]);

const isBlank = (text: string): boolean => text.split("\n").every((line) => /^\s*(#|$)/.test(line));

function read(text: string, { name, known }: ReadingOptions): PolicyReading {
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) {
    return whole(`is larger than ${MAX_POLICY_BYTES} bytes`);
  }
  if (isBlank(text)) return whole("is empty");
  const found = readDocument(text, "", policySchema, TENANT_BOUNDS);
  if (!found.ok) return refused(found.problems.map(({ file: _, ...problem }) => problem));
  const document = found.value;
  const problems: PolicyProblem[] = [];
  const warnings: PolicyProblem[] = [];
  const say =
    (to: PolicyProblem[]): Say =>
    (path, message, isOfKey) => {
      const place: Place = isOfKey ? found.atKey(path) : found.at(path);
      if (to.length < MAX_PROBLEMS) to.push({ pointer: pointerTo(path), message, ...place });
    };
  checkNames(document, name, say(problems));
  checkMatches(document, say(problems));
  for (const [path, block] of blocksOf(document)) checkBlock(path, block, say(problems));
  if (problems.length > 0) return refused(problems);
  if (known !== undefined) {
    warnOf(document, known, say(warnings));
    warnOfEmpty(document, known, say(warnings));
  }
  return { ok: true, document, warnings: inTextOrder(warnings) };
}

const refused = (problems: readonly PolicyProblem[]): PolicyReading => ({
  ok: false,
  problems: inTextOrder(problems),
});

const inTextOrder = (problems: readonly PolicyProblem[]): PolicyProblem[] =>
  problems
    .slice(0, MAX_PROBLEMS)
    .map((problem) => ({ ...problem, pointer: short(problem.pointer), message: short(problem.message) }))
    .sort((a, b) => a.line - b.line || a.column - b.column);

const short = (text: string): string => (text.length > MAX_SAID ? `${text.slice(0, MAX_SAID)}…` : text);

function checkNames(
  { policy, sort, defaults, rules = [] }: PolicyDocument,
  name: string | undefined,
  say: Say,
): void {
  if (name !== undefined && policy !== undefined && policy !== name) {
    say(["policy"], `is "${policy}", and this is a version of "${name}"`);
  }
  if (sort !== undefined && defaults?.sort !== undefined && sort !== defaults.sort) {
    say(["defaults", "sort"], `is ${defaults.sort}, and the top of the document says ${sort}`);
  }
  const seen = new Map<string, number>();
  rules.forEach((rule, at) => {
    const ruleName = rule.name ?? `rule-${at + 1}`;
    const before = seen.get(ruleName);
    const path = rule.name === undefined ? ["rules", at] : ["rules", at, "name"];
    if (before !== undefined) say(path, `"${ruleName}" is the name of rule ${before + 1} already`);
    seen.set(ruleName, at);
  });
}

function checkMatches({ rules = [] }: PolicyDocument, say: Say): void {
  rules.forEach(({ match }, at) => {
    const { min_input_tokens: min, max_input_tokens: max } = match ?? {};
    if (min === undefined || max === undefined || min <= max) return;
    say(["rules", at, "match", "max_input_tokens"], `is ${max}, below min_input_tokens ${min}: no call fits`);
  });
}

/** The defaults and each rule's `then`, with their paths. */
export function blocksOf({ defaults, rules = [] }: PolicyDocument): [Path, PolicyBlock][] {
  const blocks: [Path, PolicyBlock][] = defaults === undefined ? [] : [[["defaults"], defaults]];
  rules.forEach(({ then }, at) => {
    if (then !== undefined) blocks.push([["rules", at, "then"], then]);
  });
  return blocks;
}

function checkBlock(path: Path, { only, ignore, weights, experiment }: PolicyBlock, say: Say): void {
  ignore?.forEach((id, at) => {
    if (only?.includes(id)) say([...path, "ignore", at], `"${id}" stands in only, too`);
  });
  const parts = Object.values(weights ?? {});
  if (parts.length > MAX_LISTED) say([...path, "weights"], `holds more than ${MAX_LISTED} weights`);
  if (parts.length > 0 && !parts.some((weight) => weight > 0)) {
    say([...path, "weights"], "needs a weight above 0");
  }
  if (!experiment) return;
  const { arms } = experiment;
  if (!arms.some(({ weight }) => weight > 0)) say([...path, "experiment", "arms"], "needs a weight above 0");
  arms.forEach(({ arm }, at) => {
    const before = arms.findIndex((other) => other.arm === arm);
    if (before < at) {
      say([...path, "experiment", "arms", at, "arm"], `"${arm}" is the name of arm ${before + 1} already`);
    }
  });
}

/** Warns of each block that leaves out all endpoints of all models: a call that it applies to is refused. */
function warnOfEmpty(document: PolicyDocument, { judged }: KnownNames, say: Say): void {
  let left = MAX_JUDGED;
  for (const [path, block] of blocksOf(document)) {
    const whole = path[0] === "defaults" ? block : merged(document.defaults ?? {}, block);
    const { only, ignore, order, fallbacks = true, require = {}, deny } = whole;
    if (deny !== undefined && deny !== false) continue;
    const decision = { ...DEFAULT_DECISION, only, ignore, order, fallbacks, require };
    let seen = 0;
    const isOpen = judged.some((endpoint) => {
      seen++;
      return exclusionOf(endpoint, NO_FACTS, decision) === undefined;
    });
    left -= isOpen ? seen : seen + judged.length * JUDGED_TO_TELL;
    if (left < 0) return;
    if (isOpen || judged.length === 0) continue;
    const why = leftOutText(leftOut(judged, { facts: NO_FACTS, decision, route: {} }), "the catalog");
    say(path, `no endpoint satisfies this, and calls that it applies to are refused. ${why}`);
  }
}

/** The names of a block that the catalog should have, in the order of their keys. */
function* namesIn(
  path: Path,
  { order, only, ignore, require, weights, canary, shadow, experiment }: PolicyBlock,
): Generator<readonly ["server" | "endpoint" | "region", Path, string, isOfKey?: boolean]> {
  for (const [key, ids] of Object.entries({ order, only, ignore }))
    for (const [at, id] of (ids ?? []).entries()) yield ["server", [...path, key, at], id];
  for (const [at, region] of (require?.regions ?? []).entries())
    yield ["region", [...path, "require", "regions", at], region];
  for (const id of Object.keys(weights ?? {})) yield ["endpoint", [...path, "weights", id], id, true];
  if (canary) yield ["endpoint", [...path, "canary", "endpoint"], canary.endpoint];
  if (shadow) yield ["endpoint", [...path, "shadow", "endpoint"], shadow.endpoint];
  if (!experiment) return;
  for (const [at, arm] of experiment.arms.entries())
    yield ["endpoint", [...path, "experiment", "arms", at, "endpoint"], arm.endpoint];
}

function warnOf(document: PolicyDocument, known: KnownNames, say: Say): void {
  const either = new Set([...known.providers, ...known.endpoints]);
  const expect = (names: ReadonlySet<string>, what: string) => {
    const list = [...names];
    // The same name may appear in every rule.
    const said = new Map<string, string>();
    return (path: Path, id: string, isOfKey?: boolean) => {
      if (names.has(id) || left === 0) return;
      left--;
      let message = said.get(id);
      if (message === undefined) {
        compared += id.length * list.length;
        const near = compared > MAX_COMPARED ? undefined : nearest(id, list);
        message = `there is no ${what} "${id}"${didYouMean(near)}`;
        said.set(id, message);
      }
      say(path, message, isOfKey);
    };
  };
  let left = MAX_WARNINGS;
  let compared = 0;
  /** Model name or pattern → whether the catalog has a match. */
  const ofSome = new Map<string, boolean>();
  const server = expect(either, "provider or endpoint");
  const endpoint = expect(known.endpoints, "endpoint");
  const region = expect(known.regions, "endpoint in region");
  const models = [...known.models];
  const modelNamed = expect(new Set([...models, ...models.map(bareName)]), "model");
  const check = { server, endpoint, region };
  for (const [path, block] of blocksOf(document))
    for (const [what, to, name, isOfKey] of namesIn(path, block)) check[what](to, name, isOfKey);
  document.rules?.forEach(({ match }, at) => {
    const path = ["rules", at, "match", "model"];
    if (typeof match?.model === "string") warnOfModel(path, match.model);
    else
      match?.model?.forEach((name, n) => {
        warnOfModel([...path, n], name);
      });
  });

  function warnOfModel(path: Path, name: string): void {
    if (left === 0 || isOfSome(name)) return;
    if (!/[*?]/.test(name)) {
      modelNamed(path, name);
      return;
    }
    left--;
    say(path, `no model fits "${name}"`);
  }

  function isOfSome(name: string): boolean {
    const is = ofSome.get(name) ?? models.some((id) => fitsModel(name, id));
    ofSome.set(name, is);
    return is;
  }
}
