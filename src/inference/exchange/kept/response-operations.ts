/** `GET` and `DELETE /v1/responses/{id}`, and its input items: stored responses of the key's project and environment. */
import { z } from "zod";
import { nextTurn } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import { raw } from "../../../base/operation/answer.ts";
import * as field from "../../../base/operation/fields.ts";
import { operation } from "../../../base/operation/operation.ts";
import { type GivenItems, givenItems, listedId, listedItem } from "../../../wire/responses/given-items.ts";
import { inputItemsSchema, responsesReplySchema } from "../../../wire/responses/schema.ts";
import type { StoredResponses } from "./stored-responses.ts";

/** An id of any other form is of no response here: clients are told the same of those that were made elsewhere. */
const path = z.object({ id: z.string().describe("Its id.") });

const listQuery = z.object({
  after: z.string().optional().describe("The page after this item."),
  limit: z.coerce.number().int().min(1).max(100).default(20).describe("So many items at most."),
  order: z
    .enum(["asc", "desc"])
    .default("desc")
    .describe("By their place in the conversation; the last first unless `asc`."),
});

export const responseOperations = ({ responses }: { readonly responses: StoredResponses }) => ({
  getResponse: operation({
    summary: "A stored response, as it was delivered",
    method: "GET",
    path: "/v1/responses/{id}",
    access: "inference",
    group: "Inference",
    params: path,
    output: responsesReplySchema,
    errors: ["not_found"],
    run: async ({ params: { id } }, caller) => {
      const found = await responses.get(caller, id);
      if (found === undefined) throw notFound(id);
      return raw("application/json", found.response);
    },
  }),
  listResponseInputItems: operation({
    summary: "The items that a stored response was made from, those of the conversation before it included",
    method: "GET",
    path: "/v1/responses/{id}/input_items",
    access: "inference",
    group: "Inference",
    params: path,
    query: listQuery,
    output: inputItemsSchema,
    errors: ["not_found"],
    run: async ({ params: { id }, query }, caller) => {
      const found = await responses.get(caller, id);
      if (found === undefined) throw notFound(id);
      return raw("application/json", await pageOf(givenItems(found.items, found.response), query));
    },
  }),
  deleteResponse: operation({
    summary: "Forget a stored response",
    method: "DELETE",
    path: "/v1/responses/{id}",
    access: "inference",
    group: "Inference",
    params: path,
    output: z.object({
      id: field.id,
      object: field.objectOf("response"),
      deleted: z.literal(true).describe("It is gone."),
    }),
    errors: ["not_found"],
    run: async ({ params: { id } }, caller) => {
      if (!(await responses.remove(caller, id))) throw notFound(id);
      return { id, object: "response" as const, deleted: true as const };
    },
  }),
});

const MOST_QUOTED = 100;

const notFound = (id: string) =>
  fail("not_found", `There is no stored response "${id.slice(0, MOST_QUOTED)}".`, { param: "/id" });

/** Each is read by itself, and an item may be long. */
const ITEMS_A_TURN = 64;

/** @throws WeirError 400 if no item has the id that the page is to follow */
async function pageOf(
  given: GivenItems,
  { after, limit, order }: z.output<typeof listQuery>,
): Promise<string> {
  const ids = new Set<string>();
  for (let index = 0; index < given.spans.length; index++) {
    ids.add(listedId(given, index, ids));
    if (index % ITEMS_A_TURN === ITEMS_A_TURN - 1) await nextTurn();
  }
  const all = [...ids].map((id, index) => ({ id, index }));
  if (order === "desc") all.reverse();
  const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) {
    const message = `The response was made from no item "${after.slice(0, MOST_QUOTED)}".`;
    throw fail("invalid_value", message, { param: "/after" });
  }
  const page = all.slice(from, from + limit);
  const data = page.map(({ id, index }) => listedItem(given, index, id));
  const idOf = (item: { readonly id: string } | undefined) => JSON.stringify(item?.id ?? null);
  return (
    `{"object":"list","data":[${data.join(",")}],"first_id":${idOf(page[0])},` +
    `"last_id":${idOf(page.at(-1))},"has_more":${from + limit < all.length}}`
  );
}
