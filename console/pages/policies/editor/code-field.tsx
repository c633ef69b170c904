/**
 * A text area for YAML: numbers of lines with marks, completion at the cursor, and Tab that indents. It is the browser's own, so that undo,
 * selection, spelling, and the ways of those who do not see it are the browser's own, too.
 */
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Completion, Names } from "./completion.ts";
import { Gutter, marksOf, Underlines } from "./gutter.tsx";
import { type Place, placeAt } from "./place.ts";
import type { PlacedProblem } from "./problems.tsx";
import type { Schema } from "./schema.ts";
import { optionId, Suggestions } from "./suggestions.tsx";
import { type Edit, indented, newLine, outdented } from "./typing.ts";
import { useCompletion } from "./use-completion.ts";

interface CodeFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly problems: readonly PlacedProblem[];
  readonly warnings: readonly PlacedProblem[];
  readonly schema: Schema | undefined;
  readonly names: Names;
  /** The cursor has moved, or what is around it. */
  readonly onPlace: (place: Place | undefined) => void;
  /** A place to go to; a new object for each time. */
  readonly goTo: PlacedProblem | undefined;
}

const MIN_LINES = 14;
/** What a line is too little for is scrolled. */
const MIN_COLUMNS = 30;

export function CodeField(props: CodeFieldProps) {
  const { label, value, problems, warnings, schema, names, onPlace, goTo } = props;
  const [area, frame, ruler] = [
    useRef<HTMLTextAreaElement>(null),
    useRef<HTMLDivElement>(null),
    useRef<HTMLSpanElement>(null),
  ];
  const id = useId();
  const [cursor, setCursor] = useState(0);
  const place = useMemo(() => placeAt(value, cursor), [value, cursor]);
  const completing = useCompletion(place, schema, names);
  const lines = useMemo(() => value.split("\n"), [value]);
  const marks = useMemo(() => marksOf(problems, warnings), [problems, warnings]);
  useEffect(() => onPlace(place), [place]);
  useEffect(() => {
    if (goTo !== undefined && area.current !== null && frame.current !== null)
      showPlace(area.current, frame.current, lines, goTo);
  }, [goTo]);

  useEffect(() => {
    if (ruler.current !== null && frame.current !== null)
      uncover(ruler.current, frame.current, value, cursor);
  }, [cursor]);

  const isOpen = completing.offered.length > 0;
  const keys = useKeys({ ...props, area, place, completing, setCursor });
  return (
    <div class="editor">
      <div class="editor-frame" ref={frame} onScroll={completing.close}>
        <Gutter count={Math.max(lines.length, MIN_LINES)} marks={marks} />
        <div class="editor-text">
          <Underlines lines={lines} problems={problems} warnings={warnings} />
          <textarea
            ref={area}
            class="code"
            aria-label={label}
            aria-describedby={`${id}-keys`}
            aria-invalid={problems.length > 0}
            aria-autocomplete="list"
            aria-controls={isOpen ? `${id}-list` : undefined}
            aria-activedescendant={isOpen ? optionId(`${id}-list`, completing.chosen) : undefined}
            wrap="off"
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            rows={Math.max(lines.length, MIN_LINES)}
            cols={Math.max(MIN_COLUMNS, ...lines.map(columnsOf)) + 2}
            value={value}
            onInput={keys.onInput}
            onKeyDown={keys.onKeyDown}
            onSelect={(event) => setCursor(event.currentTarget.selectionEnd)}
            onMouseDown={completing.close}
            onBlur={completing.close}
          />
          <span class="editor-ruler" ref={ruler} aria-hidden="true">
            0000000000
          </span>
        </div>
      </div>
      {isOpen && place !== undefined && (
        <Suggestions
          id={`${id}-list`}
          offered={completing.offered}
          chosen={completing.chosen}
          {...positionOf(ruler.current, frame.current, value, place)}
          onTake={keys.take}
        />
      )}
      <p class="small quiet" id={`${id}-keys`}>
        Ctrl+Space completes. Tab indents, Shift+Tab outdents; Escape, then Tab, leaves the text.
      </p>
      <span class="only-read" role="status">
        {isOpen ? `${completing.offered.length} words can be written here` : ""}
      </span>
    </div>
  );
}

/** Tabs and signs of other scripts are wider than a letter. */
const columnsOf = (line: string): number =>
  line.length + (line.match(/[^\u0020-\u024f]/g)?.length ?? 0) + (line.match(/\t/g)?.length ?? 0) * 7;

/** Under the word, within the frame. */
function positionOf(
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

interface KeyProps extends CodeFieldProps {
  readonly area: { readonly current: HTMLTextAreaElement | null };
  readonly place: Place | undefined;
  readonly completing: ReturnType<typeof useCompletion>;
  readonly setCursor: (cursor: number) => void;
}

function useKeys({ area, place, completing, onValue, setCursor }: KeyProps) {
  /** Escape was the last key: Tab leaves. */
  const leaves = useRef(false);
  /** What is written by `write` opens no completion of itself. */
  const isWriting = useRef(false);

  const write = (edit: Edit) => {
    const field = area.current;
    if (field === null) return;
    isWriting.current = true;
    writeInto(field, edit);
    isWriting.current = false;
    setCursor(edit.end);
  };
  const take = ({ insert, behind, goesOn }: Completion) => {
    if (place === undefined) return;
    const at = place.from + insert.length - behind;
    completing.close();
    write({ from: place.from, to: place.to, insert, start: at, end: at });
    if (goesOn) completing.open();
  };
  const onInput = (event: InputEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    const { value, selectionEnd } = event.currentTarget;
    onValue(value);
    setCursor(selectionEnd);
    if (isWriting.current) return;
    if (opensAt(event, value, selectionEnd)) completing.open();
    else if (!event.inputType.startsWith("delete")) completing.close();
  };
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    // An input method has the keys.
    if (event.isComposing) return;
    const hasLeft = leaves.current;
    leaves.current = event.key === "Escape";
    const act =
      completing.offered.length > 0
        ? listAct(event, completing, take)
        : textAct(event, { write, open: completing.open, leaves: hasLeft });
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return { onInput, onKeyDown, take };
}

/** A letter of a word, or the space behind a key. */
const opensAt = ({ inputType, data }: InputEvent, value: string, cursor: number): boolean =>
  inputType === "insertText" &&
  (/^[\w/.-]$/.test(data ?? "") || (data === " " && /[:[{,-] $/.test(value.slice(0, cursor))));

/** Keys while completions are shown. @returns undefined: the key does what it always does */
function listAct(
  { key, shiftKey }: KeyboardEvent,
  { offered, chosen, choose, close }: ReturnType<typeof useCompletion>,
  take: (completion: Completion) => void,
): (() => void) | undefined {
  if (key === "ArrowDown") return () => choose(chosen + 1);
  if (key === "ArrowUp") return () => choose(chosen - 1);
  if (key === "Escape") return close;
  const picked = offered[chosen];
  if ((key === "Enter" || key === "Tab") && !shiftKey && picked !== undefined) return () => take(picked);
  if (/^(?:Arrow|Home|End|Page)/.test(key)) close();
  return undefined;
}

interface TextActs {
  readonly write: (edit: Edit) => void;
  readonly open: () => void;
  readonly leaves: boolean;
}

/** Keys of the text. @returns as `listAct` */
function textAct(
  event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement },
  { write, open, leaves }: TextActs,
): (() => void) | undefined {
  const { key, shiftKey, ctrlKey, metaKey, altKey, currentTarget } = event;
  const { value, selectionStart: start, selectionEnd: end } = currentTarget;
  if (ctrlKey && key === " ") return open;
  if (ctrlKey || metaKey || altKey) return undefined;
  if (key === "Enter" && !shiftKey) return () => write(newLine(value, { start, end }));
  if (key !== "Tab" || leaves) return undefined;
  const edit = shiftKey ? outdented(value, { start, end }) : indented(value, { start, end });
  return () => {
    if (edit !== undefined) write(edit);
  };
}

/** By the browser's own command, so that it can be undone; where a browser has none, without. */
function writeInto(area: HTMLTextAreaElement, { from, to, insert, start, end }: Edit): void {
  area.focus();
  area.setSelectionRange(from, to);
  const isDone =
    insert === "" ? document.execCommand("delete") : document.execCommand("insertText", false, insert);
  if (!isDone) {
    area.setRangeText(insert, from, to, "end");
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  area.setSelectionRange(start, end);
}
