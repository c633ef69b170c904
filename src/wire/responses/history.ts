/**
 * The history of responses that continue one another. The items of `previous_response_id` are put before a request's own
 * input, and references are replaced by their items. Both work on JSON text by position: a long conversation is not parsed.
 */
import type { History } from "../format.ts";
import { itemsById, outputItems } from "./items.ts";
import { withItems } from "./references.ts";
import { expandInput, inputItems, type ResponsesRequest } from "./request.ts";

export const responsesHistory: History<ResponsesRequest> = {
  previousOf: ({ previousResponseId }) => previousResponseId,
  conversationOf: ({ conversationId }) => conversationId,
  keeps: ({ store }) => store,
  asksToKeep: ({ store, isStoreSaid }) => store && isStoreSaid,
  names: ({ references }) => references.length > 0,
  named: withItems,
  itemsOf: itemsById,
  expand: (request, items) => expandInput(request.bytes, request, items),
  // The expanded body has neither of both, but the answer must.
  continuing: (read, { previousResponseId, conversationId }, by) => ({
    ...read,
    previousResponseId,
    conversationId,
    historyBy: by,
  }),
  inputOf: inputItems,
  outputOf: outputItems,
  itemsAfter: (request, answer) =>
    [inputItems(request), outputItems(answer)].filter((items) => items !== "").join(","),
};
