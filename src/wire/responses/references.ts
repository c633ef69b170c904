/**
 * Items that a request only refers to (`item_reference`): clients that let responses be stored send ids of earlier items
 * instead of the items (Vercel's AI SDK, unless set to `store: false`). Only items kept here for the client's own project
 * are found: an upstream would resolve the items of everyone who shares its account.
 */
import { fail } from "../../base/errors.ts";
import { elementSpans } from "../json/bytes.ts";
import { editedParts } from "../json/edited-bytes.ts";
import { type Edit, type Member, memberOf, utf8Of } from "../json/json.ts";
import type { Span } from "../json/spans.ts";
import { objectOf } from "../neutral/reader.ts";

/** Where a reference stands in the body, by bytes, and the item's id. */
export interface Reference extends Span {
  readonly index: number;
  readonly id: string;
}

/** More than a conversation has. Each is sought by itself, on the event loop. */
const MOST_REFERENCES = 4000;

/**
 * The references of the input.
 * @param items the input, parsed: latin1
 * @throws WeirError `invalid_value` beyond the bound
 */
export function referencesIn(bytes: Buffer, members: readonly Member[], items: unknown): Reference[] {
  if (!Array.isArray(items)) return [];
  const named: { readonly index: number; readonly id: string }[] = [];
  for (let index = 0; index < items.length; index++) {
    const id = referenceOf(items[index]);
    if (id === undefined) continue;
    if (named.length === MOST_REFERENCES) {
      const message = `/input refers to more than ${MOST_REFERENCES} items.`;
      throw fail("invalid_value", message, { param: "/input" });
    }
    named.push({ index, id: utf8Of(id) });
  }
  if (named.length === 0) return [];
  const { valueStart } = memberOf(members, "input") as Member;
  const spans = elementSpans(bytes, valueStart);
  return named.map(({ index, id }) => ({ index, id, ...(spans[index] as Span) }));
}

/**
 * The request's body with the items in place of the references.
 * @param itemOf an item's JSON text by its id; undefined where it is not kept.
 * @throws WeirError 404 naming the item that is not kept, 413 where the body outgrows the bound.
 */
export function withItems(
  { bytes, references }: { readonly bytes: Buffer; readonly references: readonly Reference[] },
  itemOf: (id: string) => string | undefined,
  maxBytes: number,
): Buffer {
  const edits: Edit[] = [];
  let length = bytes.length;
  for (const { index, id, start, end } of references) {
    const text = itemOf(id);
    if (text === undefined) {
      // As clients know it from OpenAI.
      const message = `Item with id '${id.slice(0, 100)}' not found. Items are kept of responses with \`store\` and of conversations; else send the item itself.`;
      throw fail("not_found", message, { param: `/input/${index}` });
    }
    // A request may refer to the same item any number of times.
    length += text.length;
    if (length > maxBytes) {
      throw fail("payload_too_large", `With the items it names the body is larger than ${maxBytes} bytes.`);
    }
    edits.push({ start, end, text });
  }
  return Buffer.concat(editedParts(bytes, edits));
}

/**
 * The id that an item refers to; undefined of other items. By the parsed item, since a text may be written with escapes. References
 * may leave their type out (`ItemReference` of https://platform.openai.com/docs/api-reference/responses/create), as messages may.
 */
function referenceOf(item: unknown): string | undefined {
  const { type, id, role, content } = objectOf(item);
  if (typeof id !== "string") return undefined;
  if (type !== undefined && type !== null) return type === "item_reference" ? id : undefined;
  const isMessage = typeof role === "string" && (typeof content === "string" || Array.isArray(content));
  return isMessage ? undefined : id;
}
