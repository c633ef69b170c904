/** What Redis is told of one kept answer, stored response or conversation: see `scripts/exchange/70-answers.lua` and the next. */
import { Packr } from "msgpackr";
import type { Conversation, KeptAnswer, StoredResponse } from "../../../inference/exchange/kept/kept-rows.ts";
import type { Blobs, Operation } from "../exchange/exchange.ts";
import type { AnswerFacts } from "./claims.ts";

/** Bytes in Redis of all answers, of all responses, and of all conversations, unless somebody says otherwise. */
export const MOST_BYTES = 256 * 1024 * 1024;

/** As long as answers can be replayed, with an hour more: see `exchange/kept/idempotency.ts`. */
export const ANSWER_MS = 25 * 3_600_000;

const packr = new Packr({ useRecords: false });

/** The owner of responses as a part of names in Redis: without the `/` that separates parts, which clients may use in ids. */
export const ownerPart = (owner: string): string => owner.replaceAll("/", "~");

export const unpackResponse = (bytes: Buffer): StoredResponse => packr.unpack(bytes);

/** Where the bytes go, and for how long. */
export interface Keeping {
  readonly blobs: Blobs;
  readonly leftMs: number;
  readonly mostBytes: number;
}

export function answerOperation(
  id: string,
  { orgId = "", fingerprint, requestId, status, isStream, isNumbered, lost, body }: KeptAnswer,
  { blobs, leftMs, mostBytes }: Keeping,
): Operation {
  const facts: AnswerFacts = {
    requestId,
    status,
    isStream,
    ...(isNumbered && { isNumbered }),
    ...(lost && { lost }),
  };
  const blob = lost === undefined ? blobs.add(body) : 0;
  return ["answer", id, orgId, fingerprint, JSON.stringify(facts), leftMs, blob, mostBytes];
}

export function responseOperation(
  owner: string,
  id: string,
  response: StoredResponse,
  { blobs, leftMs, mostBytes }: Keeping,
): Operation {
  const blob = blobs.add(packr.pack(response));
  return ["response", ownerPart(owner), id, response.itemIds, leftMs, blob, mostBytes];
}

/** The name under which a conversation is claimed: no id of an `Idempotency-Key` has a `/`. */
export const claimOf = (owner: string, id: string): string => `c/${ownerPart(owner)}/${id}`;

export const packConversation = (conversation: Conversation): Buffer => packr.pack(conversation);
export const unpackConversation = (bytes: Uint8Array): Conversation => packr.unpack(bytes);

/** @param isKept whether Redis is given its bytes, too */
export function conversationOperation(
  owner: string,
  id: string,
  conversation: Conversation,
  { blobs, leftMs, mostBytes }: Keeping,
  isKept = true,
): Operation {
  const blob = isKept ? blobs.add(packConversation(conversation)) : 0;
  const { version } = conversation.head;
  return ["conversation", ownerPart(owner), id, claimOf(owner, id), version, leftMs, blob, mostBytes];
}
