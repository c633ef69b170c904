/**
 * Parses a YAML document and validates it by a zod schema. Every problem has file, line, column, a JSON pointer and,
 * for an unknown key, the nearest key of the schema. Takes text: the caller reads the file.
 */
import {
  type Document,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type YAMLParseError,
} from "yaml";
import type { z } from "zod";
import { issueMessages } from "./issues.ts";

export interface Problem {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  /** JSON pointer into the document; empty for the whole. */
  readonly pointer: string;
  readonly message: string;
}

export type ReadDocument<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Position of a path in the document: for checks beyond the schema (such as across files). */
      at(path: readonly PropertyKey[]): { line: number; column: number };
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function readDocument<S extends z.ZodType>(
  text: string,
  file: string,
  schema: S,
): ReadDocument<z.output<S>> {
  const placeOf = placesIn(text);
  const doc = parseDocument(text, PARSING);
  if (doc.errors.length > 0) {
    return {
      ok: false,
      problems: syntaxErrors(doc.errors).map(({ pos, message }) => ({
        file,
        ...placeOf(pos[0]),
        pointer: "",
        message,
      })),
    };
  }
  const wrongKeys = keyErrors(doc);
  if (wrongKeys.length > 0) {
    return {
      ok: false,
      problems: wrongKeys.map(({ offset, ...told }) => ({ file, ...placeOf(offset), ...told })),
    };
  }
  /** The key node if there is one (an editor should underline it), else the value, else its parent. */
  const at = (path: readonly PropertyKey[]) => {
    for (let depth = path.length; depth >= 0; depth--) {
      const node = doc.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range) return placeOf(node.range[0]);
    }
    return { line: 1, column: 1 };
  };
  let value: unknown;
  try {
    if (hasManyAliases(doc)) throw new RangeError("too many aliases");
    value = doc.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch {
    const { offset, message } = aliasError(doc);
    return { ok: false, problems: [{ file, ...placeOf(offset), pointer: "", message }] };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data, at };
  const problems = issueMessages(parsed.error, value, schema).map(({ path, key, message }): Problem => {
    const place = key === undefined ? at(path) : keyPlace(doc.getIn(path, true), key, placeOf, at(path));
    const pointer = pointerTo(key === undefined ? path : [...path, key]);
    return { file, ...place, pointer, message };
  });
  return { ok: false, problems };
}

/** Converts offsets to lines and columns. The parser's own counter misses lines of badly broken texts. */
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

/** The parser descends into nested values and reports where it stopped; later errors are useless. */
function syntaxErrors(errors: readonly YAMLParseError[]): readonly Pick<YAMLParseError, "pos" | "message">[] {
  const deep = errors.find(({ message }) => message.includes("call stack"));
  if (deep !== undefined) return [{ pos: deep.pos, message: "is nested too deeply to be read" }];
  // The parser's own message names a function of its library.
  const second = errors.find(({ code }) => code === "MULTIPLE_DOCS");
  if (second !== undefined) return [{ pos: second.pos, message: "holds more than one document" }];
  return errors.slice(0, MAX_SYNTAX_ERRORS);
}

/** The parser searches the whole document for each alias. */
function hasManyAliases(doc: Document): boolean {
  let count = 0;
  visit(doc, { Alias: () => (++count > MAX_ALIAS_NODES ? visit.BREAK : undefined) });
  return count > MAX_ALIAS_NODES;
}

/**
 * Duplicate keys (the parser's own search compares each with each), and keys that are not scalars: nested mappings as
 * keys are written as text within text, doubling in length at every level.
 */
function keyErrors(doc: Document): { offset: number; pointer: string; message: string }[] {
  const errors: { offset: number; pointer: string; message: string }[] = [];
  visit(doc, {
    Map(_key, map, ancestors) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (errors.length >= MAX_SYNTAX_ERRORS) return visit.BREAK;
        const offset = (isNode(key) ? key.range?.[0] : undefined) ?? map.range?.[0] ?? 0;
        if (key !== null && !isScalar(key)) {
          errors.push({
            offset,
            pointer: pointerTo(pathOf([...ancestors, map])),
            message: "a key must be a word",
          });
          // Nested values would be reported again.
          return visit.SKIP;
        }
        const word = String(key?.value ?? "");
        if (seen.has(word)) {
          errors.push({
            offset,
            pointer: pointerTo([...pathOf([...ancestors, map]), word]),
            message: `"${word}" stands twice`,
          });
        }
        seen.add(word);
      }
      return undefined;
    },
  });
  return errors;
}

/** Keys and indexes on the path to the last of `nodes`, each of which contains the next. */
const pathOf = (nodes: readonly unknown[]): PropertyKey[] =>
  nodes.flatMap((node, i): PropertyKey[] => {
    if (isPair(node)) return [isScalar(node.key) ? String(node.key.value ?? "") : ""];
    return isSeq(node) && i + 1 < nodes.length ? [node.items.indexOf(nodes[i + 1])] : [];
  });

/** An alias may precede its anchor, and aliases of aliases grow without bound. */
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

/** `config/models/openai.yaml:12:5 /models/3/context: expected number` */
export const problemText = (p: Problem): string =>
  `${p.file}:${p.line}:${p.column} ${p.pointer === "" ? "" : `${p.pointer}: `}${p.message}`;

/** RFC 6901. */
export const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((p) => `/${String(p).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The parser would print warnings about user input to standard error. */
const PARSING = { prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
/** One mistake may cause a thousand errors. */
const MAX_SYNTAX_ERRORS = 20;
/** Limit against alias bombs. */
const MAX_ALIASES = 100;
const MAX_ALIAS_NODES = 1000;

function keyPlace(
  map: unknown,
  key: string,
  place: (offset: number) => { line: number; column: number },
  otherwise: { line: number; column: number },
) {
  if (typeof map === "object" && map !== null && "items" in map && Array.isArray(map.items)) {
    for (const pair of map.items) {
      // A key need not be text: 1, true.
      if (pair?.key?.range && String(pair.key) === key) return place(pair.key.range[0]);
    }
  }
  return otherwise;
}
