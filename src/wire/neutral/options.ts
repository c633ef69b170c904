/**
 * Keeps account of a request's options while they are written in a dialect: options that were not taken are dropped and
 * named.
 */
import type { NeutralOptions, NeutralRequest } from "./neutral.ts";

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves out undefined members. */
export function defined<T extends object>(members: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name];
  return kept as Defined<T>;
}

/** For {@link OptionTaker.takeTier}: a dialect's words, which mean what the contract's do. */
export const sameWords = (...words: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(words.map((word) => [word, word]));

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Sets an option that the request has. */
export function set<K extends keyof NeutralOptions>(
  options: Writable<NeutralOptions>,
  name: K,
  value: Writable<NeutralOptions>[K] | undefined,
): void {
  if (value !== undefined) options[name] = value;
}

type ValueOf<K extends keyof NeutralOptions> = NonNullable<NeutralOptions[K]>["value"];

export class OptionTaker {
  readonly #options: NeutralOptions;
  readonly #left: Set<string>;
  readonly #dropped: string[];

  constructor(request: NeutralRequest) {
    this.#options = request.options;
    this.#left = new Set(Object.keys(request.options));
    this.#dropped = [...request.dropped];
  }

  /** The option's value, which then counts as carried; undefined if the request does not set it. */
  take<K extends keyof NeutralOptions>(name: K): ValueOf<K> | undefined {
    this.#left.delete(name);
    return this.#options[name]?.value as ValueOf<K> | undefined;
  }

  /** Marks an option that was taken, but cannot be carried, or only in part. */
  putBack(name: keyof NeutralOptions): void {
    this.#left.add(name);
  }

  /**
   * The service tier in a dialect's words; one that it has none for is not carried. A word that is undefined says nothing.
   */
  takeTier<Word extends string>(words: Readonly<Record<string, Word | undefined>>): Word | undefined {
    const tier = this.take("serviceTier");
    if (tier === undefined) return undefined;
    if (Object.hasOwn(words, tier)) return words[tier];
    this.putBack("serviceTier");
    return undefined;
  }

  /** Names anything else that the dialect cannot carry by its JSON pointer. */
  drop(at: string): void {
    this.#dropped.push(at);
  }

  /** JSON pointers of all that is not carried, each once. */
  dropped(): readonly string[] {
    const pointers = new Set(this.#dropped);
    for (const name of this.#left) {
      const option = this.#options[name as keyof NeutralOptions];
      if (option !== undefined) pointers.add(option.at);
    }
    return [...pointers];
  }
}
