/**
 * Removes the thinking of other makers' models from a conversation for an upstream of the same dialect: Anthropic refuses
 * what it did not sign (T49). This gateway marked the thinking when it wrote it for the client (see `seals.ts`).
 */
import { append } from "../json/append.ts";
import { type Edit, type Member, memberOf, skim } from "../json/json.ts";
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
    append(
      edits,
      removeSpans(blocks, foreign).map((edit) => moved(edit, from)),
    );
    return false;
  });
  append(edits, removeSpans(spans, goes));
  return edits.map((edit) => moved(edit, messages.valueStart));
}

const moved = ({ start, end, text }: Edit, by: number): Edit => ({ start: start + by, end: end + by, text });

/** @param block JSON text */
function isForeign(block: string): boolean {
  if (!block.startsWith("{") || !FOREIGN.test(block)) return false;
  const { members } = skim(block);
  const jsonOf = (key: string) => {
    const member = memberOf(members, key);
    return member === undefined ? "" : block.slice(member.valueStart, member.valueEnd);
  };
  if (!THINKING.includes(jsonOf("type"))) return false;
  return FOREIGN_SEAL.test(jsonOf("signature")) || FOREIGN_SEAL.test(jsonOf("data"));
}
