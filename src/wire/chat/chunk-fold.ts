/**
 * Puts the chunks of a chat completion together. Calls are taken from what the reader makes of them: servers number their pieces in too
 * many ways. All other members of a delta are joined by their kind, so that what no contract knows is kept, too.
 */
import type { Fold } from "../forms/folding.ts";
import { type Grown, inOrder, join, joinMember, newGrown, setMembers } from "../forms/joined.ts";
import { textOf } from "../neutral/fragment.ts";
import type { Fragment, Seal, StreamEvent } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { extraContentOf } from "./reasoning.ts";
import { usageIn } from "./usage.ts";

/** Larger indexes count as the last choice, as in the reader. */
const MAX_CHOICES = 128;

interface FoldedCall {
  readonly id: string;
  readonly name: string;
  readonly isCustom: boolean;
  text: Fragment;
  seal: Seal | undefined;
}

interface FoldedChoice {
  /** Members beside the message. */
  readonly members: Grown;
  readonly message: Grown;
  readonly details: Grown[];
  /** By part. */
  readonly calls: Map<number, FoldedCall>;
  hasCalls: boolean;
}

export class ChunkFold implements Fold {
  readonly #members = newGrown();
  readonly #choices = new Map<number, FoldedChoice>();

  take(event: JsonObject): void {
    const { choices, ...rest } = event;
    const { id, created, model } = this.#members;
    setMembers(this.#members, rest);
    // Whole answers have it in this member alone.
    const usage = usageIn(event);
    if (usage !== undefined) this.#members.usage = usage;
    // The first chunk names the answer: some servers name each chunk.
    for (const [key, first] of Object.entries({ id, created, model })) {
      if (first !== undefined) this.#members[key] = first;
    }
    for (const value of listOf(choices)) if (isObject(value)) this.#take(value);
  }

  tell(event: StreamEvent): void {
    if (event.type === "usage") return;
    const { calls } = this.#choiceOf(event.choice);
    if (event.type === "begin" && event.kind === "tool_call") {
      const { id, name, tool } = event;
      calls.set(event.part, { id, name, isCustom: tool === "custom", text: "", seal: undefined });
      return;
    }
    const call = "part" in event ? calls.get(event.part) : undefined;
    if (call === undefined) return;
    if (event.type === "delta") call.text += event.text;
    else if (event.type === "seal") call.seal = event.seal;
  }

  whole(): unknown {
    const choices = inOrder(this.#choices).map(([index, choice]) => wholeOf(index, choice));
    return { ...this.#members, object: "chat.completion", choices };
  }

  #choiceOf(index: unknown): FoldedChoice {
    const isPlace = typeof index === "number" && Number.isInteger(index) && index >= 0;
    const at = isPlace ? Math.min(index, MAX_CHOICES - 1) : 0;
    let choice = this.#choices.get(at);
    if (choice === undefined) {
      choice = { members: newGrown(), message: newGrown(), details: [], calls: new Map(), hasCalls: false };
      this.#choices.set(at, choice);
    }
    return choice;
  }

  #take({ index, delta, message, logprobs, ...others }: JsonObject): void {
    const choice = this.#choiceOf(index);
    setMembers(choice.members, others);
    joinMember(choice.members, "logprobs", logprobs);
    const said = isObject(delta) ? delta : objectOf(message);
    const { content, tool_calls: calls, reasoning_details: details, ...rest } = said;
    if (listOf(calls).length > 0) choice.hasCalls = true;
    for (const value of listOf(details)) joinDetail(choice.details, objectOf(value));
    joinContent(choice.message, content);
    join(choice.message, rest);
  }
}

/** Mistral's content has parts while the model thinks, and is a text then. */
function joinContent(message: Grown, content: unknown): void {
  const before = message.content;
  if (typeof content === "string" && Array.isArray(before)) {
    if (content !== "") before.push({ type: "text", text: content });
  } else if (Array.isArray(content) && typeof before === "string" && before !== "") {
    message.content = [{ type: "text", text: before }, ...content];
  } else joinMember(message, "content", content);
}

/** Items of one number and type are pieces of one block. */
function joinDetail(details: Grown[], item: JsonObject): void {
  const last = details.at(-1);
  const goesOn =
    last !== undefined &&
    item.type === last.type &&
    item.index === last.index &&
    (item.id ?? last.id) === last.id;
  if (goesOn) join(last, item);
  else {
    const begun = newGrown();
    join(begun, item);
    details.push(begun);
  }
}

function wholeOf(index: number, { members, message, details, calls, hasCalls }: FoldedChoice): object {
  const { role = "assistant", content = null, refusal = null, ...rest } = message;
  return {
    ...members,
    index,
    message: {
      ...rest,
      role,
      content,
      refusal,
      ...(details.length > 0 && { reasoning_details: details }),
      ...(hasCalls && { tool_calls: [...calls.values()].map(callOf) }),
    },
    logprobs: members.logprobs ?? null,
    finish_reason: members.finish_reason ?? null,
  };
}

function callOf({ id, name, isCustom, text, seal }: FoldedCall): object {
  const called = isCustom
    ? { type: "custom", custom: { name, input: textOf(text) } }
    : { type: "function", function: { name, arguments: textOf(text) || "{}" } };
  return { ...(id !== "" && { id }), ...called, ...extraContentOf(seal) };
}
