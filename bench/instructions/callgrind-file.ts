/** Callgrind's own file, written with `--dump-instr=yes`: instructions at each address, and who called whom from where. */
import { readFileSync } from "node:fs";

/** A function as callgrind names it: by its symbol, by an address where it has none, with its callers where they are kept apart. */
export type FunctionName = string;

export interface Cost {
  readonly address: number;
  readonly fn: FunctionName;
  readonly instructions: number;
}

export interface Call {
  /** That of the instruction that calls. */
  readonly address: number;
  readonly fn: FunctionName;
  readonly called: FunctionName;
  readonly calledAddress: number;
  readonly count: number;
  /** Instructions of the called function, and of all that it called. */
  readonly inclusive: number;
}

export interface CallgrindFile {
  readonly total: number;
  readonly costs: readonly Cost[];
  readonly calls: readonly Call[];
  /** Library or program of each function that is in one. */
  readonly objectOf: ReadonlyMap<FunctionName, string>;
}

const NAME = /^(c?)(fn|ob|fl|fi|fe)=\((\d+)\)(?: (.*))?$/;

class Reader {
  readonly costs: Cost[] = [];
  readonly calls: Call[] = [];
  readonly objectOf = new Map<FunctionName, string>();
  total = 0;
  readonly #names = { fn: new Map<string, string>(), ob: new Map<string, string>() };
  #object = "";
  #fn = "";
  #calledObject: string | undefined;
  #called = "";
  #call: { readonly count: number; readonly calledAddress: number } | undefined;
  #address = 0;

  read(line: string): void {
    const first = line.charCodeAt(0);
    // 0-9, +, - and * begin a line of figures.
    if ((first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2a)
      this.#figures(line);
    else if (line.startsWith("calls=")) this.#calls(line);
    else if (line.startsWith("totals: ")) this.total = Number(line.slice(8));
    else this.#name(line);
  }

  #name(line: string): void {
    const found = NAME.exec(line);
    if (found === null) return;
    const [, called, kind, id = "", given] = found;
    if (kind !== "fn" && kind !== "ob") return;
    const names = this.#names[kind];
    if (given !== undefined) names.set(id, given);
    const name = names.get(id) ?? "";
    if (kind === "ob") {
      if (called === "c") this.#calledObject = name;
      else this.#object = name;
    } else if (called === "c") {
      this.#called = name;
      this.objectOf.set(name, this.#calledObject ?? this.#object);
    } else {
      this.#fn = name;
      this.objectOf.set(name, this.#object);
    }
  }

  #calls(line: string): void {
    const [count, address = ""] = line.slice(6).split(" ");
    this.#call = { count: Number(count), calledAddress: this.#relative(address) };
  }

  #relative(text: string): number {
    if (text === "*") return this.#address;
    if (text.startsWith("+")) return this.#address + Number(text.slice(1));
    if (text.startsWith("-")) return this.#address - Number(text.slice(1));
    return Number(text);
  }

  #figures(line: string): void {
    const end = line.indexOf(" ");
    this.#address = this.#relative(line.slice(0, end));
    const value = Number(line.slice(line.lastIndexOf(" ") + 1));
    const place = { address: this.#address, fn: this.#fn };
    if (this.#call === undefined) this.costs.push({ ...place, instructions: value });
    else {
      this.calls.push({ ...place, called: this.#called, ...this.#call, inclusive: value });
      this.#call = undefined;
      this.#calledObject = undefined;
    }
  }
}

/** @throws Error where the file cannot be read */
export function readCallgrind(file: string): CallgrindFile {
  const reader = new Reader();
  for (const line of readFileSync(file, "latin1").split("\n")) reader.read(line);
  const { total, costs, calls, objectOf } = reader;
  return { total, costs, calls, objectOf };
}
