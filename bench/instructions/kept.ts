/**
 * The figures that are kept in the repository (`bench/instructions.json`), and how those of a run compare with them: the gate for
 * cost that each change passes.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

export const FIGURES = ["json-1k", "burst-64", "streamed-event"] as const;
export type FigureName = (typeof FIGURES)[number];
export type Figures = Readonly<Record<FigureName, number>>;

export const FIGURE_TITLES: Readonly<Record<FigureName, string>> = {
  "json-1k": "a JSON call of 1 KB",
  "burst-64": "a stream of 64 events in one burst",
  "streamed-event": "one more event of a stream, by itself",
};

/** What is kept of a call, and the share above it that still passes: on a busy machine V8 leaves some code unoptimised, which allocates 1 % more. */
const MEASURES = {
  figures: { unit: "instructions", allowed: 0.01 },
  heapBytes: { unit: "bytes in the heap", allowed: 0.02 },
} as const;
type Measure = keyof typeof MEASURES;
export type Counted = Readonly<Record<Measure, Figures>>;

/** Rewrites the file. */
export const REWRITE = "npm run bench -- instructions --quick";
export const CHECK = `${REWRITE} --check`;

const figures = z.strictObject({
  "json-1k": z.int().positive(),
  "burst-64": z.int().positive(),
  "streamed-event": z.int().positive(),
});

const fileSchema = z.strictObject({
  /** For those who open the file. */
  rewrite: z.literal(REWRITE),
  commit: z.string().regex(/^[0-9a-f]{7,40}( with changes)?$/),
  date: z.iso.date(),
  node: z.string().startsWith("v"),
  v8: z.string().min(1),
  architecture: z.string().min(1),
  /** Instructions; of all threads of the gateway's process, outside of the kernel. */
  figures,
  /** Allocated in V8's heap by the gateway's main thread. */
  heapBytes: figures,
});

export type KeptFigures = z.infer<typeof fileSchema>;
/** What the figures depend on beside the code. */
export type CountedOn = Pick<KeptFigures, "node" | "v8" | "architecture">;

export const countedOn = (): CountedOn => ({
  node: process.version,
  v8: process.versions.v8,
  architecture: process.arch,
});

/** @throws Error that says how to make the file, where it is missing or is none */
export function readKept(file: string): KeptFigures {
  if (!existsSync(file)) throw new Error(`${file} does not exist: ${REWRITE} writes it`);
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Error(`${file} is damaged: ${REWRITE} writes it anew\n${what}`);
  }
}

export function writeKept(file: string, kept: KeptFigures): void {
  writeFileSync(file, `${JSON.stringify(fileSchema.parse(kept), null, 2)}\n`);
}

export interface Verdict {
  readonly lines: readonly string[];
  readonly isWorse: boolean;
}

/** @throws Error where the kept figures were counted with another Node or on another kind of processor: they say nothing here */
export function compareWithKept(kept: KeptFigures, now: Counted, on: CountedOn): Verdict {
  const others = (["node", "v8", "architecture"] as const).filter((name) => kept[name] !== on[name]);
  if (others.length > 0) {
    const differences = others.map((name) => `${name} ${kept[name]} there, ${on[name]} here`).join("; ");
    throw new Error(
      `the kept figures (commit ${kept.commit}) cannot be compared: ${differences}. Count them at that commit with ${REWRITE}, then compare`,
    );
  }
  const compared = (["figures", "heapBytes"] as const).flatMap((measure) =>
    FIGURES.map((name) => comparison(name, MEASURES[measure], now[measure][name], kept[measure][name])),
  );
  const isWorse = compared.some((one) => one.isWorse);
  const lines = compared.map(({ line }) => line);
  if (isWorse)
    lines.push(
      `Too far above the kept figures of commit ${kept.commit}. Find the cause; where the cost is meant, ${REWRITE} keeps the new figures.`,
    );
  else if (compared.some((one) => one.isBetter))
    lines.push(`Cheaper than what is kept: keep it with ${REWRITE}, and commit the file.`);
  return { lines, isWorse };
}

function comparison(
  name: FigureName,
  { unit, allowed }: (typeof MEASURES)[Measure],
  now: number,
  kept: number,
) {
  const change = now / kept - 1;
  // What is no number is worse.
  const isWorse = !(change <= allowed);
  const isBetter = change < -allowed;
  const verdict = isWorse ? "WORSE" : isBetter ? "better" : `within ${percent(allowed)}`;
  const figures = `${Math.round(now)} ${unit}, kept ${kept}, ratio ${(now / kept).toFixed(4)}`;
  return { isWorse, isBetter, line: `${name}: ${figures}: ${verdict}` };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
