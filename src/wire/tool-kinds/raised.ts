/**
 * Calls of an answer in the client's own terms: of the kind and the group in which the client offered the tool. A function that
 * stood for a custom tool gives back the text; a custom call that the client cannot be told becomes one of a function.
 */
import type { OwnTool, OwnTools } from "../format.ts";
import type {
  NeutralChoice,
  NeutralReply,
  NeutralTool,
  ReplyPart,
  StreamEvent,
  ToolCallPart,
} from "../neutral/neutral.ts";
import { partKey } from "../neutral/part-key.ts";
import { argumentsOfInput, inputOf, Unwrapping, Wrapping } from "./input.ts";

const NO_TOOLS: OwnTools = new Map();

/**
 * The tools that the client named in its own way: those told under another name, and those of another kind or within a group.
 * @param tools as the client named them @param told the same, as the upstream is told
 */
export function withKinds(
  renamed: OwnTools | undefined,
  tools: readonly NeutralTool[],
  told: readonly NeutralTool[],
): OwnTools | undefined {
  if (!tools.some(({ kind, within }) => kind !== undefined || within !== undefined)) return renamed;
  const own = new Map(renamed);
  for (const [index, { name: given, kind, within }] of tools.entries()) {
    const { name = given } = told[index] ?? {};
    if (kind === undefined && within === undefined) continue;
    own.set(name, {
      name: within?.name ?? own.get(name)?.name ?? given,
      ...(kind !== undefined && { kind }),
      ...(within?.namespace !== undefined && { namespace: within.namespace }),
    });
  }
  return own;
}

/** @param own undefined where every tool was told as the client named it */
export function raisedReply(reply: NeutralReply, own: OwnTools = NO_TOOLS): NeutralReply {
  if (own.size === 0 && !reply.choices.some(({ parts }) => parts.some(isCustom))) return reply;
  const choices = reply.choices.map(
    (choice): NeutralChoice => ({
      ...choice,
      parts: choice.parts.map((part) =>
        part.type === "tool_call" ? raisedCall(part, own.get(part.name)) : part,
      ),
    }),
  );
  return { ...reply, choices };
}

const isCustom = (part: ReplyPart): boolean => part.type === "tool_call" && part.kind === "custom";

function raisedCall(call: ToolCallPart, own: OwnTool | undefined): ToolCallPart {
  const { kind, arguments: given, name, ...rest } = call;
  const isText = own?.kind === "custom";
  const text = kind === "custom" ? given : isText ? inputOf(given) : undefined;
  return {
    ...rest,
    name: own?.name ?? name,
    arguments: text === undefined ? given : isText ? text : argumentsOfInput(text),
    ...(own?.kind !== undefined && { kind: own.kind }),
    ...(own?.namespace !== undefined && { namespace: own.namespace }),
  };
}

type Begin = Extract<StreamEvent, { type: "begin" }>;

/** The same for a stream, event by event. */
export class RaisedStream {
  readonly #own: OwnTools;
  /** Calls whose pieces are changed, by their part. */
  readonly #changing = new Map<number, Unwrapping | Wrapping>();

  constructor(own: OwnTools = NO_TOOLS) {
    this.#own = own;
  }

  take(event: StreamEvent, emit: (event: StreamEvent) => void): void {
    if (event.type === "begin") {
      emit(event.kind === "tool_call" ? this.#begun(event) : event);
      return;
    }
    const isPiece = event.type === "delta" || event.type === "end";
    const key = isPiece && this.#changing.size > 0 ? partKey(event.choice, event.part) : -1;
    const changing = this.#changing.get(key);
    if (changing === undefined || !isPiece) {
      emit(event);
      return;
    }
    const { choice, part } = event;
    const text =
      event.type === "delta" ? (event.text === "" ? "" : changing.push(event.text)) : changing.end();
    if (event.type === "delta" || text !== "") emit({ type: "delta", choice, part, text });
    if (event.type === "delta") return;
    this.#changing.delete(key);
    emit(event);
  }

  #begun(event: Extract<Begin, { kind: "tool_call" }>): StreamEvent {
    const own = this.#own.get(event.name);
    const { tool, ...rest } = event;
    const key = partKey(event.choice, event.part);
    if (own?.kind === "custom" && tool !== "custom") this.#changing.set(key, new Unwrapping());
    else if (own?.kind !== "custom" && tool === "custom") this.#changing.set(key, new Wrapping());
    else if (own === undefined) return event;
    return {
      ...rest,
      name: own?.name ?? event.name,
      ...(own?.kind !== undefined && { tool: own.kind }),
      ...(own?.namespace !== undefined && { namespace: own.namespace }),
    };
  }
}
