/** Numbers of lines with marks where something is wrong, and the same lines and words behind the text. */
import type { PlacedProblem } from "./problems.tsx";

/** The worst of each line. */
export type Marks = ReadonlyMap<number, "bad" | "warn">;

export const marksOf = (problems: readonly PlacedProblem[], warnings: readonly PlacedProblem[]): Marks =>
  new Map([
    ...warnings.map(({ line }) => [line, "warn"] as const),
    ...problems.map(({ line }) => [line, "bad"] as const),
  ]);

const SIGNS = { bad: "✕", warn: "!" } as const;

/** Those who do not see it are told by the list of problems. */
export const Gutter = ({ count, marks }: { readonly count: number; readonly marks: Marks }) => (
  <div class="editor-gutter" aria-hidden="true">
    {Array.from({ length: count }, (_, at) => {
      const mark = marks.get(at + 1);
      return (
        <div key={at} data-mark={mark}>
          {mark !== undefined && <span>{SIGNS[mark]}</span>} {at + 1}
        </div>
      );
    })}
  </div>
);

interface UnderlinesProps {
  readonly lines: readonly string[];
  readonly problems: readonly PlacedProblem[];
  readonly warnings: readonly PlacedProblem[];
}

/** Height of a line, in the size of its letters. */
const LINE_EM = 1.5;

/** In units of the text's letters: it is exact where they are all as wide. */
export const Underlines = ({ lines, problems, warnings }: UnderlinesProps) => (
  <svg class="editor-underlines" aria-hidden="true">
    {[
      ...warnings.map((each) => [each, "warn"] as const),
      ...problems.map((each) => [each, "bad"] as const),
    ].map(([{ line, column }, mark], at) => (
      <g key={at} data-mark={mark}>
        <rect class="editor-tint" y={`${(line - 1) * LINE_EM}em`} width="100%" height={`${LINE_EM}em`} />
        <rect
          x={`${column - 1}ch`}
          y={`${line * LINE_EM - 0.15}em`}
          width={`${wordLength(lines[line - 1] ?? "", column)}ch`}
          height="2"
        />
      </g>
    ))}
  </svg>
);

/** @param column from 1 */
const wordLength = (line: string, column: number): number =>
  Math.max(1, /^[^\s:,[\]{}]+/.exec(line.slice(column - 1))?.[0].length ?? 1);
