/** Lines of a chart, and which colour each has. Pure. */

export interface Line {
  readonly name: string;
  /** A value for each time; null: none was measured. */
  readonly values: readonly (number | null)[];
  /** The period before: quiet, and behind the others. */
  readonly isBefore?: boolean;
}

/** Names of the tokens, for lines in turn. */
export const LINE_COLOURS = ["line-1", "line-2", "line-3", "line-4"] as const;

/** Which colour a line has. Lines of the period before have one of their own. */
export function colourOf(lines: readonly Pick<Line, "isBefore">[], place: number): string {
  if (lines[place]?.isBefore === true) return "before";
  const rank = lines.slice(0, place).filter(({ isBefore }) => isBefore !== true).length;
  return LINE_COLOURS[rank % LINE_COLOURS.length] ?? "line-1";
}

/** What is drawn later lies over what was drawn before. */
export const behindFirst = <T>(lines: readonly T[]): T[] => [...lines].reverse();
