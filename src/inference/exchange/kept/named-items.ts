/**
 * The items that a request names by id: of the conversation that it goes on from, of stored responses, and of other conversations. Only
 * items of the key's project and environment are found. Ids are looked up before any text is read, so a request that
 * names an unknown item costs little.
 */
import type { KeyContext } from "../../../account/keyring.ts";
import { nextTurn } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import type { ClientRequest, History } from "../../../wire/format.ts";
import { type KeptItems, placesOf } from "../../../wire/responses/given-items.ts";
import type { Conversations } from "./conversations/conversations.ts";
import { conversationOfItem } from "./conversations/item-ids.ts";
import type { StoredResponses } from "./stored-responses.ts";

export interface NamedItemsDeps {
  readonly responses: StoredResponses;
  readonly conversations: Conversations;
  /** Maximum size of a request with the items that it names. */
  readonly maxBodyBytes: number;
}

/** Conversations that one request may name items of, beside its own. Each is read as a whole. */
const MOST_CONVERSATIONS = 16;

/**
 * JSON texts of the items, by id.
 * @param own items of the conversation that the request goes on from
 * @throws WeirError 404 at the first reference whose item is not kept, 413 where they are too large, 400 where they are of too many
 *   conversations; 503 where other cells may have one and cannot be asked
 */
export async function namedItems(
  deps: NamedItemsDeps,
  key: KeyContext,
  request: ClientRequest,
  history: History,
  own: KeptItems | undefined,
): Promise<ReadonlyMap<string, string>> {
  const found = new Found(deps.maxBodyBytes);
  const left = new Set(idsIn(request, history, deps.maxBodyBytes));
  if (own !== undefined) found.take(own, left);
  const inResponses = await deps.responses.responsesWith(key, [...left]);
  const inConversations = byConversation([...left].filter((id) => !inResponses.has(id)));
  const assertAll = (isThere: (id: string) => boolean): void => {
    if ([...left].every(isThere)) return;
    history.named(request, (id) => (!left.has(id) || isThere(id) ? "" : undefined), deps.maxBodyBytes);
  };
  assertAll((id) => inResponses.has(id) || conversationOfItem(id) !== undefined);
  await readConversations(deps, key, inConversations, left, found);
  assertAll((id) => inResponses.has(id));
  await readResponses(deps, key, history, inResponses, found);
  return found.texts;
}

/** The ids that a request names. */
function idsIn(request: ClientRequest, history: History, maxBytes: number): string[] {
  const ids: string[] = [];
  const note = (id: string) => {
    ids.push(id);
    return "";
  };
  history.named(request, note, maxBytes);
  return ids;
}

/** The texts so far, within the bound of all. */
class Found {
  readonly texts = new Map<string, string>();
  readonly #maxBytes: number;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws WeirError 413 */
  add(id: string, text: string): void {
    this.texts.set(id, text);
    this.#length += text.length;
    if (this.#length <= this.#maxBytes) return;
    const message = `With the items it names the body is larger than ${this.#maxBytes} bytes.`;
    throw fail("payload_too_large", message);
  }

  /** Adds the items of a conversation whose ids are in `left`, and removes these ids there. @throws WeirError 413 */
  take(kept: KeptItems, left: Set<string>): void {
    const { ids, spans } = placesOf(kept);
    for (const [index, id] of ids.entries()) {
      const span = spans[index];
      if (span === undefined || !left.delete(id)) continue;
      // A copy: a part of the text would keep all of it in memory.
      this.add(id, Buffer.from(kept.items.slice(span.start, span.end)).toString());
    }
  }
}

/** @throws WeirError 400 where they are too many */
function byConversation(ids: readonly string[]): ReadonlySet<string> {
  const conversations = new Set(ids.flatMap((id) => conversationOfItem(id) ?? []));
  if (conversations.size <= MOST_CONVERSATIONS) return conversations;
  const message = `/input refers to items of ${conversations.size} conversations. ${MOST_CONVERSATIONS} are allowed: send the items of others themselves.`;
  throw fail("invalid_value", message, { param: "/input" });
}

/** Adds the items of these conversations whose ids are in `left`, and removes these ids there. */
async function readConversations(
  { conversations, responses }: NamedItemsDeps,
  key: KeyContext,
  named: ReadonlySet<string>,
  left: Set<string>,
  found: Found,
): Promise<void> {
  for (const id of named) {
    // A row of megabytes takes milliseconds to read: those of many callers are not read in one turn.
    await responses.turns.next(key.orgId);
    const conversation = await conversations.find(key, id);
    if (conversation !== undefined) found.take(conversation.items, left);
  }
}

/** Each response is parsed once, however many of its items are named. */
async function readResponses(
  { responses }: NamedItemsDeps,
  key: KeyContext,
  history: History,
  inResponses: ReadonlyMap<string, string>,
  found: Found,
): Promise<void> {
  for (const id of new Set(inResponses.values())) {
    const stored = await responses.get(key, id);
    if (stored === undefined) continue;
    // Providers may repeat an item's id: it then stands for the item of the response that was stored last.
    for (const [item, text] of history.itemsOf(stored.response))
      if (inResponses.get(item) === id) found.add(item, text);
    await nextTurn();
  }
}
