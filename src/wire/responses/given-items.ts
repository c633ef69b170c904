/**
 * The items that a stored response was made from, each with an id, as OpenAI lists them (API reference, "List input items"). They are found
 * by position in the stored text, and stay as they were sent but for what the list promises: an id, a type, and the content of a message
 * as a list of parts.
 */
import { createHash } from "node:crypto";
import { applyEdits, type Edit, type Member, memberOf, skim } from "../json/json.ts";
import { type Span, spansOf } from "../json/spans.ts";
import { outputItems, stringAt } from "./items.ts";

/** The items of a conversation as one JSON text, and where each of them stands. */
export interface GivenItems {
  readonly text: string;
  readonly spans: readonly Span[];
}

/**
 * Those before the response's own output.
 * @param items of the conversation with the response, without the brackets of the array
 * @param response as delivered, JSON text
 */
export function givenItems(items: string, response: string): GivenItems {
  const made = outputItems(response);
  const given = made !== "" && items.endsWith(made) ? items.slice(0, items.length - made.length) : items;
  const text = `[${given.trimEnd().replace(/,$/, "")}]`;
  return { text, spans: spansOf(text) };
}

const textOf = ({ text, spans }: GivenItems, index: number): string => {
  const { start, end } = spans[index] as Span;
  return text.slice(start, end);
};

const typeOf = (item: string, members: readonly Member[]): string =>
  stringAt(item, members, "type") ?? (memberOf(members, "role") === undefined ? "" : "message");

/** Ids as providers give them. */
const ID = /^[\w.:-]{1,256}$/;

/**
 * The id of an item as it is listed. One that was sent without an id gets one by its place and its text, which is alike in every response
 * that continues the conversation; so does one whose id another item has: pages go by ids.
 * @param index its place in the conversation
 * @param others ids of the items before it
 */
export function listedId(given: GivenItems, index: number, others: ReadonlySet<string>): string {
  const item = textOf(given, index);
  const { members } = skim(item);
  const own = stringAt(item, members, "id");
  if (own !== undefined && ID.test(own) && !others.has(own)) return own;
  const hash = createHash("sha256").update(`${index}:${item}`).digest("hex").slice(0, 32);
  return `${PREFIXES[typeOf(item, members)] ?? "item"}_${hash}`;
}

/** JSON text of an item as it is listed under an id. @param index its place in the conversation */
export function listedItem(given: GivenItems, index: number, id: string): string {
  const item = textOf(given, index);
  const { members } = skim(item);
  const edits: Edit[] = [];
  const set = (key: string, value: string) => {
    const member = memberOf(members, key);
    const at = item.indexOf("{") + 1;
    if (member === undefined) edits.push({ start: at, end: at, text: `"${key}":${value},` });
    else edits.push({ start: member.valueStart, end: member.valueEnd, text: value });
  };
  if (stringAt(item, members, "id") !== id) set("id", JSON.stringify(id));
  if (typeOf(item, members) === "message") {
    if (memberOf(members, "type") === undefined) set("type", '"message"');
    const content = memberOf(members, "content");
    if (content !== undefined && item[content.valueStart] === '"') {
      const said = item.slice(content.valueStart, content.valueEnd);
      const isAnswer = stringAt(item, members, "role") === "assistant";
      set("content", isAnswer ? outputText(said) : `[{"type":"input_text","text":${said}}]`);
    }
  }
  return applyEdits(item, edits);
}

const outputText = (said: string): string => `[{"type":"output_text","text":${said},"annotations":[]}]`;

/** As ids of such items begin at OpenAI. */
const PREFIXES: Readonly<Record<string, string | undefined>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
};
