/** Changes that clients make by hand: each holds the conversation, and has room in the org's quota before it is stored. */
import type { OrgDataPolicy } from "../../../../account/org.ts";
import { fail, type WeirError } from "../../../../base/errors.ts";
import { requestId } from "../../../../base/ids.ts";
import type { Caller } from "../../../../base/operation/operation.ts";
import type { SharedTurns } from "../../../../base/turns/shared-turns.ts";
import type { KeptBytes } from "../../../../credits/kept/kept-bytes.ts";
import { KeptRoom } from "../../../../credits/kept/kept-pool.ts";
import {
  joinedItems,
  type KeptItems,
  keptItems,
  withoutItem,
} from "../../../../wire/responses/given-items.ts";
import type { Conversation } from "../kept-rows.ts";
import { keepsAnything, MOST_QUOTED } from "../stored-responses.ts";
import {
  type Changed,
  type ConversationKey,
  type Conversations,
  type ConversationsDeps,
  conversationBytes,
  notKept,
  SHARED_MS,
  unknownConversation,
} from "./conversations.ts";
import { itemNamer } from "./item-ids.ts";

export interface ChangesDeps extends Pick<ConversationsDeps, "store" | "clock"> {
  readonly conversations: Conversations;
  readonly turns: SharedTurns;
  readonly kept: Pick<KeptBytes, "pool" | "askOthers">;
  /** Port: of the org now; undefined where there is no such org. */
  readonly policyOf: (orgId: string) => OrgDataPolicy | undefined;
}

const NEVER_ANSWERED = { endpointId: "", provider: "", keyId: "" } as const;

export class ConversationChanges {
  readonly #deps: ChangesDeps;

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
  }

  /** @param metadata JSON text @param items JSON text, the inside of a list @throws WeirError 403 `plan_limit` */
  async create(caller: Caller, metadata: string, items: string): Promise<{ id: string; made: Changed }> {
    const { store, clock, conversations } = this.#deps;
    const key = this.#keyOf(caller);
    const id = conversations.newId();
    const made: Changed = {
      items: await this.#kept(caller, id, items),
      head: { createdS: Math.floor(clock.now() / 1000), metadata, ...NEVER_ANSWERED },
    };
    this.#assertSize(made);
    const room = await this.#room(key, conversationBytes(made));
    try {
      // Behind the quota: over cells it counts from now on, also if it is not stored.
      await conversations.assertRoomFor(key, id);
      await store.act(() => conversations.add(key, id, made));
    } finally {
      room.release();
    }
    await conversations.made(key, id);
    return { id, made };
  }

  /** @param metadata JSON text */
  update(caller: Caller, id: string, metadata: string): Promise<Changed> {
    return this.#change(caller, id, ({ head, items }) => ({ items, head: { ...head, metadata } }));
  }

  /** @returns the items that were added. @throws WeirError 400 where the conversation has one of them */
  async addItems(caller: Caller, id: string, items: string): Promise<KeptItems> {
    // Those that say an id must not be in the conversation: new ids would hide that.
    const added = await this.#kept(caller, id, items);
    await this.#change(caller, id, ({ head, items: before }) => {
      const ids = new Set(before.ids);
      if (added.ids.some((one) => ids.has(one))) throw alreadyThere();
      return { head, items: joinedItems(before, added) };
    });
    return added;
  }

  removeItem(caller: Caller, id: string, itemId: string): Promise<Changed> {
    return this.#change(caller, id, ({ head, items }) => {
      const index = items.ids.indexOf(itemId);
      if (index < 0) throw unknownItem(itemId);
      return { head, items: withoutItem(items, index) };
    });
  }

  async #change(caller: Caller, id: string, change: (found: Conversation) => Changed): Promise<Changed> {
    const { store, conversations } = this.#deps;
    const key = this.#keyOf(caller);
    const lock = await conversations.lock(key, id);
    try {
      const found = await conversations.get(key, id);
      const changed = change(found);
      this.#assertSize(changed);
      const room = await this.#room(key, Math.max(0, conversations.growth(key, id, changed)));
      try {
        const isStored = await store.act(() => conversations.change(key, id, changed, found.head.version));
        if (!isStored) throw unknownConversation(id);
      } finally {
        room.release();
      }
      await lock.shared(SHARED_MS);
      return changed;
    } finally {
      lock.release();
    }
  }

  #kept({ orgId }: Caller, id: string, items: string): Promise<KeptItems> {
    const { turns, clock } = this.#deps;
    const name = itemNamer(id, requestId(clock.now()), "h");
    return turns.run(
      orgId,
      keptItems(items, () => false, name),
    );
  }

  #assertSize(changed: Changed): void {
    if (this.#deps.conversations.fits(conversationBytes(changed), changed.items.ids.length)) return;
    throw fail("payload_too_large", "The conversation would be larger than one may be.", { param: "/items" });
  }

  /** @throws WeirError 403 `plan_limit` */
  async #room({ orgId, environment }: ConversationKey, bytes: number): Promise<KeptRoom> {
    const { kept } = this.#deps;
    const pool = kept.pool({ orgId, environment });
    if (!pool.fits(bytes) && pool.mayFitSoon(bytes)) await kept.askOthers();
    // No await between check and taking.
    if (pool.fits(bytes)) return new KeptRoom(pool, bytes);
    const message =
      `The organisation's quota for what is kept of calls with ${environment} keys has no room for this: ` +
      `${pool.bytes} of ${pool.maxBytes} bytes are kept. GET /v1/limits says what of (kept). ` +
      "Make room with DELETE /v1/conversations/{id} or /v1/responses/{id}.";
    throw fail("plan_limit", message, {
      details: {
        environment,
        bytes: pool.bytes,
        reserved_bytes: pool.reservedBytes,
        max_bytes: pool.maxBytes,
        needed_bytes: bytes,
      },
    });
  }

  /** @throws WeirError 400 where nothing of the org is kept */
  #keyOf({ orgId, projectId, environment }: Caller): ConversationKey {
    const dataPolicy = this.#deps.policyOf(orgId);
    if (dataPolicy === undefined || !keepsAnything(dataPolicy)) throw notKept();
    return { orgId, projectId, environment, dataPolicy };
  }
}

/** As at OpenAI. */
const alreadyThere = (): WeirError =>
  fail("item_already_in_conversation", "Item already in conversation", { param: "/items" });

export const unknownItem = (id: string): WeirError =>
  fail("not_found", `Item with id '${id.slice(0, MOST_QUOTED)}' not found.`);
