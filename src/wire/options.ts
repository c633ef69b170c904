/** Bookkeeping of a request's options while they are written in a dialect: what nobody took is dropped, and told. */
import type { NeutralOptions, NeutralRequest } from "./neutral.ts";

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

  /** The option's value, which counts as carried from here on; undefined where the client did not say it. */
  take<K extends keyof NeutralOptions>(name: K): ValueOf<K> | undefined {
    this.#left.delete(name);
    return this.#options[name]?.value as ValueOf<K> | undefined;
  }

  /** Where the client said an option that was taken and cannot be carried after all, or only in part. */
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

  /** Something beside the options that the dialect cannot carry, by its JSON pointer. */
  drop(at: string): void {
    this.#dropped.push(at);
  }

  /** JSON pointers of everything that is not carried, each once. */
  dropped(): readonly string[] {
    const pointers = new Set(this.#dropped);
    for (const name of this.#left) {
      const option = this.#options[name as keyof NeutralOptions];
      if (option !== undefined) pointers.add(option.at);
    }
    return [...pointers];
  }
}
