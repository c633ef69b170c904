/**
 * Token counts with OpenAI's `o200k_base`, off the event loop. Exact for text as people and programs write it; the
 * encoder's time grows with the square of an unbroken run, so longer ones are counted in slices (a token a slice more).
 */

/** Characters of an unbroken run that are counted as one. */
const RUN = 256;
const LONG_RUNS = new RegExp(
  `[\\p{L}\\p{M}]{${RUN + 1},}|[^\\s\\p{L}\\p{N}]{${RUN + 1},}|\\s{${RUN + 1},}`,
  "gu",
);

type Count = (text: string) => number;
let loading: Promise<Count> | undefined;

/** One count a text. */
export async function countTexts(texts: readonly string[]): Promise<number[]> {
  loading ??= load();
  const count = await loading;
  return texts.map((text) => countText(text, count));
}

/** Loaded on first use: the table takes 30 MB and a fifth of a second, and most processes never count. */
async function load(): Promise<Count> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  // Text that looks like a control token is text here.
  const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, plain);
}

function countText(text: string, count: Count): number {
  let total = 0;
  let at = 0;
  for (const run of text.matchAll(LONG_RUNS)) {
    total += count(text.slice(at, run.index));
    at = run.index + run[0].length;
    for (let from = run.index; from < at; from += RUN)
      total += count(text.slice(from, Math.min(from + RUN, at)));
  }
  return total + count(text.slice(at));
}
