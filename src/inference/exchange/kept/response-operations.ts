/** `GET` and `DELETE /v1/responses/{id}`, and its input items: stored responses of the key's project and environment. */
import { z } from "zod";
import { fail } from "../../../base/errors.ts";
import { raw } from "../../../base/operation/answer.ts";
import * as field from "../../../base/operation/fields.ts";
import { operation } from "../../../base/operation/operation.ts";
import { inputItemsSchema, responsesReplySchema } from "../../../wire/responses/schema.ts";
import type { InputItems } from "./input-items.ts";
import { MOST_QUOTED, type StoredResponses } from "./stored-responses.ts";

/** An id of any other form is of no response here: clients are told the same of those that were made elsewhere. */
const path = z.object({ id: z.string().describe("Its id.") });

export const listQuery = z.object({
  after: z.string().optional().describe("The page after this item."),
  before: z.string().optional().describe("The page before this item; with `after`, what is between them."),
  limit: z.coerce.number().int().min(1).max(100).default(20).describe("So many items at most."),
  order: z
    .enum(["asc", "desc"])
    .default("desc")
    .describe("By their place in the conversation; the last first unless `asc`."),
});

interface ResponseOperationsDeps {
  readonly responses: StoredResponses;
  readonly inputItems: InputItems;
}

export const responseOperations = ({ responses, inputItems }: ResponseOperationsDeps) => ({
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
      await responses.turns.next(caller.orgId);
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
      const page = await inputItems.page(caller, id, query);
      if (page === undefined) throw notFound(id);
      return raw("application/json", page);
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

const notFound = (id: string) =>
  fail("not_found", `There is no stored response "${id.slice(0, MOST_QUOTED)}".`, { param: "/id" });
