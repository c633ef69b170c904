/**
 * A conversation for dialects whose roles take turns: system messages become the system prompt, neighbours of one role one
 * message. And what Claude asks of the turns, whoever serves it.
 */
import { fail } from "../../base/errors.ts";
import { append } from "../json/append.ts";
import type { NeutralMessage, TextPart } from "./neutral.ts";
import { notCarried } from "./not-carried.ts";
import type { OptionTaker } from "./options.ts";

export interface Turn<Block> {
  readonly role: "user" | "assistant";
  content: Block[];
}

/**
 * @param hoist takes a text of a system message that is not empty, and the message's pointer. @param write a message's blocks.
 * @throws WeirError 400 where no message is left, or naming media among the instructions.
 */
export function turnsOf<Block>(
  messages: readonly NeutralMessage[],
  options: OptionTaker,
  hoist: (part: TextPart, at: string) => void,
  write: (message: NeutralMessage) => Block[],
): Turn<Block>[] {
  const turns: Turn<Block>[] = [];
  for (const message of messages) {
    const { role, at } = message;
    if (role === "system") {
      // Its words are kept, its place is not.
      if (turns.length > 0) options.drop(at);
      for (const part of message.parts) {
        if (part.type === "document" && part.source.kind === "text") {
          hoist({ type: "text", text: part.source.text, cache: part.cache }, at);
        } else if ("source" in part) throw notCarried(part);
        else if (part.type !== "text") options.drop(at);
        else if (part.text !== "") hoist(part, at);
      }
      continue;
    }
    const content = write(message);
    if (content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) append(last.content, content);
    else turns.push({ role, content });
  }
  if (turns.length > 0) return turns;
  throw fail("invalid_value", "This model needs a message of the user's beside the instructions.", {
    param: messages[0]?.at ?? "/messages",
  });
}

/**
 * Claude wants the results of calls before anything else that a turn says.
 * @param isResult undefined of a block that stays with the one before it.
 */
export function putResultsFirst<Block>(
  turns: readonly Turn<Block>[],
  isResult: (block: Block) => boolean | undefined,
): void {
  for (const turn of turns) {
    if (turn.role !== "user") continue;
    const results: Block[] = [];
    const others: Block[] = [];
    let into = others;
    for (const block of turn.content) {
      const is = isResult(block);
      if (is !== undefined) into = is ? results : others;
      into.push(block);
    }
    turn.content = [...results, ...others];
  }
}

/** Claude thinks by a budget in a turn of calls only where that began with its thinking, and is sent back so. */
export function mayBudget<Block>(
  turns: readonly Turn<Block>[],
  isResult: (block: Block) => boolean | undefined,
  isThinking: (block: Block) => boolean,
): boolean {
  const last = turns.at(-1);
  const turn = turns.at(-2);
  if (last?.role !== "user" || !last.content.some((block) => isResult(block) === true)) return true;
  const [first] = turn?.content ?? [];
  return turn === undefined || (first !== undefined && isThinking(first));
}
