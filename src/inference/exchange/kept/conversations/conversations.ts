/**
 * Conversations: items that clients keep here and go on from (`/v1/conversations`, `conversation` of responses). Whoever changes one
 * holds it until the change is stored; a call holds it from before its upstream is asked until the commit that charges it. A conversation
 * is its project's and environment's, and ends when it was not changed for as long as its org keeps payloads.
 */
import type { KeyContext } from "../../../../account/keyring.ts";
import { inTime, type Timers } from "../../../../base/clock.ts";
import { fail, type WeirError } from "../../../../base/errors.ts";
import { newId } from "../../../../base/ids.ts";
import { after, type MaybePromise } from "../../../../base/maybe-promise.ts";
import { DAY_MS } from "../../../../base/time.ts";
import type { KeptBytes, KeptOwner } from "../../../../credits/kept/kept-bytes.ts";
import type { Table } from "../../../../store/store.ts";
import {
  type ExpiringTable,
  type ExpiryPorts,
  openExpiringTable,
} from "../../../../store/tables/expiring-table.ts";
import { type KeptItems, NO_ITEMS } from "../../../../wire/responses/given-items.ts";
import type { Conversation, ConversationHead, SharedConversations } from "../kept-rows.ts";
import { MOST_QUOTED, ownerOf, type ResponseOwner } from "../stored-responses.ts";
import { Locks } from "./locks.ts";

/** Ids that may be of a conversation that was made here; others name none. */
const OWN_ID = /^conv_[0-9A-Z]{26}$/;
/** Who finds a conversation held waits so long for it. */
const WAIT_MS = 1000;
/** Between two questions whether another cell has let go of it. */
const AGAIN_MS = 50;
/** Who changed one by hand waits so long until other cells have it. */
export const SHARED_MS = 1000;
/** Items of one conversation. */
export const MOST_ITEMS = 10_000;

/** The table of heads, that of the days on which they expire, and that of items. */
export const CONVERSATION_TABLES = {
  rows: "conversations",
  periods: "conversation_days",
  periodMs: DAY_MS,
};
export const ITEMS_TABLE = "conversation_items";

/** Whose conversations, and for how long they are kept. */
export type ConversationKey = ResponseOwner &
  Pick<KeyContext, "orgId"> & {
    readonly dataPolicy: Pick<KeyContext["dataPolicy"], "retentionDays">;
  };

export interface ConversationsDeps extends ExpiryPorts {
  readonly timers: Timers;
  /** Most bytes of one. */
  readonly maxBytes: number;
  /** Most of one project and environment. */
  readonly most: number;
  /** The quota that they count in. */
  readonly kept: Pick<KeptBytes, "count">;
  /** Those of other cells; undefined in a gateway alone. */
  readonly shared?: SharedConversations | undefined;
}

/** What of a conversation a change says; the rest follows. */
export type Changed = Pick<Conversation, "items"> & {
  readonly head: Pick<ConversationHead, "createdS" | "metadata" | "endpointId" | "provider" | "keyId">;
};

/** A conversation that no other call changes meanwhile. */
export interface ConversationLock {
  /** Behind an act that stored it. Resolves once others can have it, or after this time; never rejects. Undefined in a gateway alone. */
  shared(withinMs: number): Promise<void> | undefined;
  /** Call it again without harm. */
  release(): void;
}

export class Conversations {
  readonly #deps: ConversationsDeps;
  /** `[owner, id]`. */
  readonly #heads: ExpiringTable<ConversationHead>;
  /** The same. */
  readonly #items: Table<KeptItems>;
  /** `[owner]`: how many it has here. */
  readonly #counts: Table<number>;
  readonly #locks: Locks;

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
    const { store, clock, timers, onFailure } = deps;
    this.#locks = new Locks(timers);
    this.#items = store.table(ITEMS_TABLE);
    this.#counts = store.table("conversation_counts");
    this.#heads = openExpiringTable({
      store,
      clock,
      onFailure,
      ...CONVERSATION_TABLES,
      isOver: ({ expiresMs }) => expiresMs <= clock.now(),
      onRemove: ([owner = "", id = ""], { orgId, bytes }) => {
        this.#items.remove([owner, id]);
        this.#countUp(owner, -1);
        this.#deps.kept.count(keptOwner(owner, orgId), "responses", -bytes);
      },
    });
  }

  /** Id of a new conversation. */
  newId(): string {
    return newId("conv", this.#deps.clock.now());
  }

  /** @throws WeirError 404 where there is none; 503 (as a rejection) where other cells may have it and cannot be asked */
  get(owner: ResponseOwner, id: string): MaybePromise<Conversation> {
    return after(this.find(owner, id), (found) => {
      if (found === undefined) throw unknownConversation(id);
      return found;
    });
  }

  /** @throws WeirError 503 as `get` */
  find(owner: ResponseOwner, id: string): MaybePromise<Conversation | undefined> {
    return after(this.#find(owner, id), (found) =>
      found === undefined || found.head.expiresMs <= this.#deps.clock.now() ? undefined : found,
    );
  }

  /** The same without the items. */
  head(owner: ResponseOwner, id: string): MaybePromise<ConversationHead> {
    if (this.#deps.shared !== undefined) return after(this.get(owner, id), ({ head }) => head);
    const head = OWN_ID.test(id) ? this.ownHead(ownerOf(owner), id) : undefined;
    if (head === undefined || head.expiresMs <= this.#deps.clock.now()) throw unknownConversation(id);
    return head;
  }

  #find(owner: ResponseOwner, id: string): MaybePromise<Conversation | undefined> {
    const { shared } = this.#deps;
    // Other cells are not asked for what no gateway has made.
    if (!OWN_ID.test(id)) return undefined;
    const name = ownerOf(owner);
    if (shared === undefined) return this.own(name, id);
    if (shared.isForgotten(name, id)) return undefined;
    return shared
      .newest(name, id, this.ownHead(name, id)?.version)
      .then((found) => (found === "own" ? this.own(name, id) : found));
  }

  ownHead(owner: string, id: string): ConversationHead | undefined {
    return this.#heads.get([owner, id]);
  }

  /** As this process stored it, newest or not, and not forgotten yet. */
  own(owner: string, id: string): Conversation | undefined {
    const head = this.ownHead(owner, id);
    return head && { head, items: this.#items.get([owner, id]) ?? NO_ITEMS };
  }

  /**
   * No other call changes the conversation until the lock is released.
   * @throws WeirError 400 `conversation_locked` (as a rejection) where another has it for long; 503 as `get`
   */
  async lock(owner: ResponseOwner, id: string): Promise<ConversationLock> {
    const name = ownerOf(owner);
    if (!OWN_ID.test(id)) throw unknownConversation(id);
    const whole = `${name}/${id}`;
    if (!(await this.#locks.take(whole, WAIT_MS))) throw locked();
    try {
      await this.#claimed(name, id);
    } catch (error) {
      this.#locks.free(whole);
      throw error;
    }
    return this.#lockOf(name, id, whole);
  }

  /** Resolves once no other cell may change it. */
  async #claimed(owner: string, id: string): Promise<void> {
    const { shared, clock, timers } = this.#deps;
    if (shared === undefined) return;
    const endMs = clock.monotonic() + WAIT_MS;
    while (!(await shared.claim(owner, id))) {
      if (clock.monotonic() >= endMs) throw locked();
      await new Promise<void>((resolve) => void timers.after(AGAIN_MS, resolve));
    }
  }

  #lockOf(owner: string, id: string, whole: string): ConversationLock {
    const { shared, timers } = this.#deps;
    let sharing: Promise<void> | undefined;
    let isReleased = false;
    return {
      shared(withinMs) {
        sharing ??= shared?.shared(owner, id);
        return sharing && inTime(sharing, withinMs, () => undefined, timers);
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        const free = () => this.#locks.free(whole);
        // What was stored ends the claim when others can have it.
        if (sharing !== undefined) {
          void sharing.then(free);
          return;
        }
        shared?.unclaim(owner, id);
        free();
      },
    };
  }

  /**
   * Whether one more may be made. Under way it counts already where other cells may make some, too.
   * @throws WeirError 403 `plan_limit`
   */
  async assertRoomFor(key: ConversationKey, id: string): Promise<void> {
    const { shared, most } = this.#deps;
    const owner = ownerOf(key);
    const isFree =
      shared === undefined
        ? (this.#counts.get([owner]) ?? 0) < most
        : await shared.mayAdd(owner, id, key.dataPolicy.retentionDays * DAY_MS, most);
    if (isFree) return;
    const message = `The project has ${most} conversations with ${key.environment} keys, as many as it may. Delete some.`;
    throw fail("plan_limit", message, { details: { environment: key.environment, max_conversations: most } });
  }

  /** Whether a conversation may become so large. */
  fits(bytes: number, items: number): boolean {
    return bytes <= this.#deps.maxBytes && items <= MOST_ITEMS;
  }

  /** Bytes that a change adds to what this process keeps. A conversation that another cell had is kept here from now on. */
  growth(owner: ResponseOwner, id: string, changed: Changed): number {
    return conversationBytes(changed) - (this.ownHead(ownerOf(owner), id)?.bytes ?? 0);
  }

  /** Only in an act: stores a new conversation. */
  add(key: ConversationKey, id: string, made: Changed): void {
    this.#put(key, id, made, 1);
  }

  /** Behind the act of `add`. Resolves once other cells can have it, or soon; never rejects. */
  async made(key: ConversationKey, id: string): Promise<void> {
    const { shared, timers } = this.#deps;
    if (shared !== undefined)
      await inTime(shared.shared(ownerOf(key), id), SHARED_MS, () => undefined, timers);
  }

  /**
   * Only in an act of whoever holds the lock. What was deleted meanwhile stays deleted.
   * @param version that was read under the lock @returns whether it was stored
   */
  change(key: ConversationKey, id: string, changed: Changed, version: number): boolean {
    const owner = ownerOf(key);
    const { shared } = this.#deps;
    const isGone =
      shared === undefined ? this.ownHead(owner, id) === undefined : shared.isForgotten(owner, id);
    if (isGone) return false;
    this.#put(key, id, changed, version + 1);
    return true;
  }

  #put(key: ConversationKey, id: string, changed: Changed, version: number): void {
    const { clock, kept, shared } = this.#deps;
    const { orgId, environment } = key;
    const { createdS, metadata, endpointId, provider, keyId } = changed.head;
    const owner = ownerOf(key);
    const before = this.ownHead(owner, id);
    const bytes = conversationBytes(changed);
    const expiresMs = clock.now() + key.dataPolicy.retentionDays * DAY_MS;
    const head = { orgId, createdS, metadata, version, bytes, expiresMs, endpointId, provider, keyId };
    this.#heads.put([owner, id], head, expiresMs);
    this.#items.put([owner, id], changed.items);
    if (before === undefined) this.#countUp(owner, 1);
    else kept.count({ orgId, environment }, "responses", -before.bytes);
    kept.count({ orgId, environment }, "responses", bytes);
    shared?.willShare(owner, id);
  }

  #countUp(owner: string, by: number): void {
    const count = (this.#counts.get([owner]) ?? 0) + by;
    if (count > 0) this.#counts.put([owner], count);
    else this.#counts.remove([owner]);
  }

  /** @throws as `get` */
  async remove(owner: ResponseOwner, id: string): Promise<void> {
    await this.head(owner, id);
    const { store, shared } = this.#deps;
    // As of a stored response.
    await store.act(() => {
      if (shared === undefined) this.removeOwn(ownerOf(owner), id);
      else shared.forget(ownerOf(owner), id);
    });
  }

  /** Only in an act: of what this process stored. */
  removeOwn(owner: string, id: string): void {
    this.#heads.remove([owner, id]);
  }

  /** Another cell has a newer version: the one here need not be kept. */
  async supersede(owner: string, id: string, version: number): Promise<void> {
    const isOld = () => (this.ownHead(owner, id)?.version ?? version) < version;
    if (!isOld()) return;
    await this.#deps.store.act(() => {
      if (isOld()) this.removeOwn(owner, id);
    });
  }

  /** Only in an act of a gateway alone: removes those of a project. Cells hear of it with its responses. @returns whether more are left */
  erase(projectId: string, most: number): boolean {
    if (this.#deps.shared !== undefined) return false;
    return [projectId, `${projectId}/test`].some((owner) => this.eraseOwn(owner, most));
  }

  /** Only in an act: of what this process stored. @returns whether more are left */
  eraseOwn(owner: string, most: number): boolean {
    return this.#heads.removeMembers([owner], most);
  }

  /** Deletes expired conversations. */
  sweep(): Promise<void> {
    return this.#heads.sweep();
  }

  close(): void {
    this.#heads.close();
  }
}

/** What a row takes beside its texts, and its id of each item. About. */
const ROW_BYTES = 500;
const ITEM_BYTES = 60;

/** Bytes that a conversation counts in the org's quota. */
export const conversationBytes = ({ head: { metadata }, items: { items, ids } }: Changed): number =>
  ROW_BYTES + Buffer.byteLength(metadata) + Buffer.byteLength(items) + ids.length * ITEM_BYTES;

const keptOwner = (owner: string, orgId: string): KeptOwner => ({
  orgId,
  environment: owner.endsWith("/test") ? "test" : "live",
});

/** Status and words as at OpenAI. */
export const unknownConversation = (id: string): WeirError =>
  fail("not_found", `Conversation with id '${id.slice(0, MOST_QUOTED)}' not found.`);

const locked = (): WeirError =>
  fail(
    "conversation_locked",
    "Another process is currently operating on this conversation. Please retry in a few seconds.",
    { param: "/conversation", retryAfterMs: 1000 },
  );

/** Nothing of the call may be kept. */
export const notKept = (): WeirError =>
  fail(
    "unsupported_option",
    "A conversation is kept, and by its data policy nothing of this call is. Send `store: false` to go on from the conversation without adding to it, or send the items themselves.",
    { param: "/conversation" },
  );
