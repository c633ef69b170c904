/** `GET` and `DELETE /v1/responses/{id}`: stored responses of the key's project and environment. */
import { z } from "zod";
import { fail } from "../../../base/errors.ts";
import { raw } from "../../../base/operation/answer.ts";
import * as field from "../../../base/operation/fields.ts";
import { operation } from "../../../base/operation/operation.ts";
import { responsesReplySchema } from "../../../wire/responses/schema.ts";
import type { StoredResponses } from "./stored-responses.ts";

const path = z.object({
  id: z
    .string()
    .regex(/^resp_[0-9A-HJKMNP-TV-Z]{26}$/, "use the id of a response")
    .describe("Its id."),
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

const notFound = (id: string) => fail("not_found", `There is no stored response "${id}".`, { param: "/id" });
