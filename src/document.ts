/**
 * Reads a YAML document against a zod schema. Every problem names file, line, column, a JSON pointer and, for
 * an unknown key, the nearest key the schema knows. Takes text, touches no file: the caller does the reading.
 */
import { isNode, LineCounter, parseDocument, type YAMLParseError } from "yaml";
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
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
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
    value = doc.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch {
    // Aliases of aliases grow to any size, and one may stand before what it names.
    const message = "its aliases cannot be resolved";
    return { ok: false, problems: [{ file, line: 1, column: 1, pointer: "", message }] };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data, at };
  const problems: Problem[] = [];
  for (const issue of parsed.error.issues.flatMap((found) => branchOf(found, value))) {
    if (issue.code === "unrecognized_keys") {
      const known = knownKeys(schema, issue.path);
      for (const key of issue.keys) {
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
      const message = isMissing ? "is missing" : `${issue.message}${didYouMean(near)}`;
      problems.push({ file, ...at(issue.path), pointer: pointerTo(issue.path), message, nearest: near });
    }
  }
  // A key that is missing because it is misspelt is told once.
  const typos = new Set(
    problems.flatMap(({ pointer, nearest: near }) => (near === undefined ? [] : [siblingOf(pointer, near)])),
  );
  return { ok: false, problems: problems.filter((p) => p.message !== "is missing" || !typos.has(p.pointer)) };
}

/** The parser goes down into what is nested and says where it could go no further; what follows is of no use. */
function syntaxErrors(errors: readonly YAMLParseError[]): readonly Pick<YAMLParseError, "pos" | "message">[] {
  const deep = errors.find(({ message }) => message.includes("call stack"));
  if (deep !== undefined) return [{ pos: deep.pos, message: "is nested too deeply to be read" }];
  return errors.slice(0, MAX_SYNTAX_ERRORS);
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

const MAX_WORD = 200;
/** How messages begin that no schema of ours wrote. */
const OF_ZOD = "Invalid input";
/** One mistake may make a thousand. */
const MAX_SYNTAX_ERRORS = 20;
/** What an alias bomb would exceed. */
const MAX_ALIASES = 100;

/** The closest of `known` by edit distance, or undefined where none is near enough to be a typo. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // No typo of a name is as long; comparing what a stranger sent would take time in proportion to its length.
  if (word.length > MAX_WORD) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const d = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (d < bestDistance) {
      best = candidate;
      bestDistance = d;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(swap, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

function keyPlace(
  map: unknown,
  key: string,
  place: (offset: number) => { line: number; column: number },
  otherwise: { line: number; column: number },
) {
  if (typeof map === "object" && map !== null && "items" in map && Array.isArray(map.items)) {
    for (const pair of map.items) {
      if (pair?.key?.value === key && pair.key.range) return place(pair.key.range[0]);
    }
  }
  return otherwise;
}

/** The keys an object schema takes at a path: followed through the JSON Schema form, which has no wrappers. */
function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  interface Shape {
    properties?: Record<string, Shape>;
    items?: Shape;
    additionalProperties?: Shape | boolean;
    anyOf?: Shape[];
  }
  let shapes: Shape[] = [
    z.toJSONSchema(schema, { unrepresentable: "any", io: "input", reused: "inline" }) as Shape,
  ];
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
