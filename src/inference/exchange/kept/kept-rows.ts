/**
 * Answers and conversations that outlive their calls, and what the cells of one installation know of each other's: each has in its folder what it answered
 * itself. A gateway alone shares nothing.
 */
import type { KeptItems } from "../../../wire/responses/given-items.ts";
import type { NotKeptReason } from "../call.ts";

/** An answer as the client received it. */
export interface KeptAnswer {
  /** Absent in rows of release 0.1.0, which are gone after a day. */
  readonly orgId?: string;
  /** The call had a test key. Absent also in rows of releases that did not say so. */
  readonly isTest?: boolean;
  /** SHA-256 of the request's body. */
  readonly fingerprint: string;
  readonly requestId: string;
  readonly status: number;
  readonly isStream: boolean;
  /** Its call was detached: its events have numbers, which `body` leaves out. Absent: they have none. */
  readonly isNumbered?: boolean;
  /** Why it cannot be replayed; undefined if it can. */
  readonly lost?: LostReason;
  readonly body: Uint8Array;
}

/**
 * `large`: it exceeded the size limit. `evicted`: newer ones took its place. `retired`: a gateway that never came back had the key, and
 * it is not known whether it answered. `broken_off`: its process was killed, and what it had said by then was charged.
 */
export type LostReason = NotKeptReason | "large" | "evicted" | "retired" | "broken_off";

/**
 * An answer that other cells are told of is known to them for so long at least, however old it seems: it was charged, and a clock that
 * was set must not free its key.
 */
export const LEAST_ANSWER_MS = 3_600_000;

/** How far the call of a background response is. `in_progress` also before its upstream is asked. */
export type BackgroundStatus = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** Where a call runs: with that life of that cell it ends. Both are empty in a gateway alone. */
export interface Place {
  readonly cell: string;
  readonly life: string;
}

export interface BackgroundRun extends Place {
  readonly status: BackgroundStatus;
}

export interface StoredResponse {
  /** Absent in rows of releases that knew the project only. */
  readonly orgId?: string;
  /** The response as delivered, JSON text. */
  readonly response: string;
  /** The endpoint that answered. */
  readonly endpointId: string;
  readonly provider: string;
  /** Id of the provider key that it was made with: only with that key can its sealed content be read. */
  readonly keyId: string;
  /** Ids of the items of its output. */
  readonly itemIds: readonly string[];
  /** The conversation including this response: JSON text of items, without the brackets of the array. */
  readonly items: string;
  /** Absent where its client waited for it. */
  readonly background?: BackgroundRun;
  readonly expiresMs: number;
}

/** A call has the key. */
export interface Running {
  readonly kind: "running";
  readonly fingerprint: string;
  /** The id of that call; undefined where a gateway of the release before has it, which does not say it. */
  readonly requestId: string | undefined;
  /** The cell that has that call; absent: this process has it. */
  readonly cell?: string;
}

export type Claimed =
  | { readonly kind: "first" }
  | Running
  | { readonly kind: "answered"; readonly answer: KeptAnswer };

/** What is known of an answer that has no bytes any more. `orgId`: "" where it is not known. */
export type SharedAnswer = Required<Pick<KeptAnswer, "orgId" | "fingerprint">>;

/** Keys of `Idempotency-Key` over all cells. */
export interface SharedAnswers {
  /**
   * @param requestId of the call that would answer the key
   * @throws WeirError 503 (as a rejection) where it cannot be known in time: nobody has claimed the key then
   */
  claim(id: string, fingerprint: string, requestId: string): Promise<Claimed>;
  /** The call ended without an answer that is kept. Resolves once others know it, or soon; never rejects. */
  unclaim(id: string): Promise<void>;
  /** In the act that stores the answer here: others get it, whatever happens to this process. */
  willShare(id: string, answer: SharedAnswer): void;
  /** Behind that act. Resolves once others can have the answer, or soon; never rejects. */
  shared(id: string): Promise<void>;
  /** In an act: no cell has answers of the org any more. */
  forget(orgId: string): void;
}

/** Stored responses over all cells. */
export interface SharedResponses {
  /** This cell. */
  readonly place: Place;
  /**
   * Whether nothing more will be told of what that life of a cell did: it was retired, or a later one has told all that was left. A cell
   * that is away, or is just coming back, has the truth in its folder. @throws as `get`
   */
  isOver(place: Place): Promise<boolean>;
  /** `[owner, id]` of those of this cell whose last state the others may not have. */
  unsent(): readonly (readonly [owner: string, id: string])[];
  /** As the others have one of this cell. @throws as `get` */
  told(owner: string, id: string): Promise<StoredResponse | undefined>;
  /** @throws WeirError 503 (as a rejection) where it cannot be known in time */
  get(owner: string, id: string): Promise<StoredResponse | undefined>;
  /** The responses that have these items, by item. @throws as `get` */
  responsesWith(owner: string, itemIds: readonly string[]): Promise<Map<string, string>>;
  willShare(owner: string, id: string): void;
  shared(owner: string, id: string): Promise<void>;
  /** Whether an act of any cell deleted it, or all of its owner's. */
  isForgotten(owner: string, id: string): boolean;
  /** In an act: no cell has the response any more. */
  forget(owner: string, id: string): void;
  /** In an act: no cell has responses of the owner any more. */
  forgetAll(owner: string): void;
}

export interface ConversationHead {
  readonly orgId: string;
  /** Unix time in seconds. */
  readonly createdS: number;
  /** JSON text of an object of strings. */
  readonly metadata: string;
  /** Counts changes, from 1. */
  readonly version: number;
  /** What it counts in its org's quota. */
  readonly bytes: number;
  /** Wall clock. */
  readonly expiresMs: number;
  /** The endpoint that answered last, its provider, and the id of the provider's key; all empty before an answer. */
  readonly endpointId: string;
  readonly provider: string;
  readonly keyId: string;
}

export interface Conversation {
  readonly head: ConversationHead;
  readonly items: KeptItems;
}

/** Conversations over all cells. A name is that of the owner and the conversation's id. */
export interface SharedConversations {
  /**
   * Before a conversation is made: whether its owner has fewer than `most`.
   * @param leftMs how long it is kept
   * @throws WeirError 503 (as a rejection) where it cannot be known in time
   */
  mayAdd(owner: string, id: string, leftMs: number, most: number): Promise<boolean>;
  /** Whether this cell may change it now: no other does. @throws as `mayAdd` */
  claim(owner: string, id: string): Promise<boolean>;
  /** It was not changed. This cell may claim it again at once. */
  unclaim(owner: string, id: string): void;
  /**
   * The newest version; `own` where this cell has it; undefined where there is none.
   * @param ownVersion of this cell's row
   * @throws WeirError 503 (as a rejection) where it cannot be known in time
   */
  newest(
    owner: string,
    id: string,
    ownVersion: number | undefined,
  ): Promise<Conversation | "own" | undefined>;
  /** In the act that stores a version: others get it, whatever happens to this process. */
  willShare(owner: string, id: string): void;
  /** Behind that act. Resolves once others can have it, which ends the claim, however long that takes; never rejects. */
  shared(owner: string, id: string): Promise<void>;
  /** Whether an act of any cell deleted it, or all of its owner's. */
  isForgotten(owner: string, id: string): boolean;
  /** In an act: no cell has it any more. */
  forget(owner: string, id: string): void;
}

/** What a cell's folder has, for the part that shares it. */
export interface OwnRows {
  answer(id: string): KeptAnswer | undefined;
  response(owner: string, id: string): StoredResponse | undefined;
  /** In an act. @returns whether more of them are left */
  eraseAnswers(orgId: string, most: number): boolean;
  /** In an act. */
  removeResponse(owner: string, id: string): void;
  /** In an act: conversations too. @returns whether more of them are left */
  eraseResponses(owner: string, most: number): boolean;
  /** As this cell stored it last. */
  conversation(owner: string, id: string): Conversation | undefined;
  /** In an act. */
  removeConversation(owner: string, id: string): void;
  /** Another cell has this version, and an older one need not be kept here. */
  supersede(owner: string, id: string, version: number): Promise<void>;
}
