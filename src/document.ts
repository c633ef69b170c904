/**
 * Reads a YAML document against a zod schema. Every problem names file, line, column, a JSON pointer and, for
 * an unknown key, the nearest key the schema knows. Takes text, touches no file: the caller does the reading.
 */
import { type Document, isNode, parseDocument, visit, type YAMLParseError } from "yaml";
import { z } from "zod";

export interface Problem {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  /** JSON pointer into the document; empty for the whole. */
  readonly pointer: string;
  readonly message: string;
  /** What was probably meant by an unknown key or word. */
  readonly nearest?: string | undefined;
}

export type ReadDocument<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Where a path of the document stands: for checks that no schema can make (such as across files). */
      at(path: readonly PropertyKey[]): { line: number; column: number };
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function readDocument<S extends z.ZodType>(
  text: string,
  file: string,
  schema: S,
): ReadDocument<z.output<S>> {
  const place = placesIn(text);
  const doc = parseDocument(text, PARSING);
  if (doc.errors.length > 0) {
    return {
      ok: false,
      problems: syntaxErrors(doc.errors).map(({ pos, message }) => ({
        file,
        ...place(pos[0]),
        pointer: "",
        message,
      })),
    };
  }
  /** The key node where there is one (that is what an editor should underline), else the value, else its parent. */
  const at = (path: readonly PropertyKey[]) => {
    for (let depth = path.length; depth >= 0; depth--) {
      const node = doc.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range) return place(node.range[0]);
    }
    return { line: 1, column: 1 };
  };
  let value: unknown;
  try {
    if (hasManyAliases(doc)) throw new RangeError("too many aliases");
    value = doc.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch {
    const { offset, message } = aliasError(doc);
    return { ok: false, problems: [{ file, ...place(offset), pointer: "", message }] };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data, at };
  const problems: Problem[] = [];
  for (const issue of issuesOf(parsed.error, value)) {
    if (issue.code === "unrecognized_keys") {
      const known = knownKeys(schema, issue.path);
      for (const key of issue.keys.slice(0, MAX_PROBLEMS)) {
        const near = nearest(key, known);
        problems.push({
          file,
          ...keyPlace(doc.getIn(issue.path, true), key, place, at(issue.path)),
          pointer: pointerTo([...issue.path, key]),
          message: `unknown key "${key}"${didYouMean(near)}`,
          nearest: near,
        });
      }
    } else {
      const said = valueAt(value, issue.path);
      const near = typeof said === "string" ? nearest(said, words(issue)) : undefined;
      const isMissing = said === undefined && issue.message.startsWith(OF_ZOD);
      const told = issue.message.replace("expected record", "expected object");
      const message = isMissing ? "is missing" : `${told}${didYouMean(near)}`;
      problems.push({ file, ...at(issue.path), pointer: pointerTo(issue.path), message, nearest: near });
    }
  }
  // A key that is missing because it is misspelt is told once.
  const typos = new Set(
    problems.flatMap(({ pointer, nearest: near }) => (near === undefined ? [] : [siblingOf(pointer, near)])),
  );
  const told = problems.filter((p) => p.message !== "is missing" || !typos.has(p.pointer));
  return { ok: false, problems: told.slice(0, MAX_PROBLEMS) };
}

/** From offsets to places. The parser's own counter misses lines of texts that are badly broken. */
function placesIn(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** The parser goes down into what is nested and says where it could go no further; what follows is of no use. */
function syntaxErrors(errors: readonly YAMLParseError[]): readonly Pick<YAMLParseError, "pos" | "message">[] {
  const deep = errors.find(({ message }) => message.includes("call stack"));
  if (deep !== undefined) return [{ pos: deep.pos, message: "is nested too deeply to be read" }];
  // The parser's own words name a function of its library.
  const second = errors.find(({ code }) => code === "MULTIPLE_DOCS");
  if (second !== undefined) return [{ pos: second.pos, message: "holds more than one document" }];
  return errors.slice(0, MAX_SYNTAX_ERRORS);
}

/** The parser goes through the whole document for each. */
function hasManyAliases(doc: Document): boolean {
  let count = 0;
  visit(doc, { Alias: () => (++count > MAX_ALIAS_NODES ? visit.BREAK : undefined) });
  return count > MAX_ALIAS_NODES;
}

/** An alias may stand before what it names; and aliases of aliases grow to any size. */
function aliasError(doc: Document): { offset: number; message: string } {
  let unknown: { offset: number; message: string } | undefined;
  if (hasManyAliases(doc)) return { offset: 0, message: "has too many aliases" };
  visit(doc, {
    Alias(_key, alias) {
      if (alias.resolve(doc) !== undefined) return undefined;
      const message = `nothing before *${alias.source} has the anchor &${alias.source}`;
      unknown = { offset: alias.range?.[0] ?? 0, message };
      return visit.BREAK;
    },
  });
  return unknown ?? { offset: 0, message: "its aliases multiply too far" };
}

const siblingOf = (pointer: string, key: string): string =>
  pointer.slice(0, pointer.lastIndexOf("/")) + pointerTo([key]);

const didYouMean = (near: string | undefined): string =>
  near === undefined ? "" : `; did you mean "${near}"?`;

const words = (issue: z.core.$ZodIssue): string[] =>
  issue.code === "invalid_value"
    ? issue.values.filter((word): word is string => typeof word === "string")
    : [];

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

const issuesOf = ({ issues }: z.ZodError, value: unknown): z.core.$ZodIssue[] =>
  issues.slice(0, MAX_PROBLEMS).flatMap((issue) => branchOf(issue, value));

/** Of a union that nothing fits: what the branch of the value's own kind lacks, where there is one. */
function branchOf(issue: z.core.$ZodIssue, value: unknown): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  // A branch of another kind says so of the value itself; of the others the first is meant.
  const branch = issue.errors.find((errors) => errors.every((e) => e.path.length > 0 || !isKind(e)));
  if (branch === undefined || branch.length === 0) return [{ ...issue, message: kindsOf(issue) }];
  return branch.flatMap((inner) => branchOf({ ...inner, path: [...issue.path, ...inner.path] }, value));
}

/** Whether an issue says that a value is of another kind altogether. */
const isKind = ({ code }: z.core.$ZodIssue): boolean => code === "invalid_type" || code === "invalid_value";

const kindsOf = ({ errors }: z.core.$ZodIssueInvalidUnion): string => {
  const kinds = errors.flatMap(([first]) =>
    first?.code === "invalid_type"
      ? [first.expected === "record" ? "object" : first.expected]
      : first?.code === "invalid_value"
        ? first.values.map((v) => JSON.stringify(v))
        : [],
  );
  return `Invalid input: expected ${[...new Set(kinds)].join(" or ") || "something else"}`;
};

/** `config/models/openai.yaml:12:5 /models/3/context: expected number` */
export const problemText = (p: Problem): string =>
  `${p.file}:${p.line}:${p.column} ${p.pointer === "" ? "" : `${p.pointer}: `}${p.message}`;

/** RFC 6901. */
export const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((p) => `/${String(p).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The parser would warn on our standard error of what a stranger wrote. */
const PARSING = { prettyErrors: false, uniqueKeys: true, logLevel: "error" } as const;
const MAX_WORD = 200;
/** Letters that differ; beyond them another word was meant. */
const MAX_TYPOS = 10;
/** How messages begin that no schema of ours wrote. */
const OF_ZOD = "Invalid input";
/** One mistake may make a thousand. */
const MAX_SYNTAX_ERRORS = 20;
/** Nobody reads more, and each takes time to place. */
const MAX_PROBLEMS = 100;
/** What an alias bomb would exceed. */
const MAX_ALIASES = 100;
const MAX_ALIAS_NODES = 1000;

/** The closest of `known` by edit distance, or undefined where none is near enough to be a typo. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // No typo of a name is as long; comparing what a stranger sent would take time in proportion to its length.
  if (word.length > MAX_WORD) return undefined;
  const meant = word.toLowerCase();
  let best: string | undefined;
  let within = Math.min(Math.max(2, Math.floor(word.length / 3)), MAX_TYPOS);
  for (const candidate of known) {
    const distance = editDistance(meant, candidate.toLowerCase(), within);
    if (distance > within) continue;
    if (distance === 0) return candidate;
    best = candidate;
    // Only a nearer one takes its place.
    within = distance - 1;
  }
  return best;
}

/** Levenshtein's distance; where it exceeds `within`, some greater number. Only that near the diagonal is looked at (Ukkonen 1985). */
function editDistance(a: string, b: string, within: number): number {
  const far = within + 1;
  if (Math.abs(a.length - b.length) > within) return far;
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  let current = previous.map(() => far);
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - within);
    const to = Math.min(b.length, i + within);
    current[from - 1] = from === 1 ? i : far;
    let least = current[from - 1] ?? far;
    for (let j = from; j <= to; j++) {
      const swap = (previous[j - 1] ?? far) + (a[i - 1] === b[j - 1] ? 0 : 1);
      // Beyond the band nothing was counted.
      const above = j < i + within ? (previous[j] ?? far) : far;
      const cost = Math.min(swap, above + 1, (current[j - 1] ?? far) + 1);
      current[j] = cost;
      if (cost < least) least = cost;
    }
    if (least > within) return far;
    [previous, current] = [current, previous];
  }
  return previous[b.length] ?? far;
}

function keyPlace(
  map: unknown,
  key: string,
  place: (offset: number) => { line: number; column: number },
  otherwise: { line: number; column: number },
) {
  if (typeof map === "object" && map !== null && "items" in map && Array.isArray(map.items)) {
    for (const pair of map.items) {
      // A key may be no text: 1, true.
      if (pair?.key?.range && String(pair.key) === key) return place(pair.key.range[0]);
    }
  }
  return otherwise;
}

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
  additionalProperties?: Shape | boolean;
  anyOf?: Shape[];
}

/** The JSON Schema form of a schema, which has no wrappers. Made once: it takes a millisecond or two. */
const shapeOnce = new WeakMap<z.ZodType, Shape>();

function shapeOf(schema: z.ZodType): Shape {
  let shape = shapeOnce.get(schema);
  if (shape === undefined) {
    shape = z.toJSONSchema(schema, { unrepresentable: "any", io: "input", reused: "inline" }) as Shape;
    shapeOnce.set(schema, shape);
  }
  return shape;
}

/** The keys an object schema takes at a path. */
function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let shapes: Shape[] = [shapeOf(schema)];
  const flat = (s: Shape): Shape[] => [s, ...(s.anyOf ?? []).flatMap(flat)];
  for (const step of path) {
    shapes = shapes.flatMap(flat).flatMap((s) => {
      const next =
        typeof step === "number"
          ? s.items
          : (s.properties?.[String(step)] ??
            (typeof s.additionalProperties === "object" ? s.additionalProperties : undefined));
      return next === undefined ? [] : [next];
    });
  }
  return [...new Set(shapes.flatMap(flat).flatMap((s) => Object.keys(s.properties ?? {})))];
}
