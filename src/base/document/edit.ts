/**
 * Changes values of a YAML text in place. Only the bytes of what is changed are replaced: comments, order, blank lines
 * and the style of everything else stay as somebody wrote them.
 */
import { type Document, isMap, isNode, isScalar, isSeq, type Node, type YAMLMap } from "yaml";
import { composeWithin, OPERATOR_BOUNDS } from "./compose.ts";

export interface Edit {
  readonly path: readonly (string | number)[];
  /** YAML in flow style, on one line. */
  readonly text: string;
}

export interface Addition {
  /** Path of a block sequence that has an item. */
  readonly path: readonly (string | number)[];
  /** Lines of the new last item, without indentation; the first begins with `- `. */
  readonly lines: readonly string[];
  /** A blank line before the item. */
  readonly isApart: boolean;
}

/** The text is no YAML within the bounds, or written in a way that cannot be edited in place, such as with an alias at that path. */
export class EditError extends Error {}

/** @param text of a file of the operator's. @throws EditError */
export function editDocument(text: string, edits: readonly Edit[], additions: readonly Addition[]): string {
  const composed = composeWithin(text, OPERATOR_BOUNDS);
  if (!composed.ok) throw new EditError(`it ${composed.faults[0]?.message ?? "is no YAML"}`);
  const { doc } = composed;
  const splices = [
    ...edits.map((edit) => spliceOf(doc, text, edit)),
    ...additions.map((addition) => additionOf(doc, text, addition)),
  ];
  // From the end, so that offsets stay right; what comes first at one place is inserted last.
  const ordered = splices
    .map((splice, at) => ({ ...splice, at }))
    .sort((a, b) => b.from - a.from || b.at - a.at);
  return ordered.reduce((done, { from, to, put }) => done.slice(0, from) + put + done.slice(to), text);
}

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly put: string;
}

function spliceOf(doc: Document, text: string, { path, text: put }: Edit): Splice {
  const node = doc.getIn(path, true);
  if (isNode(node) && node.range) {
    const [from, to] = node.range;
    return { from, to: from + text.slice(from, to).trimEnd().length, put };
  }
  const map = doc.getIn(path.slice(0, -1), true);
  if (!isMap(map) || map.items.length === 0)
    throw new EditError(`nothing can be added at /${path.join("/")}`);
  return map.flow === true
    ? flowKey(map, `${path.at(-1)}: ${put}`)
    : blockKey(map, text, `${path.at(-1)}: ${put}`);
}

/** Behind the last pair of `{ a: 1 }`. */
function flowKey(map: YAMLMap, pair: string): Splice {
  const end = Math.max(...leaves(map).map((node) => node.range?.[1] ?? 0));
  return { from: end, to: end, put: `, ${pair}` };
}

/** Before the last key: the first may stand behind a dash. */
function blockKey(map: YAMLMap, text: string, pair: string): Splice {
  const key = map.items.at(-1)?.key;
  const at = isScalar(key) ? key.range?.[0] : undefined;
  if (at === undefined) throw new EditError(`nothing can be added beside ${pair}`);
  const column = at - (text.lastIndexOf("\n", at - 1) + 1);
  return { from: at, to: at, put: `${pair}\n${" ".repeat(column)}` };
}

function additionOf(doc: Document, text: string, { path, lines, isApart }: Addition): Splice {
  const list = doc.getIn(path, true);
  const first = isSeq(list) && list.flow !== true ? list.items[0] : undefined;
  if (!isSeq(list) || !isNode(first) || !first.range) {
    throw new EditError(`/${path.join("/")} is no list with a line for each item`);
  }
  const itemAt = first.range[0];
  const dashAt = text.lastIndexOf("-", itemAt - 1);
  const indent = " ".repeat(dashAt - (text.lastIndexOf("\n", dashAt - 1) + 1));
  const end = Math.max(...leaves(list).map((node) => node.range?.[1] ?? 0));
  const lineEnd = text.indexOf("\n", Math.max(0, end - 1));
  const at = lineEnd < 0 ? text.length : lineEnd + 1;
  const item = lines.map((line) => `${indent}${line}\n`).join("");
  return { from: at, to: at, put: `${lineEnd < 0 ? "\n" : ""}${isApart ? "\n" : ""}${item}` };
}

/** Scalars and flow collections: where these end, their text does. */
function leaves(node: unknown): Node[] {
  if (isMap(node)) {
    const inner = node.items.flatMap(({ key, value }) => [...leaves(key), ...leaves(value)]);
    return node.flow === true && inner.length === 0 ? [node] : inner;
  }
  if (isSeq(node)) {
    if (node.flow === true) return [node];
    return node.items.flatMap((item) => leaves(item));
  }
  return isNode(node) ? [node] : [];
}
