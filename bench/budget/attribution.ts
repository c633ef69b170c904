/**
 * For whom work was done. Callgrind knows what each function took and who called it how often; a function that several call (a built-in,
 * `malloc`) passes its work on to its callers, by what their calls took, or by their number where JavaScript ran below it: until it
 * arrives at JavaScript of a known step.
 */
import type { Call, CallgrindFile, FunctionName } from "../instructions/callgrind-file.ts";
import type { CodeLog } from "./code-log.ts";
import { ensured } from "./ensured.ts";
import { pathOf } from "./paths.ts";
import { type Step, stepOfFile, stepOfFunction } from "./steps.ts";

/** A function of the repository or of a package, or one of a binary that is a step by itself. */
export interface Place {
  readonly name: string;
  /** In the repository, with the line at which the function begins. Empty for a binary's. */
  readonly file: string;
}

/** Work of a kind, wherever it was done. */
export type Kind = "javascript" | "builtins" | "runtime" | "libraries";

interface Node {
  readonly place: Place | undefined;
  readonly step: Step | undefined;
  /** Into which it was inlined, and to which its work passes where it is of no step itself. */
  readonly owner: Node | undefined;
  /** Whether it is JavaScript, or mostly calls some. */
  runsCode: boolean;
  readonly callers: Map<Node, { count: number; inclusive: number }>;
}

/** Work that arrived at steps, or at places. */
export interface Arrived {
  readonly steps: ReadonlyMap<Step, number>;
  readonly places: ReadonlyMap<Place, number>;
}

/** By what the work of a function is shared among its callers. */
type Weight = "count" | "inclusive";

const ROUNDS = 200;
const LEFT = 1e-4;
/** Share of what a function's calls take from which on it is one that runs JavaScript. */
const RUNS_CODE = 0.1;
/** From JavaScript into V8's runtime and Node's functions. */
const IS_ENTRY = /^Builtins_(?:CEntry|CallApiCallback|HandleApiCallOrConstruct)/;
/** More callers than of any function that callgrind keeps apart by them. */
const MOST_CALLERS = 6;

export class Attribution {
  readonly #nodes = new Map<string, Node>();
  readonly #places = new Map<string, Place>();
  readonly #rest: Place = { name: "no caller in JavaScript", file: "" };
  readonly #code: CodeLog;
  readonly #repoDir: string;
  readonly #file: CallgrindFile;

  /** @param repoDir paths of places are from there */
  constructor(file: CallgrindFile, code: CodeLog, repoDir: string) {
    this.#file = file;
    this.#code = code;
    this.#repoDir = repoDir;
    for (const call of file.calls) this.#link(call);
    this.#markRunners();
  }

  /** Instructions of each kind, by the places for which they were done. */
  instructions(): ReadonlyMap<Kind, Arrived> {
    const own = new Map<Kind, Map<Node, number>>();
    for (const { address, fn, instructions } of this.#file.costs) {
      const kind = this.#kindOf(fn);
      increase(ensured(own, kind, newSums), this.#nodeAt(fn, address), instructions);
    }
    return new Map([...own].map(([kind, nodes]) => [kind, this.#pushed(nodes, "inclusive")]));
  }

  /** Calls of the functions that `isMeant` names, by what `nameOf` makes of their names. */
  calls(
    isMeant: (called: FunctionName, caller: FunctionName) => boolean,
    nameOf: (called: FunctionName) => string = withoutCallers,
  ): ReadonlyMap<string, Arrived> {
    const own = new Map<string, Map<Node, number>>();
    for (const { called, fn, address, count } of this.#file.calls) {
      if (!isMeant(called, fn)) continue;
      const node = this.#entryOf(called) ?? this.#nodeAt(fn, address);
      increase(ensured(own, nameOf(called), newSums), node, count);
    }
    return new Map([...own].map(([name, nodes]) => [name, this.#pushed(nodes, "count")]));
  }

  /** Where JavaScript was left, by the callers that the name of a function has. */
  #entryOf(fn: FunctionName): Node | undefined {
    const [, ...callers] = fn.split("'");
    const at = callers.findIndex((caller) => isAddress(caller) || IS_ENTRY.test(caller));
    const entry = callers[at];
    if (entry === undefined) return undefined;
    if (isAddress(entry)) return this.#codeAt(Number(entry));
    for (let end = Math.min(callers.length, at + MOST_CALLERS); end > at; end--) {
      const node = this.#nodes.get(callers.slice(at, end).join("'"));
      if (node !== undefined) return node;
    }
    // Its callers are kept apart by fewer than are known here: the function from which it was entered is, then.
    const code = callers.slice(at).find(isAddress);
    return code === undefined ? undefined : this.#codeAt(Number(code));
  }

  #kindOf(fn: FunctionName): Kind {
    if (isAddress(fn)) return "javascript";
    if (fn.startsWith("Builtins_")) return "builtins";
    return /\/node$/.test(this.#file.objectOf.get(fn) ?? "") ? "runtime" : "libraries";
  }

  #link({ address, fn, called, calledAddress, count, inclusive }: Call): void {
    const caller = this.#nodeAt(fn, address);
    const node = this.#nodeAt(called, this.#code.at(calledAddress)?.start ?? calledAddress);
    if (caller === node) return;
    const known = node.callers.get(caller);
    if (known === undefined) node.callers.set(caller, { count, inclusive });
    else {
      known.count += count;
      known.inclusive += inclusive;
    }
  }

  #nodeAt(fn: FunctionName, address: number): Node {
    if (isAddress(fn)) return this.#codeAt(address);
    return this.#node(fn, () => {
      const step = stepOfFunction(withoutCallers(fn));
      const place = step === undefined ? undefined : this.#placeOf(withoutCallers(fn), "");
      return { step, place, owner: undefined, runsCode: false };
    });
  }

  /** The function at an address; where others were inlined, the innermost one that is the repository's or of a step. */
  #codeAt(address: number): Node {
    const code = this.#code.at(address);
    if (code === undefined) return this.#node("code without a name", () => NOTHING_KNOWN);
    const functions = this.#code.functions(code, address);
    const files = functions.map(({ url }) => pathOf(url, this.#repoDir));
    // Code that was made from text at run time has no file.
    const own = files.findIndex((file) => file !== "" && !file.startsWith("node:"));
    const fn = functions[own];
    const place = fn && this.#placeOf(fn.name, `${files[own]}:${fn.line}`);
    const step = files.map(stepOfFile).find((found) => found !== undefined);
    const isInlined = step === undefined && functions.length > 1;
    const key = `${code.name} ${code.start} < ${place?.name} ${place?.file} < ${isInlined ? "inlined" : step}`;
    return this.#node(key, () => ({
      place,
      step,
      owner: isInlined ? this.#codeAt(code.start) : undefined,
      runsCode: true,
    }));
  }

  #node(key: string, make: () => Omit<Node, "callers">): Node {
    return ensured(this.#nodes, key, () => ({ ...make(), callers: new Map() }));
  }

  #placeOf(name: string, file: string): Place {
    return ensured(this.#places, `${name} ${file}`, () => ({ name, file }));
  }

  /** Such that rare ways into JavaScript, as by an interrupt, make no function one that runs it. */
  #markRunners(): void {
    let hasChanged = true;
    while (hasChanged) {
      const ofCode = new Map<Node, number>();
      const all = new Map<Node, number>();
      for (const node of this.#nodes.values())
        for (const [caller, { inclusive }] of node.callers) {
          increase(all, caller, inclusive);
          if (node.runsCode) increase(ofCode, caller, inclusive);
        }
      hasChanged = false;
      for (const [caller, inclusive] of ofCode) {
        if (caller.runsCode || inclusive < RUNS_CODE * (all.get(caller) ?? 0)) continue;
        caller.runsCode = true;
        hasChanged = true;
      }
    }
  }

  #pushed(own: ReadonlyMap<Node, number>, by: Weight): Arrived {
    return {
      steps: pushed(own, by, (node) => node.step, "other threads, the rest"),
      places: pushed(own, by, (node) => node.place, this.#rest),
    };
  }
}

const NOTHING_KNOWN = { place: undefined, step: undefined, owner: undefined, runsCode: true };

/** Work that passes from each function to its callers, until it is where it belongs. */
function pushed<T>(
  own: ReadonlyMap<Node, number>,
  by: Weight,
  goalOf: (node: Node) => T | undefined,
  rest: T,
): Map<T, number> {
  const arrived = new Map<T, number>();
  const all = sum(own.values());
  let waiting: ReadonlyMap<Node, number> = own;
  for (let round = 0; round < ROUNDS && sum(waiting.values()) > all * LEFT; round++) {
    const next = new Map<Node, number>();
    for (const [node, amount] of waiting) {
      const goal = goalOf(node);
      if (goal !== undefined) increase(arrived, goal, amount);
      else if (node.owner !== undefined) increase(next, node.owner, amount);
      else if (!share(node, amount, by, next)) increase(arrived, rest, amount);
    }
    waiting = next;
  }
  // Functions that call each other pass this on among themselves for good.
  for (const amount of waiting.values()) increase(arrived, rest, amount);
  return arrived;
}

/** @returns whether any of its callers is known to have had work done */
function share(node: Node, amount: number, by: Weight, into: Map<Node, number>): boolean {
  const edges = [...node.callers];
  const wanted: Weight = node.runsCode ? "count" : by;
  // Calls that began before the counting have no number, and such as had not ended behind it took nothing.
  const weight = ([wanted, "inclusive", "count"] as const).find((one) =>
    edges.some(([, edge]) => edge[one] > 0),
  );
  if (weight === undefined) return false;
  const whole = sum(edges.map(([, edge]) => edge[weight]));
  for (const [caller, edge] of edges) increase(into, caller, (amount * edge[weight]) / whole);
  return true;
}

/** The function that JavaScript entered, and that called this one in the end. The function itself where that is not known. */
export function enteredBefore(fn: FunctionName): FunctionName {
  const chain = fn.split("'");
  const at = chain.findIndex((caller) => isAddress(caller) || IS_ENTRY.test(caller));
  return chain[Math.max(0, at - 1)] ?? fn;
}

/** The name of a function that callgrind keeps apart by its callers. */
export const withoutCallers = (fn: FunctionName): string => fn.replace(/'.*$/s, "");

const isAddress = (fn: FunctionName): boolean => fn.startsWith("0x");

const newSums = (): Map<Node, number> => new Map();

const increase = <K>(sums: Map<K, number>, key: K, amount: number): void =>
  void sums.set(key, (sums.get(key) ?? 0) + amount);

const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};
