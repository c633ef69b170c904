/**
 * Removes reasoning of other makers from a conversation for an upstream of the same dialect, by position in the JSON text:
 * OpenAI refuses reasoning that it did not write (T49).
 */
import { type Edit, jsonAt, skim } from "../json/json.ts";
import { removeSpans, spansOf } from "../json/spans.ts";

/** Ids of reasoning items that this gateway wrote: see `objects.ts`. */
const OWN_ID = /^"rs_[0-9A-HJKMNP-TV-Z]{26}_\d+"$/;
const FOREIGN_SEAL = /^"weir\.(anthropic|google)\./;

/**
 * Whether an item is reasoning that another maker than OpenAI sealed, or that this gateway wrote.
 * @param text JSON of the item.
 * @param isMoved the conversation comes from another provider, which alone can read its reasoning
 */
function isForeignReasoning(text: string, isMoved = false): boolean {
  if (!text.includes('"reasoning"') || !text.startsWith("{")) return false;
  const { members } = skim(text);
  if (jsonAt(text, members, "type") !== '"reasoning"') return false;
  if (isMoved || FOREIGN_SEAL.test(jsonAt(text, members, "encrypted_content"))) return true;
  return OWN_ID.test(jsonAt(text, members, "id"));
}

/** Edits that remove the foreign reasoning, and the indexes of those items. @param text JSON of the array */
export function withoutForeign(
  text: string,
  isMoved: boolean,
): { edits: readonly Edit[]; indexes: readonly number[] } {
  const spans = spansOf(text);
  const goes = spans.map(({ start, end }) => isForeignReasoning(text.slice(start, end), isMoved));
  const indexes = goes.flatMap((is, index) => (is ? [index] : []));
  return { edits: indexes.length === 0 ? [] : removeSpans(spans, goes), indexes };
}
