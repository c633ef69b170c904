/** What becomes of a mutant: a test fails for it, none does, or a test does not end. */
import type { TestFile } from "./coverage.ts";
import type { Mutant } from "./mutant.ts";
import type { Outcome } from "./run.ts";

export interface Fate {
  readonly mutant: Mutant;
  readonly kind: "caught" | "caught by time" | "survived";
  /** The file that caught it, and its test. */
  readonly by?: { readonly file: string; readonly why: string };
  /** Files that run its line, and may be run for it. */
  readonly files: number;
  /** Files that failed once and passed then: the fault was not the reason. */
  readonly unsteady: readonly string[];
  readonly seconds: number;
}

/**
 * A failure counts if the file fails again alone: a test that fails for want of time has caught nothing.
 * @param files that run its line, in the order in which they run
 * @param run runs files up to the first failure
 */
export async function fateOf(
  mutant: Mutant,
  files: readonly TestFile[],
  run: (files: readonly TestFile[]) => Promise<Outcome>,
): Promise<Fate> {
  const since = performance.now();
  const unsteady: string[] = [];
  const ends = (kind: Fate["kind"], by?: Fate["by"]): Fate => ({
    mutant,
    kind,
    ...(by === undefined ? {} : { by }),
    files: files.length,
    unsteady,
    seconds: Math.round((performance.now() - since) / 100) / 10,
  });
  let rest = files;
  while (rest.length > 0) {
    const first = await run(rest);
    if (first.kind === "passed") break;
    const at = Math.max(
      0,
      rest.findIndex(({ path }) => path === first.file),
    );
    const again = await run(rest.slice(at, at + 1));
    if (again.kind === "out of time") return ends("caught by time", again);
    if (again.kind === "failed") return ends("caught", again);
    unsteady.push(first.file);
    rest = rest.slice(at + 1);
  }
  return ends("survived");
}

/** Has the file first that caught the mutant in an earlier run, if it still runs the line. */
export function likeliestFirst(
  files: readonly TestFile[],
  mutant: Mutant,
  earlier: readonly Fate[],
): TestFile[] {
  const { original, replacement } = mutant;
  const same = earlier.find(
    (fate) => fate.mutant.original === original && fate.mutant.replacement === replacement,
  );
  const first = files.filter(({ path }) => path === same?.by?.file);
  return [...first, ...files.filter((file) => !first.includes(file))];
}

/** For people, in one line, or a few where it survived. */
export function lineOf({ mutant, kind, by, files, unsteady, seconds }: Fate): string {
  const { file, line, operator, original, replacement } = mutant;
  const what = `${kind.padEnd(14)} ${file}:${line} ${operator}`;
  const passedThen = unsteady.length === 0 ? "" : `; failed once only: ${unsteady.join(", ")}`;
  if (by !== undefined) return `${what} (${by.file}: ${by.why}; ${seconds} s${passedThen})`;
  return `${what} (${files} files, ${seconds} s${passedThen})\n${signed("-", original)}\n${signed("+", replacement)}`;
}

/** The closing lines. */
export function summaryOf(fates: readonly Fate[]): string {
  const byTime = fates.filter(({ kind }) => kind === "caught by time").length;
  const caught = fates.filter(({ kind }) => kind !== "survived").length;
  const rooms = Map.groupBy(fates, ({ mutant }) => mutant.room);
  const table = [...rooms].map(([room, of]) => {
    const caughtOf = of.filter(({ kind }) => kind !== "survived").length;
    return `| ${room} | ${of.length} | ${caughtOf} | ${of.length - caughtOf} |`;
  });
  return [
    "",
    "| room | mutants | caught | survived |",
    "| --- | --- | --- | --- |",
    ...table,
    "",
    `${caught} of ${fates.length} caught${byTime === 0 ? "" : `, ${byTime} of them by time`}`,
  ].join("\n");
}

const signed = (sign: string, lines: string): string =>
  lines
    .split("\n")
    .map((line) => `      ${sign} ${line}`)
    .join("\n");
