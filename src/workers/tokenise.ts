/**
 * Token counts with OpenAI's public encodings, off the event loop. Exact for text as people and programs write it. The
 * encoder's time grows with the square of an unbroken run, so longer runs are counted in slices (about one token more per
 * slice).
 */

/** Characters of an unbroken run that are counted at once. */
const RUN = 256;
const LONG_RUNS = new RegExp(
  `[\\p{L}\\p{M}]{${RUN + 1},}|[^\\s\\p{L}\\p{N}]{${RUN + 1},}|\\s{${RUN + 1},}`,
  "gu",
);

type Count = (text: string) => number;

/** Loaded at first use: a table takes 30 MB and 0.2 s, and most processes count nothing. */
const ENCODINGS = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  o200k_harmony: () => import("gpt-tokenizer/encoding/o200k_harmony"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
  p50k_base: () => import("gpt-tokenizer/encoding/p50k_base"),
  r50k_base: () => import("gpt-tokenizer/encoding/r50k_base"),
} as const;

export type Encoding = keyof typeof ENCODINGS;

export const isEncoding = (name: string): name is Encoding => Object.hasOwn(ENCODINGS, name);

const loaded = new Map<Encoding, Promise<Count>>();

/** Ends each text of a run; this byte cannot occur in UTF-8. */
const TEXT_END = 0xff;

/** One count per text, or per run of texts. */
export async function countTexts(
  texts: readonly (string | Uint8Array)[],
  encoding: Encoding,
): Promise<number[]> {
  let count = loaded.get(encoding);
  if (count === undefined) {
    count = load(encoding);
    loaded.set(encoding, count);
  }
  const counted = await count;
  return texts.map((text) => (typeof text === "string" ? countText(text, counted) : countRun(text, counted)));
}

function countRun(bytes: Uint8Array, count: Count): number {
  const run = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let total = 0;
  for (let from = 0; from < run.length; ) {
    const found = run.indexOf(TEXT_END, from);
    const end = found < 0 ? run.length : found;
    total += countText(run.toString("utf8", from, end), count);
    from = end + 1;
  }
  return total;
}

async function load(encoding: Encoding): Promise<Count> {
  const { countTokens } = await ENCODINGS[encoding]();
  // Text that looks like a control token is counted as text.
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
