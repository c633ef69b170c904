/**
 * Items that a request only refers to (`item_reference`): clients that let responses be stored send ids of earlier items
 * instead of the items (Vercel's AI SDK, unless set to `store: false`). Only items kept here for the client's own project
 * are found: an upstream would resolve the items of everyone who shares its account.
 */
import { fail } from "../../errors.ts";
import { type Edit, editedParts, type Member, memberOf, skim } from "../json.ts";
import { type Span, spansOf } from "../spans.ts";
import { stringAt } from "./items.ts";

/** Where a reference stands in the body, by bytes, and the item's id. */
export interface Reference extends Span {
  readonly index: number;
  readonly id: string;
}

/** More than a conversation has. Each is sought by itself, on the event loop. */
const MOST_REFERENCES = 4000;

/** The references of the input. @throws WeirError `invalid_value` beyond the bound */
export function referencesIn(bytes: Buffer, members: readonly Member[]): Reference[] {
  const input = memberOf(members, "input");
  if (input === undefined) return [];
  const list = bytes.toString("latin1", input.valueStart, input.valueEnd);
  const references: Reference[] = [];
  for (const [index, { start, end }] of spansOf(list).entries()) {
    const id = referenceOf(list.slice(start, end));
    if (id === undefined) continue;
    if (references.length === MOST_REFERENCES) {
      const message = `/input refers to more than ${MOST_REFERENCES} items.`;
      throw fail("invalid_value", message, { param: "/input" });
    }
    references.push({ index, id, start: input.valueStart + start, end: input.valueStart + end });
  }
  return references;
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
      throw fail("not_found", `There is no stored item "${id.slice(0, 100)}".`, { param: `/input/${index}` });
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

/** @param item JSON text. */
function referenceOf(item: string): string | undefined {
  if (!item.includes('"item_reference"') || !item.startsWith("{")) return undefined;
  const { members } = skim(item);
  return stringAt(item, members, "type") === "item_reference" ? stringAt(item, members, "id") : undefined;
}
