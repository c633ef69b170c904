/**
 * Parses a YAML document and validates it by a zod schema. Every problem has file, line, column, a JSON pointer and,
 * for an unknown key, the nearest key of the schema. Takes text: the caller reads the file.
 */
import { type Document, isMap, isNode, isPair, isScalar, isSeq, type Pair, visit, type YAMLMap } from "yaml";
import type { z } from "zod";
import { composeWithin, type DocumentBounds, OPERATOR_BOUNDS } from "./compose.ts";
import { issueMessages } from "./issues.ts";

/** 1-based. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Place {
  readonly file: string;
  /** JSON pointer into the document; empty for the whole. */
  readonly pointer: string;
  readonly message: string;
}

export type ReadDocument<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Position of the value at a path in the document: for checks beyond the schema (such as across files). */
      at(path: readonly PropertyKey[]): Place;
      /** Position of the last key of a path: for what is wrong with a name that the document chooses. */
      atKey(path: readonly PropertyKey[]): Place;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** @param bounds of what the text may hold; default: those of the operator's own files */
export function readDocument<S extends z.ZodType>(
  text: string,
  file: string,
  schema: S,
  bounds: DocumentBounds = OPERATOR_BOUNDS,
): ReadDocument<z.output<S>> {
  const placeOf = placesIn(text);
  const composed = composeWithin(text, bounds);
  if (!composed.ok) {
    const problems = composed.faults.map(({ offset, message }) => ({
      file,
      ...placeOf(offset),
      pointer: "",
      message,
    }));
    return { ok: false, problems };
  }
  const { doc } = composed;
  const wrongKeys = keyErrors(doc);
  if (wrongKeys.length > 0) {
    return {
      ok: false,
      problems: wrongKeys.map(({ offset, ...told }) => ({ file, ...placeOf(offset), ...told })),
    };
  }
  const nodes = nodesOf(doc);
  /** The value if there is one, else its nearest parent. */
  const at = (path: readonly PropertyKey[]): Place => {
    const node = nodes.nearest(path);
    return isNode(node) && node.range ? placeOf(node.range[0]) : { line: 1, column: 1 };
  };
  const atKey = (path: readonly PropertyKey[]): Place => {
    const node = nodes.key(path.slice(0, -1), String(path.at(-1)));
    return isNode(node) && node.range ? placeOf(node.range[0]) : at(path);
  };
  let value: unknown;
  try {
    // What aliases add up to has been counted.
    value = doc.toJS({ maxAliasCount: -1 }) ?? {};
  } catch (error) {
    const message = `cannot be read: ${error instanceof Error ? error.message : error}`;
    return { ok: false, problems: [{ file, line: 1, column: 1, pointer: "", message }] };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data, at, atKey };
  const problems = issueMessages(parsed.error, value, schema).map(({ path, key, message }): Problem => {
    const whole = key === undefined ? path : [...path, key];
    const place = key === undefined ? at(path) : atKey(whole);
    return { file, ...place, pointer: pointerTo(whole), message };
  });
  return { ok: false, problems };
}

/** Converts offsets to lines and columns. The parser's own counter misses lines of badly broken texts. */
function placesIn(text: string): (offset: number) => Place {
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
        if (errors.length >= MAX_KEY_ERRORS) return visit.BREAK;
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

/** `config/models/openai.yaml:12:5 /models/3/context: expected number` */
export const problemText = (p: Problem): string =>
  `${p.file}:${p.line}:${p.column} ${p.pointer === "" ? "" : `${p.pointer}: `}${p.message}`;

/** RFC 6901. */
export const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((p) => `/${String(p).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** One mistake may cause a thousand errors. */
const MAX_KEY_ERRORS = 20;

/** Finds nodes by their paths. A mapping's keys are put in order once: a hundred problems may be in one of thousands of keys. */
function nodesOf(doc: Document) {
  const indexes = new Map<YAMLMap, Map<string, Pair>>();
  const pairOf = (map: YAMLMap, key: string): Pair | undefined => {
    let index = indexes.get(map);
    if (index === undefined) {
      // A key need not be text: 1, true.
      index = new Map(map.items.map((pair) => [String(pair.key), pair]));
      indexes.set(map, index);
    }
    return index.get(key);
  };
  const inside = (node: unknown, key: PropertyKey): unknown => {
    if (isSeq(node)) return node.items[Number(key)];
    return isMap(node) ? pairOf(node, String(key))?.value : undefined;
  };
  return {
    /** The node at the end of the path, or the last one on the way. */
    nearest(path: readonly PropertyKey[]): unknown {
      let node: unknown = doc.contents;
      for (const key of path) {
        const next = inside(node, key);
        if (!isNode(next)) break;
        node = next;
      }
      return node;
    },
    /** The node of a key of the mapping at `path`. */
    key(path: readonly PropertyKey[], key: string): unknown {
      const map = path.reduce(inside, doc.contents as unknown);
      return isMap(map) ? pairOf(map, key)?.key : undefined;
    },
  };
}
