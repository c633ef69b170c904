/** Items of a response as JSON text, found by position: their strings are not decoded. */
import { type Member, memberOf, skim } from "../json/json.ts";
import { spansOf } from "../json/spans.ts";

/**
 * JSON text of the items of a response's `output`, the inside of an array.
 * @param responseJson a response object as it was delivered, whole or streamed.
 */
export function outputItems(responseJson: string): string {
  const output = memberOf(skim(responseJson).members, "output");
  if (output === undefined || responseJson[output.valueStart] !== "[") return "";
  return responseJson.slice(output.valueStart + 1, output.valueEnd - 1).trim();
}

/** The items of a response's `output` by id, JSON text. */
export function itemsById(responseJson: string): ReadonlyMap<string, string> {
  const items = new Map<string, string>();
  const list = `[${outputItems(responseJson)}]`;
  for (const { start, end } of spansOf(list)) {
    const item = list.slice(start, end);
    const id = stringAt(item, skim(item).members, "id");
    if (id !== undefined) items.set(id, item);
  }
  return items;
}

/** A member that is a string without escapes, such as an id. */
export function stringAt(text: string, members: readonly Member[], key: string): string | undefined {
  const member = memberOf(members, key);
  return member === undefined || text[member.valueStart] !== '"'
    ? undefined
    : text.slice(member.valueStart + 1, member.valueEnd - 1);
}
