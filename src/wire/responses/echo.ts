/**
 * The members of a response that repeat its request, with every member that the API's own objects have: what the client did not
 * send is filled in, and all else keeps the client's bytes, but for line ends (OpenAI API reference, "The response object"; the
 * schema of Open Responses, https://www.openresponses.org/specification).
 */
import { type ObjectMembers, objectsIn } from "../json/bytes.ts";
import {
  applyEdits,
  type Edit,
  jsonAt,
  latin1Json,
  type Member,
  memberOf,
  membersOf,
  setMember,
} from "../json/json.ts";
import { onOneLine, passingBytes } from "../json/latin1.ts";
import { nameOf } from "../json/scan.ts";
import type { Span } from "../json/spans.ts";
import type { ResponsesRequest } from "./request.ts";

/** Members that the API repeats, and their values if the client did not send them. */
const ECHOED = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  truncation: "disabled",
} as const;

const DEFAULTS: ReadonlyMap<string, string> = new Map(
  Object.entries(ECHOED).map(([key, value]) => [key, JSON.stringify(value)]),
);

/** The repeated members as they are written in an object: `"instructions":null,…`, latin1. */
export function echoOf(request: ResponsesRequest): string {
  const echoed: string[] = [];
  for (const [key, otherwise] of DEFAULTS) {
    const given = key === "max_output_tokens" ? limitOf(request) : memberJson(request, key);
    const value = given === undefined ? otherwise : (WHOLE.get(key)?.(given) ?? given);
    echoed.push(`"${key}":${value}`);
  }
  const user = memberJson(request, "user");
  if (user !== undefined) echoed.push(`"user":${user}`);
  const { conversationId } = request;
  if (conversationId !== undefined) echoed.push(`"conversation":${conversationJson(conversationId)}`);
  return echoed.join(",");
}

/** A response's `conversation`, latin1. */
export const conversationJson = (id: string): string => latin1Json({ id });

/** As the upstream was told. */
const limitOf = (request: ResponsesRequest): string | undefined =>
  request.outputLimit === undefined ? memberJson(request, "max_output_tokens") : String(request.outputLimit);

/**
 * Larger members are not repeated: their defaults are. A stream would send megabytes three times, and each time the event loop
 * would be kept from all others.
 */
const MOST_ECHOED_BYTES = 256 * 1024;

/** A member's JSON on one line, latin1; undefined if the client did not send it, sent null, or sent more than is repeated. */
function memberJson({ bytes, members }: ResponsesRequest, key: string): string | undefined {
  const member = memberOf(members, key);
  if (member === undefined || member.valueEnd - member.valueStart > MOST_ECHOED_BYTES) return undefined;
  const text = bytes.toString("latin1", member.valueStart, member.valueEnd);
  if (text === "null") return undefined;
  return onOneLine(text);
}

/** Members that an object must have, with the JSON text of each where the client has none. */
type Needed = Readonly<Record<string, string>>;

const REASONING: Needed = { effort: "null", summary: "null" };
const TEXT: Needed = { format: JSON.stringify(ECHOED.text.format) };
const JSON_SCHEMA: Needed = { description: "null", strict: "false" };
const ALLOWED_TOOLS: Needed = { mode: '"auto"' };
/** `strict` is null where the client left it to the upstream. */
const FUNCTION = {
  type: '"function"',
  description: "null",
  parameters: "null",
  strict: "null",
} satisfies Needed;

function wholeText(given: string): string {
  const text = filledIn(given, TEXT);
  const members = membersOf(text) ?? [];
  const format = jsonAt(text, members, "format");
  const inFormat = membersOf(format);
  if (inFormat === undefined || typeIn(format, inFormat) !== "json_schema") return text;
  return applyEdits(text, [setMember(text, members, "format", filledIn(format, JSON_SCHEMA, inFormat))]);
}

/** A choice may also be a word, or name a tool: these have all they need. */
function wholeChoice(given: string): string {
  const members = given.startsWith("{") ? membersOf(given) : undefined;
  const isList = members !== undefined && typeIn(given, members) === "allowed_tools";
  return isList ? filledIn(given, ALLOWED_TOOLS, members) : given;
}

/** Tools of other types are repeated as they are. A tool without a type is a function. */
function wholeTools(given: string): string {
  const bytes = passingBytes(given);
  if (bytes[0] !== OPEN_ARRAY) return given;
  // A body's lists are bounded, so what is filled in is, too.
  const edits = objectsIn(bytes, 0).flatMap((tool) => toolEdits(given, tool));
  return edits.length === 0 ? given : applyEdits(given, edits);
}

const OPEN_ARRAY = 91;
const FUNCTION_MEMBERS = Object.entries(FUNCTION);

/** What fills in a tool. @param text with the tool's members */
function toolEdits(text: string, { open, spans }: ObjectMembers): Edit[] {
  const names: string[] = [];
  const edits: Edit[] = [];
  for (let i = 0; i < spans.length; i += 2) {
    const { start, end } = spans[i] as Span;
    const name = nameOf(text, start, end - 1);
    // Readers disagree on which one counts.
    if (names.includes(name)) return [];
    names.push(name);
    if (name !== "type") continue;
    const type = spans[i + 1] as Span;
    const value = text.slice(type.start, type.end);
    if (value === "null") edits.push({ ...type, text: FUNCTION.type });
    else if (value !== FUNCTION.type && value.startsWith('"')) return [];
  }
  const missing = FUNCTION_MEMBERS.filter(([name]) => !names.includes(name));
  if (missing.length === 0) return edits;
  const members = missing.map(([name, value]) => `"${name}":${value}`).join(",");
  const at = spans.at(-1)?.end ?? open + 1;
  edits.push({ start: at, end: at, text: names.length === 0 ? members : `,${members}` });
  return edits;
}

/** An object's `type`; undefined where it has none. */
function typeIn(json: string, members: readonly Member[]): string | undefined {
  const type = jsonAt(json, members, "type");
  return type.startsWith('"') ? type.slice(1, -1) : undefined;
}

/** The object with what it needs and lacks, or has as null, at its end. Anything else as it is. */
function filledIn(json: string, needed: Needed, members = membersOf(json)): string {
  if (members === undefined) return json;
  const edits: Edit[] = [];
  for (const [name, value] of Object.entries(needed)) {
    const given = jsonAt(json, members, name);
    if (given === "" || (given === "null" && value !== "null")) {
      edits.push(setMember(json, members, name, value));
    }
  }
  if (members.length === 0) return `{${edits.map(({ text }) => text).join(",")}}`;
  return edits.length === 0 ? json : applyEdits(json, edits);
}

/** What fills a member in. */
const WHOLE: ReadonlyMap<string, (given: string) => string> = new Map([
  ["reasoning", (given) => filledIn(given, REASONING)],
  ["text", wholeText],
  ["tool_choice", wholeChoice],
  ["tools", wholeTools],
]);
