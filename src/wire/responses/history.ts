/**
 * The history of responses that continue one another: what `previous_response_id` stands for is put before a request's own
 * input, and items that it names take their place, as JSON text by position: a long conversation is not parsed for it.
 */
import type { History } from "../format.ts";
import { itemsById, outputItems } from "./items.ts";
import { withItems } from "./references.ts";
import { expandInput, inputItems, type ResponsesRequest } from "./request.ts";

export const responsesHistory: History<ResponsesRequest> = {
  previousOf: ({ previousResponseId }) => previousResponseId,
  keeps: ({ store }) => store,
  names: ({ hasReferences }) => hasReferences,
  named: withItems,
  itemsOf: itemsById,
  expand: (request, items) => expandInput(request.bytes, request, items),
  // The expanded body does not say it, but the answer must.
  continuing: (read, { previousResponseId }, by) => ({ ...read, previousResponseId, historyBy: by }),
  itemsAfter: (request, answer) =>
    [inputItems(request), outputItems(answer)].filter((items) => items !== "").join(","),
};
