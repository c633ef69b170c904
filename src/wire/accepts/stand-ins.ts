/**
 * Stand-ins for values that an upstream would refuse: a keyed hash behind as much of the value as there is room for. One value
 * has one stand-in, at the next turn, at another cell and after a restart, because the key is the org's; and no caller can make
 * two values meet.
 */
import { createHmac } from "node:crypto";
import type { OrgKey } from "../format.ts";
import type { NameBound } from "./bounds.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Characters of a hash that stands behind a prefix: 71 bits. */
const HASH_LENGTH = 12;

/**
 * @param kind what the value is: equal values of two kinds have two hashes
 * @param length of the hash, at most 32
 */
export function hashOf(key: OrgKey, kind: string, value: string, length: number): string {
  const digest = createHmac("sha256", key).update(`${kind}\0`).update(value).digest();
  let hash = "";
  for (let at = 0; at < length; at++) hash += ALPHABET[(digest[at] as number) % ALPHABET.length];
  return hash;
}

/** Finds the stand-ins of one request's values of one kind. */
export class StandIns {
  readonly #key: OrgKey;
  readonly #kind: string;
  readonly #bound: NameBound;
  readonly #others: () => Iterable<string>;
  /** Stand-ins by value. */
  readonly #known = new Map<string, string>();
  /** All that is told: values that are told as they are, and stand-ins. Built at the first stand-in. */
  #told: Set<string> | undefined;

  /** @param others all values of the request, of which those within the bound are told as they are */
  constructor(key: OrgKey, kind: string, bound: NameBound, others: () => Iterable<string>) {
    this.#key = key;
    this.#kind = kind;
    this.#bound = bound;
    this.#others = others;
  }

  /** The value itself where the upstream takes it. @param value whole, no mark of a source */
  of(value: string): string {
    if (this.#bound.taken.test(value)) return value;
    return this.replacing(value, value);
  }

  /** The stand-in of a value, whether or not the upstream takes the value. @param hashed what tells it from others */
  replacing(value: string, hashed: string): string {
    const known = this.#known.get(hashed);
    if (known !== undefined) return known;
    this.#told ??= new Set([...this.#others()].filter((other) => this.#bound.taken.test(other)));
    let made = this.#make(value, hashed);
    for (let more = 1; this.#told.has(made); more++) made = this.#make(value, `${hashed}\0${more}`);
    this.#told.add(made);
    this.#known.set(hashed, made);
    return made;
  }

  #make(value: string, hashed: string): string {
    const { most, foreign, taken } = this.#bound;
    const hash = hashOf(this.#key, this.#kind, hashed, Math.min(HASH_LENGTH, most));
    const room = most - hash.length - 1;
    if (room < 1) return hash;
    const prefix = value.slice(0, room).replace(foreign, "_");
    const made = prefix === "" ? hash : `${prefix}_${hash}`;
    return taken.test(made) ? made : `_${prefix.slice(0, room - 1)}_${hash}`;
  }
}
