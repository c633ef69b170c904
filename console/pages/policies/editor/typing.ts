/** What the keys Tab, Shift+Tab and Enter write into a text of YAML. Pure. */

/** A text takes the place of another; then the selection is from `start` to `end`. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  readonly start: number;
  readonly end: number;
}

export interface Selection {
  readonly start: number;
  readonly end: number;
}

const STEP = 2;

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

function lineEnd(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found < 0 ? text.length : found;
}

/** Tab: spaces to the next step, or all lines of the selection deeper. */
export function indented(text: string, { start, end }: Selection): Edit {
  if (!text.slice(start, end).includes("\n")) {
    const spaces = STEP - ((start - lineStart(text, start)) % STEP);
    const at = start + spaces;
    return { from: start, to: end, insert: " ".repeat(spaces), start: at, end: at };
  }
  return ofLines(text, { start, end }, (line) => (line === "" ? line : " ".repeat(STEP) + line));
}

/** Shift+Tab: all lines of the selection, or the cursor's, less deep. @returns undefined where none is deep */
export function outdented(text: string, selection: Selection): Edit | undefined {
  const edit = ofLines(text, selection, (line) => line.replace(/^ {1,2}/, ""));
  return edit.insert === text.slice(edit.from, edit.to) ? undefined : edit;
}

function ofLines(text: string, { start, end }: Selection, change: (line: string) => string): Edit {
  const from = lineStart(text, start);
  // A selection that ends where a line begins leaves that line as it is.
  const to = lineEnd(text, end > start && text.charAt(end - 1) === "\n" ? end - 1 : end);
  const before = text.slice(from, to);
  const insert = before.split("\n").map(change).join("\n");
  if (start !== end) return { from, to, insert, start: from, end: from + insert.length };
  const at = Math.max(from, start + insert.length - before.length);
  return { from, to, insert, start: at, end: at };
}

/** Enter: the next line is as deep as this one, deeper behind a key that has nothing yet. */
export function newLine(text: string, { start, end }: Selection): Edit {
  const before = text.slice(lineStart(text, start), start);
  const spaces = /^ */.exec(before)?.[0].length ?? 0;
  const dashes = /^(?:- +)*/.exec(before.slice(spaces))?.[0].length ?? 0;
  const content = before
    .slice(spaces + dashes)
    .replace(/\s+#.*$/, "")
    .trimEnd();
  const isOpen = /^[^#]*[^#\s]:$/.test(content);
  // An item that has nothing ends its list.
  const depth = content === "" ? spaces : spaces + dashes + (isOpen ? STEP : 0);
  const insert = `\n${" ".repeat(depth)}`;
  const at = start + insert.length;
  return { from: start, to: end, insert, start: at, end: at };
}
