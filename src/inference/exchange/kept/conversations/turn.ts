/**
 * The turn that a call adds to its conversation: its own input, and its answer. It is part of the commit that settles the call, so a crash
 * leaves both or neither. A call that failed, or was cancelled, adds nothing.
 */
import { fail } from "../../../../base/errors.ts";
import type { Sliced } from "../../../../base/turns/shared-turns.ts";
import type { ClientRequest, History } from "../../../../wire/format.ts";
import { joinedItems, type KeptItems, keptItems, NO_ITEMS } from "../../../../wire/responses/given-items.ts";
import type { Call, ConversationTurn, KeptWriter } from "../../call.ts";
import type { Conversation } from "../kept-rows.ts";
import {
  type Changed,
  type ConversationLock,
  type Conversations,
  conversationBytes,
} from "./conversations.ts";
import { itemNamer } from "./item-ids.ts";

/** Warning of a call whose turn was not added: its answer was larger than expected, and there was no more room. */
const NOT_EXTENDED = "conversation_not_extended";

/** The last bytes of an answer wait so long until other cells have the turn. */
const LAST_BYTES_MS = 50;

export class CallTurn implements ConversationTurn {
  readonly #conversations: Conversations;
  readonly #id: string;
  readonly #before: Conversation;
  readonly #lock: ConversationLock;
  /** The conversation with the input. */
  #asked: KeptItems;

  constructor(conversations: Conversations, id: string, before: Conversation, lock: ConversationLock) {
    this.#conversations = conversations;
    this.#id = id;
    this.#before = before;
    this.#lock = lock;
    this.#asked = before.items;
  }

  /**
   * Notes what the client says in this turn.
   * @param run does the work in slices @throws WeirError 413 where the conversation would be too large
   */
  async take(
    { requestId }: Call,
    history: History,
    request: ClientRequest,
    run: <T>(work: Sliced<T>) => Promise<T>,
  ): Promise<void> {
    const input = await run(
      keptItems(history.inputOf(request), this.#has(), itemNamer(this.#id, requestId, "i")),
    );
    this.#asked = joinedItems(this.#before.items, input);
    if (this.#fits(this.#asked)) return;
    const message = "The conversation would be too large to be kept: begin a new one, or delete items of it.";
    throw fail("payload_too_large", message, { param: "/conversation" });
  }

  growthBytes({ key }: Call): number {
    return this.#conversations.growth(key, this.#id, { head: this.#before.head, items: this.#asked });
  }

  writer(call: Call, history: History, answer: string): KeptWriter | undefined {
    const { key, endpoint, lane, requestId } = call;
    const output = outputOf(history, answer, this.#has(), itemNamer(this.#id, requestId, "o"));
    const items = joinedItems(this.#asked, output);
    const { createdS, metadata } = this.#before.head;
    const answered = { endpointId: endpoint?.id ?? "", provider: endpoint?.provider.id ?? "" };
    const changed: Changed = { items, head: { createdS, metadata, ...answered, keyId: lane?.key.id ?? "" } };
    const isSmall = this.#fits(items);
    if (!isSmall || call.keptRoom?.use(this.#conversations.growth(key, this.#id, changed)) === false) {
      // The answer is written already: the record says so.
      call.warnings.push(`${NOT_EXTENDED}: ${isSmall ? "quota" : "size"}`);
      return undefined;
    }
    let isStored = false;
    return {
      put: () => {
        isStored = this.#conversations.change(key, this.#id, changed, this.#before.head.version);
      },
      // What was deleted meanwhile is not sent to others, which would end the claim: the release of the lock ends it.
      shared: () => (isStored ? this.#lock.shared(LAST_BYTES_MS) : undefined),
    };
  }

  release(): void {
    this.#lock.release();
  }

  #fits(items: KeptItems): boolean {
    return this.#conversations.fits(conversationBytes({ head: this.#before.head, items }), items.ids.length);
  }

  #has(): (id: string) => boolean {
    const ids = new Set(this.#asked.ids);
    return (id) => ids.has(id);
  }
}

/** No items of a provider's answer that cannot be parsed: it is delivered all the same. */
function outputOf(
  history: History,
  answer: string,
  has: (id: string) => boolean,
  newId: (prefix: string) => string,
): KeptItems {
  try {
    const work = keptItems(history.outputOf(answer), has, newId);
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
    }
  } catch {
    return NO_ITEMS;
  }
}
