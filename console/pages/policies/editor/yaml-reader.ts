/**
 * Reads YAML up to a cursor, as far as an editor needs: which mappings and sequences are open there. It takes any text, whole or not, and
 * knows block and flow collections, quoted and block scalars, and comments; not complex keys. Pure.
 */

/** An item of a sequence, in paths. */
export const ITEM = "[]";

export type Path = readonly string[];

/** A collection by indentation. */
interface Block {
  readonly kind: "map" | "seq";
  readonly indent: number;
  readonly path: Path;
  /** What a mapping has so far. */
  readonly keys: string[];
  /** Whether its last key, or its last item, has something on its own line. */
  hasValue: boolean;
}

/** A collection in braces or brackets. */
interface Flow {
  readonly kind: "map" | "seq";
  readonly path: Path;
  readonly keys: string[];
  /** A mapping's key whose value comes; undefined where a key comes. */
  key: string | undefined;
}

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s"'#{}[\],&*!|>%@`].*?))\s*:(?=\s|$)/;
const SEQ_ITEM = /^-(?:[ \t]+|$)/;
const BLOCK_SCALAR = /^[|>][-+\d]*\s*(?:#.*)?$/;
/** Anchors and tags stand before a value. */
const PROPERTIES = /^(?:[&!]\S*[ \t]+)+/;

export class YamlReader {
  readonly blocks: Block[] = [];
  readonly flows: Flow[] = [];
  /** The quotation mark of a text that is open. */
  quote = "";
  /** Where the word begins that a flow collection or an open text has not ended, from the beginning of the last line. */
  wordAt = 0;
  isComment = false;
  /** Lines deeper than this are a text; undefined: no block scalar is open. */
  #scalarIndent: number | undefined;

  /** A whole line, without its end. */
  line(text: string): void {
    this.wordAt = 0;
    this.isComment = false;
    if (this.quote !== "" || this.flows.length > 0) {
      this.scan(text, 0);
      return;
    }
    const indent = indentOf(text);
    if (this.isText(text, indent) || /^\s*(?:#|$|---|\.\.\.)/.test(text)) return;
    const { at } = this.enter(text, indent);
    const key = keyOf(text.slice(at));
    if (key !== undefined) {
      this.key(key.name, at);
      this.value(text, at + key.length);
    } else if (at < text.length) {
      this.value(text, at);
    }
  }

  /**
   * Whether a line belongs to a block scalar, which ends at the first that is not deeper than its key.
   * @param isLast the cursor is in it: what is written there decides by its depth
   */
  isText(text: string, indent: number, isLast = false): boolean {
    if (this.#scalarIndent === undefined) return false;
    if (indent > this.#scalarIndent || (!isLast && text.trim() === "")) return true;
    this.#scalarIndent = undefined;
    return false;
  }

  /** Closes what is deeper than a column, and opens the items that a line begins. @returns where the rest of it begins */
  enter(text: string, indent: number): { readonly at: number; readonly isItem: boolean } {
    let at = indent;
    this.closeTo(at);
    const isItem = SEQ_ITEM.test(text.slice(at));
    if (!isItem) this.#leaveSequenceAt(at);
    for (let dash = SEQ_ITEM.exec(text.slice(at)); dash !== null; dash = SEQ_ITEM.exec(text.slice(at))) {
      const top = this.blocks.at(-1);
      if (top?.kind !== "seq" || top.indent !== at)
        this.blocks.push({ kind: "seq", indent: at, path: this.childPath(), keys: [], hasValue: false });
      at += dash[0].length;
      const seq = this.blocks.at(-1);
      if (seq !== undefined) seq.hasValue = at < text.length;
    }
    return { at, isItem };
  }

  closeTo(column: number): void {
    while ((this.blocks.at(-1)?.indent ?? -1) > column) this.blocks.pop();
  }

  /** A key at the column of a sequence is its parent's, which has that column too. */
  #leaveSequenceAt(column: number): void {
    const [below, top] = this.blocks.slice(-2);
    if (top?.kind === "seq" && top.indent === column && below?.indent === column) this.blocks.pop();
  }

  /** The path of what the innermost collection holds next. */
  childPath(): Path {
    const top = this.blocks.at(-1);
    if (top === undefined) return [];
    return [...top.path, top.kind === "seq" ? ITEM : (top.keys.at(-1) ?? "")];
  }

  /** A key of a mapping at a column, which it opens where there is none. */
  key(name: string, column: number): void {
    const top = this.blocks.at(-1);
    if (top?.kind !== "map" || top.indent !== column)
      this.blocks.push({ kind: "map", indent: column, path: this.childPath(), keys: [], hasValue: false });
    const map = this.blocks.at(-1);
    if (map === undefined) return;
    map.keys.push(name);
    map.hasValue = false;
  }

  /** What follows a key or a dash, from a column of the line. @returns where it begins */
  value(text: string, from: number): number {
    let at = from + (text.slice(from).length - text.slice(from).trimStart().length);
    at += PROPERTIES.exec(text.slice(at))?.[0].length ?? 0;
    const rest = text.slice(at);
    const top = this.blocks.at(-1);
    if (top !== undefined) top.hasValue = rest !== "" && !rest.startsWith("#");
    this.wordAt = at;
    if (BLOCK_SCALAR.test(rest)) this.#scalarIndent = top?.indent ?? -1;
    else this.scan(text, at);
    return at;
  }

  /** Reads flow collections, texts and comments from a column of a line to its end. */
  scan(text: string, from: number): void {
    for (let at = from; at < text.length; at++) {
      const sign = text.charAt(at);
      if (this.quote !== "") at = this.#inQuote(text, at);
      else if (sign === "#" && (at === 0 || /\s/.test(text.charAt(at - 1)))) {
        this.isComment = true;
        return;
      } else if (this.#isQuote(text, at)) this.quote = sign;
      else if (this.flows.length > 0 || ((sign === "{" || sign === "[") && at === from))
        this.#inFlow(text, at);
    }
  }

  /** A quotation mark opens a text where a word begins. */
  #isQuote(text: string, at: number): boolean {
    return /["']/.test(text.charAt(at)) && text.slice(this.wordAt, at).trim() === "";
  }

  /** @returns the column of the last sign that was read */
  #inQuote(text: string, at: number): number {
    const sign = text.charAt(at);
    if (this.quote === '"' && sign === "\\") return at + 1;
    if (sign !== this.quote) return at;
    if (sign === "'" && text.charAt(at + 1) === "'") return at + 1;
    this.quote = "";
    return at;
  }

  #inFlow(text: string, at: number): void {
    const top = this.flows.at(-1);
    const sign = text.charAt(at);
    if (sign === "{" || sign === "[") {
      const kind = sign === "{" ? "map" : "seq";
      this.flows.push({ kind, path: this.flowPath(), keys: [], key: undefined });
      this.wordAt = at + 1;
    } else if (sign === "}" || sign === "]") {
      this.flows.pop();
      this.wordAt = at + 1;
    } else if (sign === "," && top !== undefined) {
      top.key = undefined;
      this.wordAt = at + 1;
    } else if (sign === ":" && top?.kind === "map" && top.key === undefined && isColon(text, at)) {
      top.key = unquoted(text.slice(this.wordAt, at).trim());
      top.keys.push(top.key);
      this.wordAt = at + 1;
    }
  }

  /** The path of what the innermost flow collection, or else the block around it, holds next. */
  flowPath(): Path {
    const top = this.flows.at(-1);
    if (top === undefined) return this.childPath();
    return [...top.path, top.kind === "seq" ? ITEM : (top.key ?? "")];
  }
}

const isColon = (text: string, at: number): boolean =>
  at + 1 >= text.length || /[\s,[\]{}]/.test(text.charAt(at + 1)) || /["']\s*$/.test(text.slice(0, at));

export const indentOf = (line: string): number => line.length - line.replace(/^ +/, "").length;

/** The key that a text begins with, and how long it is with its colon. */
export function keyOf(text: string): { readonly name: string; readonly length: number } | undefined {
  const found = KEY.exec(text);
  if (found === null) return undefined;
  const [whole, double, single, plain] = found;
  return { name: double ?? single ?? plain ?? "", length: whole.length };
}

const unquoted = (word: string): string => word.replace(/^(["'])(.*)\1$/, "$2");
