/** Suggests the nearest known word. */

/** Longer words get no suggestion. */
const MAX_WORD = 200;
/** Maximum number of differing letters; beyond it another word was meant. */
const MAX_TYPOS = 10;

/** The closest of `known` by edit distance, or undefined where none is near enough to be a typo. */
export const nearest = (word: string, known: readonly string[]): string | undefined =>
  nearestOf(word, known, 1)[0];

/** The closest of `known` by edit distance, the nearest first, at most so many; empty where none is near enough to be a typo. */
export function nearestOf(word: string, known: readonly string[], most: number): readonly string[] {
  // Comparing user input takes time in proportion to its length.
  if (word.length > MAX_WORD) return [];
  const meant = word.toLowerCase();
  const found: { readonly candidate: string; readonly distance: number }[] = [];
  let within = Math.min(Math.max(2, Math.floor(word.length / 3)), MAX_TYPOS);
  for (const candidate of known) {
    if (within < 0) break;
    const distance = editDistance(meant, candidate.toLowerCase(), within);
    if (distance > within) continue;
    const farther = found.findIndex((other) => other.distance > distance);
    found.splice(farther < 0 ? found.length : farther, 0, { candidate, distance });
    if (found.length > most) found.pop();
    // Only a nearer word replaces one.
    if (found.length === most) within = (found.at(-1)?.distance ?? 0) - 1;
  }
  return found.map(({ candidate }) => candidate);
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
