/** What is wrong with a document, each with its line and column: a way to the place where there is one. */
import type { ApiError } from "../../../api/call.ts";

export interface PlacedProblem {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** JSON pointer; empty for the whole. */
  readonly path: string;
}

const isProblem = (value: unknown): value is PlacedProblem => {
  const { line, column, message } = (value ?? {}) as Partial<PlacedProblem>;
  return typeof line === "number" && typeof column === "number" && typeof message === "string";
};

/** Those that a refusal names. */
export function problemsOf(fault: ApiError | undefined): readonly PlacedProblem[] {
  const { problems } = (fault?.details ?? {}) as { readonly problems?: unknown };
  return Array.isArray(problems) ? problems.filter(isProblem) : [];
}

interface ProblemListProps {
  readonly label: string;
  readonly problems: readonly PlacedProblem[];
  readonly tone: "bad" | "warn";
  readonly onChoose?: (problem: PlacedProblem) => void;
}

export const ProblemList = ({ label, problems, tone, onChoose }: ProblemListProps) => (
  <section class="problems" data-tone={tone} aria-label={label}>
    <h3>{label}</h3>
    <ol>
      {problems.map((problem, at) => (
        <li key={at}>
          {onChoose === undefined ? (
            <span class="nowrap">{placeOf(problem)}</span>
          ) : (
            <button type="button" class="link nowrap" onClick={() => onChoose(problem)}>
              {placeOf(problem)}
            </button>
          )}{" "}
          <span class="break">{problem.message}</span>
        </li>
      ))}
    </ol>
  </section>
);

const placeOf = ({ line, column }: PlacedProblem): string => `Line ${line}, column ${column}`;
