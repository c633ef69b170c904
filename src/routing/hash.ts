/** Hashes that spread callers over endpoints, keys and arms: quick, the same in every process, not against forgery. */

/** FNV-1a, 32 bits (Fowler, Noll and Vo). */
export function hashOf(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** MurmurHash3's finalizer: every bit of the result depends on every bit of the input. */
export function mixed(bits: number): number {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A number in [0, 1), always the same for the same pair of strings. */
export const unitOf = (a: string, b: string): number => mixed(hashOf(b, hashOf(a))) / 0x1_0000_0000;
