/**
 * Items of a conversation by position in JSON text: what history is put together from, and what is taken out of it for an
 * upstream that could not read it. Item texts are not built.
 */
import { type Edit, memberOf, skim } from "../json.ts";
import { closingQuote } from "../json-string.ts";

/** Where an item of an array stands: `[start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 34;
const COMMA = 44;
const OPENERS = [91, 123];
const CLOSERS = [93, 125];

/**
 * The items of an array.
 * @param text valid JSON of the array, its brackets included.
 */
export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let depth = 0;
  let start = 0;
  const add = (end: number) => {
    const inside = text.slice(start, end);
    const from = start + inside.length - inside.trimStart().length;
    if (inside.trim() !== "") spans.push({ start: from, end: from + inside.trim().length });
  };
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = closingQuote(text, i + 1);
    else if (OPENERS.includes(c)) {
      if (++depth === 1) start = i + 1;
    } else if (CLOSERS.includes(c)) {
      if (--depth === 0) add(i);
    } else if (c === COMMA && depth === 1) {
      add(i);
      start = i + 1;
    }
  }
  return spans;
}

/** Removes the spans for which `goes` is true, each run of them with one of the commas around it. */
export function removeSpans(spans: readonly Span[], goes: readonly boolean[]): Edit[] {
  const edits: Edit[] = [];
  for (let first = 0; first < spans.length; first++) {
    if (goes[first] !== true) continue;
    let last = first;
    while (last + 1 < spans.length && goes[last + 1] === true) last++;
    const next = spans[last + 1];
    const before = next === undefined ? spans[first - 1]?.end : undefined;
    edits.push({
      start: before ?? (spans[first] as Span).start,
      end: next?.start ?? (spans[last] as Span).end,
      text: "",
    });
    first = last;
  }
  return edits;
}

/** Ids of reasoning items that this gateway wrote: see `objects.ts`. */
const OWN_ID = /^"rs_[0-9A-HJKMNP-TV-Z]{26}_\d+"$/;
const FOREIGN_SEAL = /^"weir\.(anthropic|google)\./;

/**
 * Whether an item is reasoning that another maker than OpenAI sealed, or that no upstream stores: OpenAI refuses a request
 * with reasoning that it did not write (T49).
 * @param text JSON of the item.
 * @param isMoved the conversation comes from another provider: none of its reasoning can be read here.
 */
function isForeignReasoning(text: string, isMoved = false): boolean {
  if (!text.includes('"reasoning"') || !text.startsWith("{")) return false;
  const { members } = skim(text);
  const jsonOf = (key: string) => {
    const member = memberOf(members, key);
    return member === undefined ? "" : text.slice(member.valueStart, member.valueEnd);
  };
  if (jsonOf("type") !== '"reasoning"') return false;
  return isMoved || FOREIGN_SEAL.test(jsonOf("encrypted_content")) || OWN_ID.test(jsonOf("id"));
}

/** Items without the foreign reasoning among them, and which they were. @param text JSON of the array. */
export function withoutForeign(
  text: string,
  isMoved: boolean,
): { edits: readonly Edit[]; indexes: readonly number[] } {
  const spans = spansOf(text);
  const goes = spans.map(({ start, end }) => isForeignReasoning(text.slice(start, end), isMoved));
  const indexes = goes.flatMap((is, index) => (is ? [index] : []));
  return { edits: indexes.length === 0 ? [] : removeSpans(spans, goes), indexes };
}

/**
 * JSON text of the items of a response's `output`, the inside of an array.
 * @param responseJson a response object as it was delivered, whole or streamed.
 */
export function outputItems(responseJson: string): string {
  const output = memberOf(skim(responseJson).members, "output");
  if (output === undefined || responseJson[output.valueStart] !== "[") return "";
  return responseJson.slice(output.valueStart + 1, output.valueEnd - 1).trim();
}
