/**
 * Items that a client adds to a conversation by hand. They are read as the input of a request is, so that none is kept which no later
 * request could be made with (OpenAI API reference, "Create items").
 */
import { fail, WeirError } from "../../base/errors.ts";
import { quotingNoMarks, sourceOf } from "../relay/translate.ts";
import { responsesFormat } from "./format.ts";
import { responsesNeutral } from "./neutral-request.ts";

/**
 * JSON text of the items, the inside of a list.
 * @param items as they were parsed
 * @throws WeirError 400 with a pointer to what is wrong: `/items/0/content`
 */
export function addedItems(items: readonly unknown[]): string {
  const text = items.map((item) => JSON.stringify(item)).join(",");
  if (text === "") return text;
  const body = Buffer.from(`{"model":"weir","input":[${text}]}`);
  try {
    const request = responsesFormat.read(body);
    // References are refused by what follows: an item is kept itself.
    const { generation } = responsesFormat;
    if (generation !== undefined)
      quotingNoMarks(() => responsesNeutral(request, sourceOf(generation, request)));
  } catch (error) {
    throw ofItems(error);
  }
  return text;
}

/** The same error, of `items` in place of `input`. */
function ofItems(error: unknown): unknown {
  if (!(error instanceof WeirError)) return error;
  const { kind, message, param, details } = error;
  return fail(kind, message.replaceAll("/input", "/items"), {
    ...(param !== undefined && { param: param.replace(/^\/input/, "/items") }),
    ...(details !== undefined && { details }),
  });
}
