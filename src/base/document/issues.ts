/**
 * Converts zod's issues into messages for the document's author: the nearest known key or word, the intended branch of
 * a union, a missing key by name. Knows paths, not positions.
 */
import { z } from "zod";
import { didYouMean, nearest } from "./nearest.ts";

/** One problem. */
export interface IssueMessage {
  readonly path: readonly PropertyKey[];
  /** The key, if that is the problem and not its value: `path` is then its parent. */
  readonly key?: string;
  readonly message: string;
  /** The probable intention. */
  readonly nearest: string | undefined;
}

/** Nobody reads more, and locating each takes time. */
const MAX_MESSAGES = 100;
/** Prefix of zod's default messages. */
const OF_ZOD = "Invalid input";
const MISSING = "is missing";

/** @param value the input of the schema. */
export function issueMessages({ issues }: z.ZodError, value: unknown, schema: z.ZodType): IssueMessage[] {
  const told = issues
    .slice(0, MAX_MESSAGES)
    .flatMap((issue) => branchOf(issue, value))
    .flatMap((issue) => {
      if (issue.code === "unrecognized_keys") return unknownKeys(issue, schema);
      return [issue.code === "invalid_key" ? wrongKey(issue) : wrongValue(issue, value)];
    });
  // A key that is missing because it is misspelt is reported once.
  const meant = new Set(
    told.flatMap((t) =>
      t.key === undefined || t.nearest === undefined ? [] : [nameOf([...t.path, t.nearest])],
    ),
  );
  return told.filter((t) => t.message !== MISSING || !meant.has(nameOf(t.path))).slice(0, MAX_MESSAGES);
}

const nameOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

function unknownKeys({ path, keys }: z.core.$ZodIssueUnrecognizedKeys, schema: z.ZodType): IssueMessage[] {
  const known = knownKeys(schema, path);
  return keys.slice(0, MAX_MESSAGES).map((key) => {
    const near = nearest(key, known);
    return { path, key, message: `unknown key "${key}"${didYouMean(near)}`, nearest: near };
  });
}

/** A key of a mapping whose names the document chooses. */
function wrongKey({ path, issues }: z.core.$ZodIssueInvalidKey): IssueMessage {
  const message = `the key is not valid: ${issues[0]?.message ?? "another is expected"}`;
  return { path: path.slice(0, -1), key: String(path.at(-1)), message, nearest: undefined };
}

function wrongValue(issue: z.core.$ZodIssue, value: unknown): IssueMessage {
  const { path } = issue;
  const said = valueAt(value, path);
  if (said === undefined && issue.message.startsWith(OF_ZOD))
    return { path, message: MISSING, nearest: undefined };
  const near = typeof said === "string" ? nearest(said, words(issue)) : undefined;
  const message = issue.message.replace("expected record", "expected object") + didYouMean(near);
  return { path, message, nearest: near };
}

const words = (issue: z.core.$ZodIssue): string[] =>
  issue.code === "invalid_value"
    ? issue.values.filter((word): word is string => typeof word === "string")
    : [];

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** For a union without a matching branch: the issues of the branch of the value's type, if there is one. */
function branchOf(issue: z.core.$ZodIssue, value: unknown): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  // Branches of another type report an issue of the value itself; of the remaining ones take the first.
  const branch = issue.errors.find((errors) => errors.every((e) => e.path.length > 0 || !isKind(e)));
  if (branch === undefined || branch.length === 0) return [{ ...issue, message: kindsOf(issue) }];
  return branch.flatMap((inner) => branchOf({ ...inner, path: [...issue.path, ...inner.path] }, value));
}

/** Whether an issue concerns the type of the value itself. */
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

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
  additionalProperties?: Shape | boolean;
  anyOf?: Shape[];
}

/** The JSON Schema of a schema, which has no wrappers. Cached: it takes a millisecond or two. */
const shapeOnce = new WeakMap<z.ZodType, Shape>();

function shapeOf(schema: z.ZodType): Shape {
  let shape = shapeOnce.get(schema);
  if (shape === undefined) {
    shape = z.toJSONSchema(schema, { unrepresentable: "any", io: "input", reused: "inline" }) as Shape;
    shapeOnce.set(schema, shape);
  }
  return shape;
}

/** The keys that an object schema accepts at a path. */
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
