/**
 * Fits a neutral request to what the upstream accepts: names that it would refuse are told as stand-ins. What the upstream takes
 * is not touched, and a request with nothing to fit is the same object.
 */
import type { Dialect } from "../../base/endpoint.ts";
import type { OrgKey, OwnTool, OwnTools } from "../format.ts";
import type {
  FieldValue,
  NeutralMessage,
  NeutralRequest,
  Part,
  TextPart,
  ToolChoice,
  ToolResultPart,
} from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";
import { foundTools } from "../tool-kinds/found.ts";
import { acceptedBy, type NameBound } from "./bounds.ts";
import { StandIns } from "./stand-ins.ts";

export interface Fitted {
  readonly request: NeutralRequest;
  /** Undefined where every tool is told as the client named it. */
  readonly ownTools: OwnTools | undefined;
}

/** @param source of the request's strings, which may be marks */
export function accepted(request: NeutralRequest, dialect: Dialect, orgKey: OrgKey, source: Source): Fitted {
  const { toolName } = acceptedBy(dialect);
  if (toolName === undefined || !hasForeignName(request, toolName)) return { request, ownTools: undefined };
  return new Naming(request, toolName, orgKey, source).fitted();
}

function hasForeignName({ tools, messages, options }: NeutralRequest, { taken }: NameBound): boolean {
  for (const { name } of tools) if (!taken.test(name)) return true;
  for (const { parts } of messages) {
    for (const part of parts) {
      const name = nameIn(part);
      if (name !== undefined && !taken.test(name)) return true;
    }
  }
  const choice = options.toolChoice?.value;
  return typeof choice === "object" && !taken.test(choice.name);
}

/** The name of the tool that a part is about; undefined where it is about none, or the name is not known. */
function nameIn(part: Part): string | undefined {
  if (part.type === "tool_call") return part.name;
  return part.type === "tool_result" && part.name !== "" ? part.name : undefined;
}

/** One request's tools under the names that the upstream is told. */
class Naming {
  readonly #request: NeutralRequest;
  readonly #source: Source;
  readonly #names: StandIns;
  readonly #own = new Map<string, OwnTool>();
  /** What was told of calls, by their ids: a result of a call that has no name names none itself. */
  readonly #called = new Map<string, string>();

  constructor(request: NeutralRequest, bound: NameBound, orgKey: OrgKey, source: Source) {
    this.#request = request;
    this.#source = source;
    this.#names = new StandIns(orgKey, "tool", bound, () => namesOf(request));
  }

  fitted(): Fitted {
    const { tools, messages, options } = this.#request;
    const { toolChoice, allowedTools } = options;
    const request = {
      ...this.#request,
      tools: tools.map((tool) => ({ ...tool, name: this.#told(tool.name) })),
      messages: messages.map((message) => this.#message(message)),
      options: {
        ...options,
        ...(toolChoice !== undefined && { toolChoice: this.#choice(toolChoice) }),
        ...(allowedTools !== undefined && { allowedTools: this.#allowed(allowedTools) }),
      },
    };
    return { request, ownTools: this.#own };
  }

  #told(name: string): string {
    const own = this.#source.whole(name);
    const told = this.#names.of(own);
    if (told !== own) this.#own.set(told, { name: own });
    return told;
  }

  #message(message: NeutralMessage): NeutralMessage {
    if (!message.parts.some(({ type }) => type === "tool_call" || type === "tool_result")) return message;
    return { ...message, parts: message.parts.map((part) => this.#part(part)) };
  }

  #part(part: Part): Part {
    if (part.type === "tool_call") {
      const name = this.#told(part.name);
      this.#called.set(part.id, name);
      return { ...part, name };
    }
    if (part.type !== "tool_result") return part;
    const name = part.name === "" ? (this.#called.get(part.id) ?? "") : this.#told(part.name);
    return { ...part, name, parts: part.parts.map((inner) => this.#found(inner)) };
  }

  /** A text that tells tools says the names that the model knows them by. */
  #found<P extends ToolResultPart["parts"][number]>(part: P): P | TextPart {
    if (part.type !== "text" || part.foundTools === undefined) return part;
    return foundTools(part.foundTools.map((name) => this.#told(name)));
  }

  #allowed({ value, at }: FieldValue<readonly string[]>): FieldValue<readonly string[]> {
    return { value: value.map((name) => this.#told(name)), at };
  }

  #choice<T extends { readonly value: ToolChoice }>(choice: T): T {
    const { value } = choice;
    return typeof value === "object"
      ? { ...choice, value: { ...value, name: this.#told(value.name) } }
      : choice;
  }
}

function* namesOf({ tools, messages }: NeutralRequest): Iterable<string> {
  for (const { name } of tools) yield name;
  for (const { parts } of messages) {
    for (const part of parts) {
      const name = nameIn(part);
      if (name !== undefined) yield name;
    }
  }
}
