/**
 * Items that a request only refers to (`item_reference`): clients that let responses be stored send ids of earlier items
 * instead of the items (Vercel's AI SDK, unless set to `store: false`). Only items kept here for the client's own project
 * are found: an upstream would resolve the items of everyone who shares its account.
 */
import { fail } from "../../errors.ts";
import type { ClientRequest } from "../format.ts";
import { type Edit, editedParts, type Member, memberOf, skim } from "../json.ts";
import { spansOf } from "../spans.ts";
import { stringAt } from "./items.ts";

/**
 * The request's body with the items in place of the references.
 * @param itemOf an item's JSON text by its id; undefined where it is not kept.
 * @throws WeirError 404 naming the item that is not kept, 413 where the body outgrows the bound.
 */
export function withItems(
  { bytes, members }: ClientRequest,
  itemOf: (id: string) => string | undefined,
  maxBytes: number,
): Buffer {
  const input = memberOf(members, "input") as Member;
  const list = bytes.toString("latin1", input.valueStart, input.valueEnd);
  const edits: Edit[] = [];
  let length = bytes.length;
  for (const [index, { start, end }] of spansOf(list).entries()) {
    const id = referenceOf(list.slice(start, end));
    if (id === undefined) continue;
    const text = itemOf(id);
    if (text === undefined) {
      throw fail("not_found", `There is no stored item "${id.slice(0, 100)}".`, { param: `/input/${index}` });
    }
    // A request may refer to the same item any number of times.
    length += text.length;
    if (length > maxBytes) {
      throw fail("payload_too_large", `With the items it names the body is larger than ${maxBytes} bytes.`);
    }
    edits.push({ start: input.valueStart + start, end: input.valueStart + end, text });
  }
  return Buffer.concat(editedParts(bytes, edits));
}

/** @param item JSON text. */
function referenceOf(item: string): string | undefined {
  if (!item.includes('"item_reference"') || !item.startsWith("{")) return undefined;
  const { members } = skim(item);
  return stringAt(item, members, "type") === "item_reference" ? stringAt(item, members, "id") : undefined;
}
