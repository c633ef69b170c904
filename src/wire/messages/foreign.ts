/**
 * Removes the thinking of other makers' models from a conversation for an upstream of the same dialect: Anthropic refuses
 * what it did not sign (T49). This gateway marked the thinking when it wrote it for the client (see `seals.ts`).
 */
import { append } from "../json/append.ts";
import { type Edit, jsonAt, type Member, memberOf, moved, skim } from "../json/json.ts";
import { removeSpans, spansOf } from "../json/spans.ts";

/** A seal of another maker as `seals.ts` writes it, with its opening quote. */
const FOREIGN = /"weir\.(?:google|openai|none)\./;
const FOREIGN_SEAL = new RegExp(`^${FOREIGN.source}`);
const THINKING: readonly string[] = ['"thinking"', '"redacted_thinking"'];

/**
 * Edits of the body that remove these blocks; a message that has no other blocks is removed as a whole.
 * @param messages the member of this name in `bytes`.
 */
export function withoutForeign(bytes: Buffer, messages: Member): Edit[] {
  const text = bytes.toString("latin1", messages.valueStart, messages.valueEnd);
  if (!FOREIGN.test(text)) return [];
  const spans = spansOf(text);
  const edits: Edit[] = [];
  const goes = spans.map(({ start, end }) => {
    const message = text.slice(start, end);
    const content = FOREIGN.test(message) ? memberOf(skim(message).members, "content") : undefined;
    if (content === undefined || message[content.valueStart] !== "[") return false;
    const from = start + content.valueStart;
    const list = text.slice(from, start + content.valueEnd);
    const blocks = spansOf(list);
    const foreign = blocks.map((block) => isForeign(list.slice(block.start, block.end)));
    if (!foreign.includes(false)) return true;
    append(edits, moved(removeSpans(blocks, foreign), from));
    return false;
  });
  append(edits, removeSpans(spans, goes));
  return moved(edits, messages.valueStart);
}

/** @param block JSON text */
function isForeign(block: string): boolean {
  if (!block.startsWith("{") || !FOREIGN.test(block)) return false;
  const { members } = skim(block);
  if (!THINKING.includes(jsonAt(block, members, "type"))) return false;
  return ["signature", "data"].some((key) => FOREIGN_SEAL.test(jsonAt(block, members, key)));
}
