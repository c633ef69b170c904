/** Where things are in the frame of a text area: the cursor, a word, a place that one goes to. */
import { useEffect } from "preact/hooks";
import type { Place } from "./place.ts";
import type { PlacedProblem } from "./problems.tsx";

/** Tabs and signs of other scripts are wider than a letter. */
export const columnsOf = (line: string): number =>
  line.length + (line.match(/[^\u0020-\u024f]/g)?.length ?? 0) + (line.match(/\t/g)?.length ?? 0) * 7;

/** Under the word, within the frame. */
export function positionOf(
  ruler: HTMLElement | null,
  frame: HTMLElement | null,
  text: string,
  { from, column }: Place,
): { readonly top: number; readonly left: number } {
  if (ruler === null || frame === null) return { top: 0, left: 0 };
  const box = ruler.getBoundingClientRect();
  const outer = frame.getBoundingClientRect();
  const line = text.slice(0, from).split("\n").length;
  // The ruler is where the first line is, a line high and ten letters wide.
  return {
    top: box.top - outer.top + line * box.height,
    left: Math.max(0, box.left - outer.left + (column * box.width) / 10),
  };
}

/** The numbers of lines stay where the text is scrolled: the cursor is not to be behind them. */
function uncover(ruler: HTMLElement, frame: HTMLElement, text: string, cursor: number): void {
  const column = cursor - (text.lastIndexOf("\n", cursor - 1) + 1);
  const at = (column * ruler.getBoundingClientRect().width) / 10;
  if (at < frame.scrollLeft) frame.scrollLeft = at;
}

function showPlace(
  area: HTMLTextAreaElement,
  frame: HTMLElement,
  lines: readonly string[],
  { line, column }: PlacedProblem,
): void {
  const at = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const start = at + Math.min(column - 1, lines[line - 1]?.length ?? 0);
  area.focus();
  area.setSelectionRange(start, start);
  const height = area.scrollHeight / area.rows;
  frame.scrollTop = Math.max(0, (line - 3) * height);
}

interface Ref<T> {
  readonly current: T | null;
}

interface Elements {
  readonly area: Ref<HTMLTextAreaElement>;
  readonly frame: Ref<HTMLElement>;
  /** As high as a line and ten letters wide, where the text begins. */
  readonly ruler: Ref<HTMLElement>;
}

interface Shown {
  readonly lines: readonly string[];
  readonly value: string;
  readonly cursor: number;
  readonly goTo: PlacedProblem | undefined;
}

/** Goes to a place that was asked for, and keeps the cursor in sight. */
export function useFollowing({ area, frame, ruler }: Elements, { lines, value, cursor, goTo }: Shown): void {
  useEffect(() => {
    if (goTo !== undefined && area.current !== null && frame.current !== null)
      showPlace(area.current, frame.current, lines, goTo);
  }, [goTo]);
  useEffect(() => {
    if (ruler.current !== null && frame.current !== null)
      uncover(ruler.current, frame.current, value, cursor);
  }, [cursor]);
}
