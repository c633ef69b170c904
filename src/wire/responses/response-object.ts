/**
 * The response object of a translated answer: our members, and those that the API repeats from the request, with the API's
 * defaults for members that the client did not send. Repeated members are the client's bytes, unchanged but for line ends.
 */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import { applyEdits, jsonAt, memberOf, setMember, skim } from "../json/json.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import type { ResponsesRequest } from "./request.ts";
import type { IncompleteReason } from "./stop.ts";
import { writeResponsesUsage } from "./usage.ts";

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
  truncation: "disabled",
} as const;

const DEFAULTS: ReadonlyMap<string, string> = new Map(
  Object.entries(ECHOED).map(([key, value]) => [key, JSON.stringify(value)]),
);

/** Members that are the same in every state of a response. */
const headOf = (request: ResponsesRequest, { id, createdS, model }: AnswerIdentity) => ({
  id,
  object: "response" as const,
  created_at: createdS,
  model,
  background: false,
  error: null,
  previous_response_id: request.previousResponseId ?? null,
  service_tier: "default" as const,
  store: request.store,
  access_programs: null,
});

export type ResponseHead = ReturnType<typeof headOf>;

/** Members that differ between states, except the output. */
const stateOf = (reason: IncompleteReason | undefined) => ({
  status: reason === undefined ? ("completed" as const) : ("incomplete" as const),
  incomplete_details: reason === undefined ? null : { reason },
});

export type ResponseState = ReturnType<typeof stateOf>;

export class ResponseObject {
  /** latin1, without its last brace. */
  readonly #head: string;

  constructor(request: ResponsesRequest, identity: AnswerIdentity) {
    const head = latin1OfJson(headOf(request, identity));
    this.#head = `${head.slice(0, -1)},${echoOf(request)}`;
  }

  /** The response before any output. */
  begun(): string {
    return `${this.#head},"status":"in_progress","incomplete_details":null,"output":[],"usage":null}`;
  }

  /** The finished response, latin1. @param items JSON of the output @param svc JSON */
  ended(items: readonly string[], reason: IncompleteReason | undefined, usage: Usage, svc: string): string {
    const state = JSON.stringify(stateOf(reason)).slice(1, -1);
    const used = JSON.stringify(writeResponsesUsage(usage));
    return `${this.#head},${state},"output":[${items.join(",")}],"usage":${used},"svc":${svc}}`;
  }
}

function echoOf(request: ResponsesRequest): string {
  const echoed: string[] = [];
  for (const [key, otherwise] of DEFAULTS) {
    const given = key === "max_output_tokens" ? limitOf(request) : memberJson(request, key);
    const value = given === undefined ? otherwise : key === "text" ? withFormat(given) : given;
    echoed.push(`"${key}":${value}`);
  }
  const user = memberJson(request, "user");
  if (user !== undefined) echoed.push(`"user":${user}`);
  return echoed.join(",");
}

/** As the upstream was told. */
const limitOf = (request: ResponsesRequest): string | undefined =>
  request.outputLimit === undefined ? memberJson(request, "max_output_tokens") : String(request.outputLimit);

/**
 * Larger members are not repeated: their defaults are. A stream would send megabytes three times, and each time the event loop
 * would be kept from all others.
 */
const MOST_ECHOED_BYTES = 256 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;

/** A member's JSON on one line, latin1; undefined if the client did not send it, sent null, or sent more than is repeated. */
function memberJson({ bytes, members }: ResponsesRequest, key: string): string | undefined {
  const member = memberOf(members, key);
  if (member === undefined || member.valueEnd - member.valueStart > MOST_ECHOED_BYTES) return undefined;
  const json = Buffer.from(bytes.subarray(member.valueStart, member.valueEnd));
  // In JSON line ends are between values alone. A text may be nothing else, and an expression takes long for each.
  for (let i = 0; i < json.length; i++)
    if (json[i] === LINE_FEED || json[i] === CARRIAGE_RETURN) json[i] = SPACE;
  const text = json.toString("latin1");
  return text === "null" ? undefined : text;
}

function withFormat(text: string): string {
  const { members } = skim(text, "/text");
  const format = jsonAt(text, members, "format");
  if (format !== "" && format !== "null") return text;
  return applyEdits(text, [setMember(text, members, "format", JSON.stringify(ECHOED.text.format))]);
}
