/**
 * Fits a neutral request to what the upstream accepts. What it takes is not touched, and a request with nothing to fit is the
 * same object: it is looked through once, and only what was found is rewritten.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import type { OrgKey, OwnTools } from "../format.ts";
import type { NeutralMessage, NeutralRequest, Part } from "../neutral/neutral.ts";
import { hasMark, type Source } from "../neutral/source.ts";
import { type Accepted, acceptedBy } from "./bounds.ts";
import { withTakenIds } from "./call-ids.ts";
import { fittedOptions } from "./options.ts";
import { hasBlank, saysNothing, withoutBlank, withoutSpaceAtEnd, withTurns } from "./texts.ts";
import { nameIn, ToolNames } from "./tool-names.ts";

export interface Fitted {
  readonly request: NeutralRequest;
  /** Undefined where every tool is told as the client named it. */
  readonly ownTools: OwnTools | undefined;
}

/** @param source of the request's strings, which may be marks */
export function accepted(
  request: NeutralRequest,
  dialect: Dialect,
  endpoint: Endpoint,
  orgKey: OrgKey,
  source: Source,
): Fitted {
  const bounds = acceptedBy(dialect, endpoint);
  const looked = new Look(request, bounds, source);
  const dropped: string[] = [];
  const drop = (at: string) => void dropped.push(at);
  let { messages, tools } = request;
  let options = fittedOptions(request.options, bounds, orgKey, source, drop);
  const { toolName } = bounds;
  if (looked.isBlank) messages = withoutBlank(messages, source, drop);
  else if (looked.isEmpty) messages = withTurns(messages, drop);
  if (bounds.refusesSpaceAtEnd === true) messages = withoutSpaceAtEnd(messages, source, drop);
  let ownTools: OwnTools | undefined;
  if (looked.hasForeignName && toolName !== undefined) {
    const names = new ToolNames(request, toolName, orgKey, source);
    tools = tools.map((tool) => names.tool(tool));
    messages = messages.map((message) => names.message(message));
    options = names.options(options);
    ownTools = names.own;
  }
  // After the names, which find a result's call by the id that the client gave it.
  if (looked.hasForeignId) messages = withTakenIds(messages, bounds, orgKey, source);
  const isSame = messages === request.messages && tools === request.tools && options === request.options;
  if (isSame && dropped.length === 0) return { request, ownTools };
  return {
    request: { ...request, messages, tools, options, dropped: [...request.dropped, ...dropped] },
    ownTools,
  };
}

const NO_NAMES: readonly string[] = Object.freeze([]);

/** What of a request is to be fitted. */
class Look {
  hasForeignName = false;
  hasForeignId = false;
  isBlank = false;
  /** A message of the user's says nothing at all. */
  isEmpty = false;
  readonly #accepted: Accepted;
  readonly #source: Source;
  /** The last ones that were looked at: most calls are of few tools, and a result is next to its call. */
  #lastName = "";
  #lastId = "";
  /** Ids of the calls so far; made at the first. */
  #called: Set<string> | undefined;

  constructor({ tools, messages, options }: NeutralRequest, bounds: Accepted, source: Source) {
    this.#accepted = bounds;
    this.#source = source;
    for (const { name } of tools) this.#name(name);
    const choice = options.toolChoice?.value;
    if (typeof choice === "object") this.#name(choice.name);
    for (const name of options.allowedTools?.value ?? NO_NAMES) this.#name(name);
    for (const message of messages) this.#message(message);
  }

  #name(name: string): void {
    if (name === this.#lastName && name !== "") return;
    this.#lastName = name;
    if (this.#accepted.toolName?.taken.test(name) === false) this.hasForeignName = true;
  }

  #message(message: NeutralMessage): void {
    const { role, parts } = message;
    if (this.#accepted.refusesEmptyText === true && role === "user" && saysNothing(message))
      this.isEmpty = true;
    for (const part of parts) {
      if (part.type === "tool_call" || part.type === "tool_result") this.#ofCall(part);
      if (this.#accepted.refusesBlankText === true && !this.isBlank) {
        this.isBlank = hasBlank(part, this.#source);
      }
    }
  }

  /** A result may tell tools that the model may call from then on. */
  #found(part: Part): void {
    if (part.type !== "text" || part.foundTools === undefined) return;
    for (const name of part.foundTools) this.#name(name);
  }

  #ofCall(part: Extract<Part, { readonly id: string }>): void {
    const name = nameIn(part);
    if (name !== undefined) this.#name(name);
    if (part.type === "tool_result") for (const inner of part.parts) this.#found(inner);
    const { callId, sharesCallIds } = this.#accepted;
    if (callId === undefined || this.hasForeignId) return;
    // A mark stands for an id that is too long to be read here; a bound of any characters would take the mark itself.
    if (part.id !== this.#lastId || part.id === "") {
      this.#lastId = part.id;
      if (!callId.taken.test(part.id) || hasMark(part.id)) this.hasForeignId = true;
    }
    if (part.type !== "tool_call" || sharesCallIds === true) return;
    this.#called ??= new Set();
    if (this.#called.has(part.id)) this.hasForeignId = true;
    this.#called.add(part.id);
  }
}
