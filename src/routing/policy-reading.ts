/**
 * Reads a policy's YAML text into a document that is sure to compile, or returns every problem with its position. Never
 * throws, whatever the text is.
 */
import { TENANT_BOUNDS } from "../document/compose.ts";
import { type Problem, pointerTo, readDocument } from "../document/document.ts";
import { didYouMean, nearest } from "../document/nearest.ts";
import { MAX_LISTED, type PolicyBlock, type PolicyDocument, policySchema } from "./policy-document.ts";
import { bareName, fitsModel } from "./policy-match.ts";

export const MAX_POLICY_BYTES = 64 * 1024;
/** Each is located in the text and sent to the caller. */
const MAX_PROBLEMS = 100;
const MAX_WARNINGS = 100;
/** Letters of unknown names times the names that each is compared with: some 20 ms. Further ones get no suggestion. */
const MAX_COMPARED = 250_000;

/** Names in the current catalog. */
export interface KnownNames {
  readonly providers: ReadonlySet<string>;
  readonly endpoints: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
}

export type PolicyProblem = Omit<Problem, "file">;

export type PolicyReading =
  | {
      readonly ok: true;
      readonly document: PolicyDocument;
      /** Names in the policy that the catalog does not have. */
      readonly warnings: readonly PolicyProblem[];
    }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

export interface ReadingOptions {
  /** Name that the document's `policy` must have, if it is present. */
  readonly name?: string;
  readonly known?: KnownNames;
}

type Path = readonly PropertyKey[];
type Say = (path: Path, message: string) => void;

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
    (path, message) => {
      if (to.length < MAX_PROBLEMS) to.push({ pointer: pointerTo(path), message, ...found.at(path) });
    };
  checkNames(document, name, say(problems));
  checkMatches(document, say(problems));
  for (const [path, block] of blocksOf(document)) checkBlock(path, block, say(problems));
  if (problems.length > 0) return refused(problems);
  if (known !== undefined) warnOf(document, known, say(warnings));
  return { ok: true, document, warnings: inTextOrder(warnings) };
}

const refused = (problems: readonly PolicyProblem[]): PolicyReading => ({
  ok: false,
  problems: inTextOrder(problems),
});

const inTextOrder = (problems: readonly PolicyProblem[]): PolicyProblem[] =>
  problems.toSorted((a, b) => a.line - b.line || a.column - b.column);

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
function blocksOf({ defaults, rules = [] }: PolicyDocument): [Path, PolicyBlock][] {
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

function warnOf(document: PolicyDocument, known: KnownNames, say: Say): void {
  const either = new Set([...known.providers, ...known.endpoints]);
  const expect = (names: ReadonlySet<string>, what: string) => {
    const list = [...names];
    // The same name may appear in every rule.
    const said = new Map<string, string>();
    return (path: Path, id: string) => {
      if (names.has(id) || left === 0) return;
      left--;
      let message = said.get(id);
      if (message === undefined) {
        compared += id.length * list.length;
        const near = compared > MAX_COMPARED ? undefined : nearest(id, list);
        message = `there is no ${what} "${id}"${didYouMean(near)}`;
        said.set(id, message);
      }
      say(path, message);
    };
  };
  let left = MAX_WARNINGS;
  let compared = 0;
  /** Model name or pattern → whether the catalog has a match. */
  const ofSome = new Map<string, boolean>();
  const server = expect(either, "provider or endpoint");
  const endpoint = expect(known.endpoints, "endpoint");
  const models = [...known.models];
  const modelNamed = expect(new Set([...models, ...models.map(bareName)]), "model");
  for (const [path, block] of blocksOf(document)) {
    for (const key of ["order", "only", "ignore"] as const) {
      block[key]?.forEach((id, at) => {
        server([...path, key, at], id);
      });
    }
    for (const id of Object.keys(block.weights ?? {})) endpoint([...path, "weights", id], id);
    for (const key of ["canary", "shadow"] as const) {
      const trial = block[key];
      if (trial) endpoint([...path, key, "endpoint"], trial.endpoint);
    }
    if (!block.experiment) continue;
    block.experiment.arms.forEach((arm, at) => {
      endpoint([...path, "experiment", "arms", at, "endpoint"], arm.endpoint);
    });
  }
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
