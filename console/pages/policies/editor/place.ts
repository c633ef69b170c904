/** Where a cursor stands in a policy's YAML: the path of what can be written there, and the word that is being written. Pure. */
import { indentOf, keyOf, type Path, YamlReader } from "./yaml-reader.ts";

export interface Place {
  /**
   * `key`: a key of the mapping at the path. `value`: what a key has, on the key's own line. `node`: what begins a line or follows a dash:
   * a mapping's key, a sequence's item, or a value, as the path has it.
   */
  readonly slot: "key" | "value" | "node";
  readonly path: Path;
  readonly isFlow: boolean;
  /** The word: where it begins and ends, and what of it stands before the cursor. */
  readonly from: number;
  readonly to: number;
  readonly typed: string;
  /** Keys that the mapping has already, without the word. */
  readonly keys: readonly string[];
  /** Column of the word in its line. */
  readonly column: number;
  /** A colon stands right before the word, without the space that it needs. */
  readonly needsSpace: boolean;
  /** A colon follows the word. */
  readonly hasColon: boolean;
}

interface Found extends Pick<Place, "slot" | "path" | "isFlow" | "keys"> {
  /** Column where the word begins. */
  readonly column: number;
}

/** @param cursor counts letters @returns undefined in comments and texts of several lines, and where nothing fits */
export function placeAt(text: string, cursor: number): Place | undefined {
  const lineAt = text.lastIndexOf("\n", cursor - 1) + 1;
  const before = text.slice(lineAt, cursor);
  const reader = new YamlReader();
  if (lineAt > 0)
    for (const line of text.slice(0, lineAt - 1).split("\n")) reader.line(line.replace(/\r$/, ""));
  const found = foundIn(reader, before);
  if (found === undefined) return undefined;
  const isQuoted = /["']/.test(before.charAt(found.column));
  const column = found.column + (isQuoted ? 1 : 0);
  const rest = /^[\w.*/@-]*/.exec(text.slice(cursor))?.[0].length ?? 0;
  const [from, to] = [lineAt + column, cursor + rest];
  const behind = text.slice(to);
  const isBlock = !found.isFlow && found.slot !== "value";
  const word = text.slice(from, to);
  return {
    ...found,
    column,
    from,
    to,
    typed: before.slice(column),
    keys: [...found.keys.filter((key) => key !== word), ...(isBlock ? keysBelow(behind, column) : [])],
    needsSpace: before.charAt(column - 1) === ":" && found.slot === "value",
    hasColon: /^["']?[ \t]*:/.test(behind),
  };
}

function foundIn(reader: YamlReader, before: string): Found | undefined {
  const indent = indentOf(before);
  const wasOpen = reader.quote !== "";
  if (!wasOpen && reader.flows.length === 0) {
    if (reader.isText(before, indent, true) || /^\s*#/.test(before)) return undefined;
    const { at, isItem } = reader.enter(before, indent);
    const key = keyOf(before.slice(at));
    if (key === undefined && !/^[&!]?[[{]/.test(before.slice(at))) return nodeAt(reader, at, isItem);
    if (key !== undefined) reader.key(key.name, at);
    const column = reader.value(before, at + (key?.length ?? 0));
    if (reader.isComment) return undefined;
    if (reader.flows.length === 0) {
      if (/^[|>]/.test(before.slice(column))) return undefined;
      return { slot: "value", path: reader.childPath(), isFlow: false, keys: [], column };
    }
  } else {
    reader.wordAt = 0;
    reader.scan(before, 0);
    if (wasOpen && reader.quote !== "") return undefined;
  }
  return reader.isComment ? undefined : flowAt(reader, before);
}

function flowAt(reader: YamlReader, before: string): Found | undefined {
  const top = reader.flows.at(-1);
  if (top === undefined) return undefined;
  const word = before.slice(reader.wordAt);
  const column = reader.wordAt + (word.length - word.trimStart().length);
  const isKey = top.kind === "map" && top.key === undefined;
  return {
    slot: isKey ? "key" : top.kind === "map" ? "value" : "node",
    path: isKey ? top.path : reader.flowPath(),
    isFlow: true,
    keys: isKey ? top.keys : [],
    column,
  };
}

/** A word that is no key yet, at a column of a line. */
function nodeAt(reader: YamlReader, column: number, isItem: boolean): Found | undefined {
  const top = reader.blocks.at(-1);
  const node = (path: Path): Found => ({ slot: "node", path, isFlow: false, keys: [], column });
  if (top === undefined) return { ...node([]), slot: "key" };
  if (isItem) return node(reader.childPath());
  if (top.indent === column)
    return top.kind === "map" ? { ...node(top.path), slot: "key", keys: top.keys } : node(top.path);
  return top.hasValue ? undefined : node(reader.childPath());
}

/** Keys that follow in the same mapping. */
function keysBelow(behind: string, column: number): string[] {
  const keys: string[] = [];
  for (const line of behind.split("\n").slice(1)) {
    if (line.trim() === "") continue;
    const indent = indentOf(line);
    if (indent < column) break;
    const key = indent === column ? keyOf(line.slice(column)) : undefined;
    if (key !== undefined && !line.startsWith("- ", column)) keys.push(key.name);
  }
  return keys;
}
