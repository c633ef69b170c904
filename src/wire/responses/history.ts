/**
 * The history of responses that continue one another: what `previous_response_id` stands for is put before a request's own
 * input, as JSON text by position, so that a long conversation is not parsed for it.
 */
import type { History } from "../format.ts";
import { memberOf, skim } from "../json.ts";
import { expandInput, inputItems, type ResponsesRequest } from "./request.ts";

export const responsesHistory: History<ResponsesRequest> = {
  previousOf: ({ previousResponseId }) => previousResponseId,
  keeps: ({ store }) => store,
  expand: (request, items) => expandInput(request.bytes, request, items),
  // The expanded body does not say it, but the answer must.
  continuing: (read, { previousResponseId }) => ({ ...read, previousResponseId }),
  itemsAfter: (request, answer) =>
    [inputItems(request), outputItems(answer)].filter((items) => items !== "").join(","),
};

/**
 * JSON text of the items of a response's `output`, the inside of an array.
 * @param responseJson a response object as it was delivered, whole or streamed.
 */
export function outputItems(responseJson: string): string {
  const output = memberOf(skim(responseJson).members, "output");
  if (output === undefined || responseJson[output.valueStart] !== "[") return "";
  return responseJson.slice(output.valueStart + 1, output.valueEnd - 1).trim();
}
