/**
 * V8's machine code of JavaScript, as its log says (`--log-code --log-source-position`): which function is at an address, and from which
 * function each instruction comes where several were inlined into one another.
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

export interface ScriptFunction {
  /** Empty where it has none. */
  readonly name: string;
  /** Address of the script, such as `file:///…` or `node:buffer`. */
  readonly url: string;
  /** At which it begins, from 1. */
  readonly line: number;
}

export interface Code {
  readonly start: number;
  readonly end: number;
  /** The function that was compiled; undefined for code of V8 itself: regular expressions, stubs. */
  readonly fn: ScriptFunction | undefined;
  readonly name: string;
}

interface SourceInfo {
  readonly positions: string;
  readonly inlining: string;
  readonly functions: readonly (ScriptFunction | undefined)[];
}

interface Parsed {
  /** At which a position begins, ascending. */
  readonly offsets: readonly number[];
  /** As which number of `inlining` the function of each position came here. Nothing where it is the code's own. */
  readonly inlined: readonly (number | undefined)[];
  readonly inlining: readonly {
    readonly fn: ScriptFunction | undefined;
    readonly into: number | undefined;
  }[];
}

const NAME = /^(.*?) ?([^ ]*):(\d+):\d+$/s;

export class CodeLog {
  #codes: Code[] = [];
  readonly #infos = new Map<Code, SourceInfo>();
  readonly #parsed = new Map<Code, Parsed | undefined>();
  /** By the addresses of what V8 knows of them. */
  readonly #functions = new Map<string, ScriptFunction>();
  #last: Code | undefined;

  /** @throws Error where the file cannot be read */
  static async read(file: string): Promise<CodeLog> {
    const log = new CodeLog();
    for await (const line of createInterface({ input: createReadStream(file, "latin1") })) log.#take(line);
    log.#codes = newest(log.#codes);
    return log;
  }

  /** The code at an address. An address is of one code at a time: the last one counts. */
  at(address: number): Code | undefined {
    const code = this.#codes[lastAtMost(this.#codes, (known) => known.start, address)];
    return code !== undefined && address < code.end ? code : undefined;
  }

  /** The functions from which an instruction comes: the innermost first, the one into which all were inlined last. */
  functions(code: Code, address: number): ScriptFunction[] {
    if (code.fn === undefined) return [];
    const parsed = this.#parsedOf(code);
    if (parsed === undefined) return [code.fn];
    const at = lastAtMost(parsed.offsets, (offset) => offset, address - code.start);
    const found: ScriptFunction[] = [];
    for (let inlined = parsed.inlined[at]; inlined !== undefined; ) {
      const inlining: Parsed["inlining"][number] | undefined = parsed.inlining[inlined];
      if (inlining?.fn !== undefined) found.push(inlining.fn);
      inlined = inlining?.into;
    }
    return [...found, code.fn];
  }

  #take(line: string): void {
    const kind = line.slice(0, line.indexOf(","));
    if (kind === "code-creation") this.#create(line.split(","));
    else if (kind === "code-source-info") this.#describe(line.split(","));
    else if (kind === "code-move") this.#move(line.split(","));
    else if (kind === "sfi-move") {
      const [, from = "", to = ""] = line.split(",");
      const fn = this.#functions.get(from);
      if (fn !== undefined) this.#functions.set(to, fn);
    }
  }

  #create([, type, , , address, size, escaped = "", shared]: readonly string[]): void {
    const name = plain(escaped);
    const start = Number(address);
    const found = type === "Builtin" || shared === undefined ? null : NAME.exec(name);
    let fn: ScriptFunction | undefined;
    if (found !== null && shared !== undefined) {
      const [, functionName = "", url = "", line] = found;
      fn = { name: functionName, url, line: Number(line) };
      this.#functions.set(shared, fn);
    }
    this.#last = { start, end: start + Number(size), fn, name };
    this.#codes.push(this.#last);
  }

  #describe([, address, , , , positions = "", inlining = "", functions = ""]: readonly string[]): void {
    const code = this.#last;
    if (code === undefined || code.start !== Number(address)) return;
    const shared = functions === "" ? [] : functions.slice(1).split("S");
    this.#infos.set(code, {
      positions,
      inlining,
      functions: shared.map((known) => this.#functions.get(known)),
    });
  }

  #move([, from, to]: readonly string[]): void {
    const start = Number(from);
    const code = this.#codes.findLast((known) => known.start === start);
    if (code === undefined) return;
    const moved = { ...code, start: Number(to), end: Number(to) + code.end - code.start };
    this.#codes.push(moved);
    const info = this.#infos.get(code);
    if (info !== undefined) this.#infos.set(moved, info);
  }

  #parsedOf(code: Code): Parsed | undefined {
    if (!this.#parsed.has(code)) {
      const info = this.#infos.get(code);
      this.#parsed.set(code, info && parse(info));
    }
    return this.#parsed.get(code);
  }
}

/** V8 writes `C12O340I0`: the instructions from offset 12 on were made of source position 340 in the function that was inlined as number 0. */
function parse({ positions, inlining, functions }: SourceInfo): Parsed {
  const found = [...positions.matchAll(/C(\d+)O-?\d+(?:I(\d+))?/g)];
  return {
    offsets: found.map(([, offset]) => Number(offset)),
    inlined: found.map(([, , inlined]) => numberOf(inlined)),
    // V8 writes `F3O120I1`: function 3 was inlined at source position 120 of the function that was inlined as number 1.
    inlining: [...inlining.matchAll(/F(\d+)?O-?\d+(?:I(\d+))?/g)].map(([, fn, into]) => ({
      fn: fn === undefined ? undefined : functions[Number(fn)],
      into: numberOf(into),
    })),
  };
}

const numberOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

const ESCAPED = /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|([n\\]))/g;

const plain = (text: string): string =>
  text.replace(ESCAPED, (_, byte, unit, other) =>
    other === undefined
      ? String.fromCharCode(Number.parseInt(byte ?? unit, 16))
      : other === "n"
        ? "\n"
        : other,
  );

/** @returns the last index whose value is at most `wanted`, or -1 */
function lastAtMost<T>(sorted: readonly T[], keyOf: (item: T) => number, wanted: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyOf(sorted[middle] as T) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** In the order of addresses, without those whose place another took later. */
function newest(codes: readonly Code[]): Code[] {
  const kept: Code[] = [];
  for (const code of codes.toReversed()) {
    const at = lastAtMost(kept, (known) => known.start, code.start);
    const before = kept[at];
    const after = kept[at + 1];
    if ((before !== undefined && before.end > code.start) || (after !== undefined && after.start < code.end))
      continue;
    kept.splice(at + 1, 0, code);
  }
  return kept;
}
