/**
 * Which mutants are made: of all changes the seed makes an order, and the first ones are taken that fit. A change's place in it
 * depends on the seed and on the change alone, so that nothing else in a source moves it.
 */
import { createHash } from "node:crypto";
import { stripTypeScriptTypes } from "node:module";
import type { Source } from "../../test/unit/tidy/tree.ts";
import { type Mutant, mutantOf, place, roomOf } from "./mutant.ts";
import { type Change, changesOf } from "./operators.ts";

export interface Choice {
  readonly seed: number;
  /** How many mutants each room has. */
  readonly count: number;
  /** Some test runs the code at this offset. */
  readonly isRun: (file: string, offset: number) => boolean;
}

/** No room's mutants are mostly of one file or of one kind of fault. */
const OF_ONE_FILE = 2;
const OF_ONE_OPERATOR = 3;

/** For each room as many mutants as asked for, or all that there are. */
export function chooseMutants(
  sources: readonly Source[],
  rooms: readonly string[],
  choice: Choice,
): Mutant[] {
  return rooms.flatMap((room) =>
    chooseOfRoom(
      sources.filter(({ path }) => path.startsWith(`src/${room}/`)),
      choice,
    ),
  );
}

function chooseOfRoom(sources: readonly Source[], { seed, count, isRun }: Choice): Mutant[] {
  const ranked = sources
    .flatMap((source) => changesOf(source).map((change) => ({ source, change })))
    .map((one) => ({ ...one, rank: rankOf(seed, one.source.path, one.source.text, one.change) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const chosen: Mutant[] = [];
  for (const { source, change } of ranked) {
    if (chosen.length === count) break;
    const mutant = mutantOf(source.path, source.text, change);
    const ofFile = chosen.filter(({ file }) => file === mutant.file);
    const ofOperator = chosen.filter(({ operator }) => operator === mutant.operator);
    if (ofFile.length === OF_ONE_FILE || ofOperator.length === OF_ONE_OPERATOR) continue;
    if (ofFile.some(({ original }) => original === mutant.original)) continue;
    if (isRun(source.path, change.start) && parses(place(mutant, source.text).text)) chosen.push(mutant);
  }
  return chosen.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
}

/** Lines are counted by their text, so that a change elsewhere in the file does not move this one. */
function rankOf(seed: number, file: string, text: string, change: Change): string {
  const { original, replacement } = mutantOf(file, text, change);
  return createHash("sha256")
    .update([seed, roomOf(file), file, original, replacement].join("\n"))
    .digest("hex");
}

function parses(text: string): boolean {
  try {
    stripTypeScriptTypes(text);
    return true;
  } catch {
    return false;
  }
}
