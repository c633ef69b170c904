/** A document with numbered lines, and what differs between two, line by line. */
import { useMemo, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import type { PlacedProblem } from "./editor/problems.tsx";
import { type DiffLine, folded, lineDiff, linesOf } from "./line-diff.ts";

interface CodeLinesProps {
  readonly text: string;
  readonly problems: readonly PlacedProblem[];
  readonly warnings: readonly PlacedProblem[];
  /** The line that was chosen last; 0: none. */
  readonly chosen: number;
}

export function CodeLines({ text, problems, warnings, chosen }: CodeLinesProps) {
  const lines = useMemo(() => linesOf(text), [text]);
  const wrong = new Set(problems.map(({ line }) => line));
  const odd = new Set(warnings.map(({ line }) => line));
  const markOf = (line: number) => (wrong.has(line) ? "bad" : odd.has(line) ? "warn" : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reached by the keyboard
    <section class="code-lines" aria-label="Document" tabIndex={0}>
      <ol>
        {lines.map((line, at) => (
          <li key={at} id={`line-${at + 1}`} data-mark={markOf(at + 1)} data-chosen={at + 1 === chosen}>
            <code>{line}</code>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Lines that are the same, shown around what differs. */
const CONTEXT = 3;

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
/** For those who do not see the signs. */
const WORDS = { same: "", added: "added: ", removed: "removed: " } as const;

export function Differences({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = useMemo(() => lineDiff(before, after), [before, after]);
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  const [added, removed] = [count("added"), count("removed")];
  if (added + removed === 0) return <p>No line differs.</p>;
  return (
    <>
      <p class="small" role="status">
        {counted(added, "added")}, {counted(removed, "removed")}.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reached by the keyboard */}
      <section class="diff" aria-label="Differences" tabIndex={0}>
        <table>
          <thead class="only-read">
            <tr>
              <th scope="col">Line before</th>
              <th scope="col">Line after</th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          {folded(lines, CONTEXT).map((piece, at) =>
            "hidden" in piece ? (
              <Folded key={at} lines={piece.hidden} />
            ) : (
              <tbody key={at}>
                <DiffRows lines={piece.lines} />
              </tbody>
            ),
          )}
        </table>
      </section>
    </>
  );
}

const counted = (count: number, word: string): string => `${count} ${count === 1 ? "line" : "lines"} ${word}`;

const DiffRows = ({ lines }: { readonly lines: readonly DiffLine[] }) => (
  <>
    {lines.map((line) => (
      <tr key={`${line.old ?? ""} ${line.new ?? ""}`} data-kind={line.kind}>
        <td class="diff-number">{line.old}</td>
        <td class="diff-number">{line.new}</td>
        <td>
          <span class="diff-sign" aria-hidden="true">
            {SIGNS[line.kind]}
          </span>
          <span class="only-read">{WORDS[line.kind]}</span>
          <code>{line.text}</code>
        </td>
      </tr>
    ))}
  </>
);

/** Lines that are the same, out of the way until somebody wants to see them. */
function Folded({ lines }: { readonly lines: readonly DiffLine[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <tbody>
      {isOpen ? (
        <DiffRows lines={lines} />
      ) : (
        <tr>
          <td colSpan={3}>
            <Button kind="quiet" onClick={() => setOpen(true)}>
              Show {lines.length} lines that are the same
            </Button>
          </td>
        </tr>
      )}
    </tbody>
  );
}
