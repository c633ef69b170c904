/** Patterns of Lua as regular expressions. `%b`, `%f` and back-references are not known. */
import { LuaError, type LuaValue, Many } from "./values.ts";

const CLASSES: Readonly<Record<string, string>> = {
  d: "0-9",
  a: "A-Za-z",
  x: "0-9a-fA-F",
  l: "a-z",
  u: "A-Z",
  w: "0-9A-Za-z",
  s: " \\t-\\r",
  p: "!-\\/:-@\\[-`{-~",
  c: "\\x00-\\x1f\\x7f",
};

const escaped = (char: string): string =>
  /[\w]/.test(char) ? char : `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;

const known = new Map<string, RegExp>();

/** Matches at `lastIndex` where the pattern begins with `^`, else from there on. */
export function expressionOf(pattern: string): RegExp {
  let found = known.get(pattern);
  if (found === undefined) {
    found = new Translation(pattern).expression();
    known.set(pattern, found);
  }
  return found;
}

class Translation {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  expression(): RegExp {
    const isAnchored = this.#pattern.startsWith("^");
    if (isAnchored) this.#at = 1;
    let source = "";
    while (this.#at < this.#pattern.length) source += this.#item();
    return new RegExp(source, isAnchored ? "y" : "g");
  }

  #item(): string {
    const char = this.#pattern[this.#at] as string;
    if (char === "(" || char === ")") {
      this.#at++;
      return char;
    }
    if (char === "$" && this.#at === this.#pattern.length - 1) {
      this.#at++;
      return "$";
    }
    const single = char === "[" ? this.#set() : this.#single();
    const repeated = { "*": "*", "+": "+", "?": "?", "-": "*?" }[this.#pattern[this.#at] ?? ""];
    if (repeated === undefined) return single;
    this.#at++;
    return single + repeated;
  }

  #single(): string {
    const char = this.#pattern[this.#at++] as string;
    if (char === ".") return "[^]";
    return char === "%" ? `[${this.#classOf()}]` : escaped(char);
  }

  #classOf(): string {
    const char = this.#pattern[this.#at++] as string;
    const found = CLASSES[char];
    if (found !== undefined) return found;
    if (/\w/.test(char)) throw new LuaError(`%${char} in a pattern is not known`);
    return escaped(char);
  }

  #set(): string {
    this.#at++;
    let source = "[";
    if (this.#pattern[this.#at] === "^") {
      source += "^";
      this.#at++;
    }
    for (let first = true; first || this.#pattern[this.#at] !== "]"; first = false) {
      const char = this.#pattern[this.#at++];
      if (char === undefined) throw new LuaError("a set in a pattern has no end");
      const isRange = char === "-" && !first && this.#pattern[this.#at] !== "]";
      source += char === "%" ? this.#classOf() : isRange ? "-" : escaped(char);
    }
    this.#at++;
    return `${source}]`;
  }
}

/** What was captured; the whole match where the pattern captures nothing. */
export function capturesOf(found: RegExpExecArray): LuaValue[] {
  return found.length === 1 ? [found[0]] : found.slice(1);
}

export function match(text: string, pattern: string): LuaValue | Many {
  const expression = expressionOf(pattern);
  expression.lastIndex = 0;
  const found = expression.exec(text);
  if (found === null) return undefined;
  return found.length === 2 ? found[1] : new Many(capturesOf(found));
}

/** All matches, each with what was captured. */
export function* matches(text: string, pattern: string): Generator<LuaValue[]> {
  const expression = new RegExp(expressionOf(pattern).source, "g");
  for (const found of text.matchAll(expression)) yield capturesOf(found);
}
