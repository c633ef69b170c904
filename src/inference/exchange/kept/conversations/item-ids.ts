/**
 * Ids that items of conversations get here. Each says which conversation has the item: a request that refers to it is answered by one
 * read, at any cell, and no index of all items is kept.
 */

/** An item's kind, its conversation, and the request that added it. At most 64 characters, as OpenAI's clients allow. */
const ITEM_ID = /^[a-z]{2,5}_([0-9A-Z]{26})_[0-9A-Z]{26}[hio]\d{1,5}$/;
const PREFIX = "conv_";

/** Who added items: a change by hand, or the input or the output of a response. Stored in ids, so the values must not change. */
export type ItemSource = "h" | "i" | "o";

/** Makes ids that no item of another request has. @param prefix says the kind of item: `msg` */
export function itemNamer(
  conversation: string,
  requestId: string,
  source: ItemSource,
): (prefix: string) => string {
  const ulid = conversation.slice(PREFIX.length);
  let count = 0;
  return (prefix) => `${prefix}_${ulid}_${requestId}${source}${count++}`;
}

/** The conversation that has an item, or had it; undefined where the id was not made here. */
export function conversationOfItem(id: string): string | undefined {
  const ulid = ITEM_ID.exec(id)?.[1];
  return ulid === undefined ? undefined : PREFIX + ulid;
}
