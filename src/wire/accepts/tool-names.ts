/** Names of tools as an upstream takes them: where they are declared, called, answered and chosen. */
import type { OrgKey, OwnTool, OwnTools } from "../format.ts";
import type {
  FieldValue,
  NeutralMessage,
  NeutralOptions,
  NeutralRequest,
  NeutralTool,
  Part,
  TextPart,
  ToolChoice,
  ToolResultPart,
} from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";
import { foundTools } from "../tool-kinds/found.ts";
import type { NameBound } from "./bounds.ts";
import { StandIns } from "./stand-ins.ts";

/** The name of the tool that a part is about; undefined where it is about none, or the name is not known. */
export function nameIn(part: Part): string | undefined {
  if (part.type === "tool_call") return part.name;
  return part.type === "tool_result" && part.name !== "" ? part.name : undefined;
}

export class ToolNames {
  readonly #source: Source;
  readonly #names: StandIns;
  readonly #own = new Map<string, OwnTool>();
  /** What was told of calls, by their ids: a result of a call that has no name names none itself. */
  readonly #called = new Map<string, string>();

  constructor(request: NeutralRequest, bound: NameBound, orgKey: OrgKey, source: Source) {
    this.#source = source;
    this.#names = new StandIns(orgKey, "tool", bound, () => namesOf(request));
  }

  /** All stand-ins so far. */
  get own(): OwnTools {
    return this.#own;
  }

  tool(tool: NeutralTool): NeutralTool {
    return { ...tool, name: this.told(tool.name) };
  }

  /** Messages in their order, each once. */
  message(message: NeutralMessage): NeutralMessage {
    if (!message.parts.some(({ type }) => type === "tool_call" || type === "tool_result")) return message;
    return { ...message, parts: message.parts.map((part) => this.#part(part)) };
  }

  options(options: NeutralOptions): NeutralOptions {
    const { toolChoice, allowedTools } = options;
    return {
      ...options,
      ...(toolChoice !== undefined && { toolChoice: this.#choice(toolChoice) }),
      ...(allowedTools !== undefined && { allowedTools: this.#allowed(allowedTools) }),
    };
  }

  #choice(choice: FieldValue<ToolChoice>): FieldValue<ToolChoice> {
    const { value, at } = choice;
    return typeof value === "object" ? { value: { ...value, name: this.told(value.name) }, at } : choice;
  }

  #allowed({ value, at }: FieldValue<readonly string[]>): FieldValue<readonly string[]> {
    return { value: value.map((name) => this.told(name)), at };
  }

  /** A name as the upstream is told it. */
  told(name: string): string {
    const own = this.#source.whole(name);
    const told = this.#names.of(own);
    if (told !== own) this.#own.set(told, { name: own });
    return told;
  }

  #part(part: Part): Part {
    if (part.type === "tool_call") {
      const name = this.told(part.name);
      this.#called.set(part.id, name);
      return { ...part, name };
    }
    if (part.type !== "tool_result") return part;
    const name = part.name === "" ? (this.#called.get(part.id) ?? "") : this.told(part.name);
    return { ...part, name, parts: part.parts.map((inner) => this.#found(inner)) };
  }

  /** A text that tells tools says the names that the model knows them by. */
  #found<P extends ToolResultPart["parts"][number]>(part: P): P | TextPart {
    if (part.type !== "text" || part.foundTools === undefined) return part;
    return foundTools(part.foundTools.map((name) => this.told(name)));
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
