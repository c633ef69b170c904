/** `/v1/conversations`: conversations of the key's project and environment, and their items, as OpenAI has them. */
import { z } from "zod";
import { raw } from "../../../../base/operation/answer.ts";
import * as field from "../../../../base/operation/fields.ts";
import { operation } from "../../../../base/operation/operation.ts";
import type { SharedTurns } from "../../../../base/turns/shared-turns.ts";
import { addedItems } from "../../../../wire/responses/added-items.ts";
import { inputItemsSchema } from "../../../../wire/responses/schema.ts";
import { itemPages, pageOf } from "../item-pages.ts";
import type { ConversationHead } from "../kept-rows.ts";
import { type ConversationChanges, unknownItem } from "./changes.ts";
import type { Conversations } from "./conversations.ts";
import { itemList, itemTexts, noPageAt } from "./listing.ts";

/** Items of one request. */
const MOST_ADDED = 20;
/** Bytes of one request: pictures are items, too. */
const MOST_BODY_BYTES = 8 * 1024 * 1024;

/** An id of any other form is of no conversation here. */
const path = z.object({ id: z.string().describe("Its id.") });
const itemPath = z.object({ id: path.shape.id, item_id: z.string().describe("The item's id.") });

const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, "at most 16 pairs")
  .nullable();
const METADATA = "Up to 16 texts of the client's, by names of up to 64 characters.";

const items = z
  .array(z.looseObject({ type: z.unknown().optional().describe("What kind of thing this is.") }))
  .max(MOST_ADDED);
const ITEMS = "Items as in `input` of `/v1/responses`, 20 at most. One without an id gets one.";

const conversationSchema = z.object({
  id: field.id,
  object: field.objectOf("conversation"),
  created_at: z.int().describe("When it was made; Unix time in seconds."),
  metadata: z.record(z.string(), z.string()).describe(METADATA),
});

const itemSchema = z.looseObject({
  id: field.id,
  type: z.string().optional().describe("What kind of thing this is."),
});

export interface ConversationOperationsDeps {
  readonly conversations: Conversations;
  readonly changes: ConversationChanges;
  readonly turns: SharedTurns;
}

export const conversationOperations = ({ conversations, changes, turns }: ConversationOperationsDeps) => ({
  createConversation: operation({
    summary: "Begin a conversation that responses go on from",
    method: "POST",
    path: "/v1/conversations",
    access: "inference",
    isChange: true,
    group: "Inference",
    maxBytes: MOST_BODY_BYTES,
    body: z.object({
      items: items.nullish().describe(`What it begins with. ${ITEMS}`),
      metadata: metadata.optional().describe(METADATA),
    }),
    output: conversationSchema,
    errors: ["unsupported_option", "plan_limit", "payload_too_large"],
    run: async ({ body }, caller) => {
      const text = addedItems(body.items ?? []);
      const { id, made } = await changes.create(caller, JSON.stringify(body.metadata ?? {}), text);
      return conversationWire(id, made.head);
    },
  }),
  getConversation: operation({
    summary: "A conversation",
    method: "GET",
    path: "/v1/conversations/{id}",
    access: "inference",
    group: "Inference",
    params: path,
    output: conversationSchema,
    errors: ["not_found"],
    run: async ({ params: { id } }, caller) => conversationWire(id, await conversations.head(caller, id)),
  }),
  updateConversation: operation({
    summary: "Give a conversation other metadata",
    method: "POST",
    path: "/v1/conversations/{id}",
    access: "inference",
    isChange: true,
    group: "Inference",
    params: path,
    body: z.object({ metadata: metadata.describe(`${METADATA} In place of those it has.`) }),
    output: conversationSchema,
    errors: ["not_found", "conversation_locked", "unsupported_option", "plan_limit"],
    run: async ({ params: { id }, body }, caller) => {
      const { head } = await changes.update(caller, id, JSON.stringify(body.metadata ?? {}));
      return conversationWire(id, head);
    },
  }),
  deleteConversation: operation({
    summary: "Forget a conversation with its items, also while a response goes on from it",
    method: "DELETE",
    path: "/v1/conversations/{id}",
    access: "inference",
    group: "Inference",
    params: path,
    output: z.object({
      id: field.id,
      object: field.objectOf("conversation.deleted"),
      deleted: z.literal(true).describe("It is gone."),
    }),
    errors: ["not_found"],
    run: async ({ params: { id } }, caller) => {
      await conversations.remove(caller, id);
      return { id, object: "conversation.deleted" as const, deleted: true as const };
    },
  }),
  createConversationItems: operation({
    summary: "Add items to a conversation",
    method: "POST",
    path: "/v1/conversations/{id}/items",
    access: "inference",
    isChange: true,
    group: "Inference",
    maxBytes: MOST_BODY_BYTES,
    params: path,
    body: z.object({ items: items.min(1).describe(ITEMS) }),
    output: inputItemsSchema,
    errors: [
      "not_found",
      "conversation_locked",
      "item_already_in_conversation",
      "unsupported_option",
      "plan_limit",
      "payload_too_large",
    ],
    run: async ({ params: { id }, body }, caller) => {
      const added = await changes.addItems(caller, id, addedItems(body.items));
      const all = { indices: [...added.ids.keys()], hasMore: false };
      return raw("application/json", await itemList(turns, caller.orgId, added, all));
    },
  }),
  listConversationItems: operation({
    ...itemPages,
    summary: "The items of a conversation",
    path: "/v1/conversations/{id}/items",
    params: path,
    run: async ({ params: { id }, query }, caller) => {
      await turns.next(caller.orgId);
      const { items: kept } = await conversations.get(caller, id);
      const page = pageOf(kept, query, noPageAt);
      return raw("application/json", await itemList(turns, caller.orgId, kept, page));
    },
  }),
  getConversationItem: operation({
    summary: "An item of a conversation",
    method: "GET",
    path: "/v1/conversations/{id}/items/{item_id}",
    access: "inference",
    group: "Inference",
    params: itemPath,
    output: itemSchema,
    errors: ["not_found"],
    run: async ({ params: { id, item_id: itemId } }, caller) => {
      await turns.next(caller.orgId);
      const { items: kept } = await conversations.get(caller, id);
      const index = kept.ids.indexOf(itemId);
      if (index < 0) throw unknownItem(itemId);
      const [item = ""] = await itemTexts(turns, caller.orgId, kept, [index]);
      return raw("application/json", item);
    },
  }),
  deleteConversationItem: operation({
    summary: "Take an item out of a conversation",
    method: "DELETE",
    path: "/v1/conversations/{id}/items/{item_id}",
    access: "inference",
    isChange: true,
    group: "Inference",
    params: itemPath,
    output: conversationSchema,
    errors: ["not_found", "conversation_locked", "unsupported_option", "plan_limit"],
    run: async ({ params: { id, item_id: itemId } }, caller) =>
      conversationWire(id, (await changes.removeItem(caller, id, itemId)).head),
  }),
});

const conversationWire = (
  id: string,
  { createdS, metadata: pairs }: Pick<ConversationHead, "createdS" | "metadata">,
) => ({
  id,
  object: "conversation" as const,
  created_at: createdS,
  metadata: JSON.parse(pairs) as Record<string, string>,
});
