/**
 * A text area for YAML: numbers of lines with marks, completion at the cursor, and Tab that indents. It is the browser's own, so that undo,
 * selection, spelling, and the ways of those who do not see it are the browser's own, too.
 */
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Completion, Names } from "./completion.ts";
import { columnsOf, positionOf, useFollowing } from "./geometry.ts";
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

const AS_CODE = { wrap: "off", spellcheck: false, autocapitalize: "off", autocomplete: "off" } as const;

export function CodeField(props: CodeFieldProps) {
  const { label, value, problems, warnings, schema, names, onPlace, goTo } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLSpanElement>(null);
  const id = useId();
  const [cursor, setCursor] = useState(0);
  const place = useMemo(() => placeAt(value, cursor), [value, cursor]);
  const completing = useCompletion(place, schema, names);
  const lines = useMemo(() => value.split("\n"), [value]);
  const columns = useMemo(
    () => 2 + lines.reduce((most, line) => Math.max(most, columnsOf(line)), MIN_COLUMNS),
    [lines],
  );
  const marks = useMemo(() => marksOf(problems, warnings), [problems, warnings]);
  useEffect(() => onPlace(place), [place]);
  useFollowing({ area, frame, ruler }, { lines, value, cursor, goTo });

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
            {...AS_CODE}
            rows={Math.max(lines.length, MIN_LINES)}
            cols={columns}
            value={value}
            onInput={keys.onInput}
            onKeyDown={keys.onKeyDown}
            {...keys.follow}
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
      <AboutKeys id={`${id}-keys`} offered={completing.offered.length} />
    </div>
  );
}

/** @param offered words that are shown to choose from */
const AboutKeys = ({ id, offered }: { readonly id: string; readonly offered: number }) => (
  <>
    <p class="small quiet" id={id}>
      Ctrl+Space completes. Tab indents, Shift+Tab outdents; Escape, then Tab, leaves the text.
    </p>
    <span class="only-read" role="status">
      {offered > 0 ? `${offered} words can be written here` : ""}
    </span>
  </>
);

interface KeyProps extends CodeFieldProps {
  readonly area: { readonly current: HTMLTextAreaElement | null };
  readonly place: Place | undefined;
  readonly completing: ReturnType<typeof useCompletion>;
  readonly setCursor: (cursor: number) => void;
}

function useKeys({ area, place, completing, onValue, setCursor }: KeyProps) {
  /** Escape was the last key, and closed no list: Tab leaves. */
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
  const open = () => {
    setCursor(area.current?.selectionEnd ?? 0);
    completing.open();
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
    const isListed = completing.offered.length > 0;
    leaves.current = event.key === "Escape" && !isListed;
    const act = isListed
      ? listAct(event, completing, take)
      : textAct(event, { write, open, leaves: hasLeft });
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  const move = (event: { readonly currentTarget: HTMLTextAreaElement }) =>
    setCursor(event.currentTarget.selectionEnd);
  // Browsers tell of a selection, and not all of a cursor that moves.
  const follow = { onSelect: move, onKeyUp: move, onMouseUp: move, onFocus: move };
  return { onInput, onKeyDown, take, follow };
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
