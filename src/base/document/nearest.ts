/** Suggests the nearest known word. */

/** Longer words get no suggestion. */
const MAX_WORD = 200;
/** Maximum number of differing letters; beyond it another word was meant. */
const MAX_TYPOS = 10;
/** Words that are compared letter by letter, at most; those that share most with the one that is looked for come first. */
const MAX_COMPARED = 250;

/** The closest of `known` by edit distance, or undefined where none is near enough to be a typo. */
export const nearest = (word: string, known: readonly string[]): string | undefined =>
  nearestOf(word, known, 1)[0];

/** The closest of `known` by edit distance, the nearest first, at most so many; empty where none is near enough to be a typo. */
export const nearestOf = (word: string, known: readonly string[], most: number): readonly string[] =>
  new NearestWords(known).of(word, most);

/** Numbers of 32 bits that stand for the pairs of neighbouring characters of a word. */
const SIGNS = 4;

/**
 * Known words, among which those nearest to a misspelt one are found. The known words are prepared once, because a caller may misspell
 * as often as they like.
 */
export class NearestWords {
  readonly #words: readonly string[];
  readonly #lower: readonly string[];
  /** `SIGNS` of each word. */
  readonly #signs: Int32Array;

  /** @param known of two words that are equally near the earlier one is given first; each has at most some hundred characters */
  constructor(known: readonly string[]) {
    this.#words = known;
    this.#lower = known.map((word) => word.toLowerCase());
    this.#signs = new Int32Array(known.length * SIGNS);
    for (const [place, word] of this.#lower.entries()) sign(word, this.#signs, place * SIGNS);
  }

  /** As `nearestOf`, in about a millisecond: of thousands of words only the likeliest are compared. */
  of(word: string, most: number): readonly string[] {
    // Comparing user input takes time in proportion to its length.
    if (word.length > MAX_WORD) return [];
    const meant = word.toLowerCase();
    // A word of which every letter differs is another one, however short it is.
    let within = Math.min(Math.max(2, Math.floor(word.length / 3)), MAX_TYPOS, word.length - 1);
    const found: { readonly place: number; readonly distance: number }[] = [];
    let left = MAX_COMPARED;
    for (const [atLeast, places] of this.#likeliest(meant, within).entries()) {
      for (const place of places) {
        if (atLeast > within || left-- <= 0) break;
        const distance = editDistance(meant, this.#lower[place] as string, within);
        if (distance > within) continue;
        const farther = found.findIndex(
          (other) => other.distance > distance || (other.distance === distance && other.place > place),
        );
        found.splice(farther < 0 ? found.length : farther, 0, { place, distance });
        if (found.length > most) found.pop();
        // Another one that is as near may have an earlier place.
        if (found.length === most) within = found.at(-1)?.distance ?? 0;
      }
    }
    return found.map(({ place }) => this.#words[place] as string);
  }

  /**
   * Places of the words that may be within a distance, by the least that it can be: a typo changes the length by one, and takes two
   * pairs of neighbours away.
   */
  #likeliest(meant: string, within: number): readonly (readonly number[])[] {
    const byLeast: number[][] = Array.from({ length: within + 1 }, () => []);
    const signs = new Int32Array(SIGNS);
    sign(meant, signs, 0);
    for (const [place, { length }] of this.#lower.entries()) {
      const apart = Math.abs(length - meant.length);
      if (apart > within) continue;
      let lost = 0;
      let won = 0;
      for (let i = 0; i < SIGNS; i++) {
        const own = signs[i] as number;
        const others = this.#signs[place * SIGNS + i] as number;
        lost += bitsOf(own & ~others);
        won += bitsOf(others & ~own);
      }
      byLeast[Math.max(apart, (Math.max(lost, won) + 1) >> 1)]?.push(place);
    }
    return byLeast;
  }
}

/** Notes the pairs of neighbours in a word, its ends included, as bits of a hash; pairs may share one. */
function sign(word: string, signs: Int32Array, at: number): void {
  let before = 0;
  for (let i = 0; i <= word.length; i++) {
    const code = i === word.length ? 0 : word.charCodeAt(i);
    // The highest seven bits: as many numbers as `SIGNS` have bits. The factor is Knuth's, which spreads neighbours.
    const bit = Math.imul(before * 37 + code, 0x9e3779b1) >>> 25;
    signs[at + (bit >> 5)] = (signs[at + (bit >> 5)] as number) | (1 << (bit & 31));
    before = code;
  }
}

function bitsOf(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Ends a message that names an unknown word. */
export const didYouMean = (near: string | undefined): string =>
  near === undefined ? "" : `; did you mean "${near}"?`;

/** The same with several; empty where there are none. */
export function didYouMeanOneOf(near: readonly string[]): string {
  const [last, ...others] = near.map((each) => `"${each}"`).reverse();
  if (last === undefined) return "";
  return `; did you mean ${others.length === 0 ? last : `${others.reverse().join(", ")} or ${last}`}?`;
}

/**
 * Levenshtein distance; some greater number where it exceeds `within`. Computes only a band around the diagonal
 * (Ukkonen 1985).
 */
function editDistance(a: string, b: string, within: number): number {
  const far = within + 1;
  if (Math.abs(a.length - b.length) > within) return far;
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  let current = previous.map(() => far);
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - within);
    const to = Math.min(b.length, i + within);
    current[from - 1] = from === 1 ? i : far;
    let least = current[from - 1] ?? far;
    for (let j = from; j <= to; j++) {
      const swap = (previous[j - 1] ?? far) + (a[i - 1] === b[j - 1] ? 0 : 1);
      // Cells outside the band are not computed.
      const above = j < i + within ? (previous[j] ?? far) : far;
      const cost = Math.min(swap, above + 1, (current[j - 1] ?? far) + 1);
      current[j] = cost;
      if (cost < least) least = cost;
    }
    if (least > within) return far;
    [previous, current] = [current, previous];
  }
  return previous[b.length] ?? far;
}
