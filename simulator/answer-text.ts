/**
 * Joins the tokens of an answer, for dialects that send texts or arguments in one piece.
 */
import type { Choice, Token, ToolCall } from "./answer.ts";
import { isObject, type JsonObject } from "./schema.ts";

/** The text of all tokens of a kind, in order. */
export const textOf = (choice: Choice, kind: Token["kind"]): string =>
  choice.tokens.reduce((text, token) => (token.kind === kind ? text + token.text : text), "");

/** The arguments of a call; undefined where the token limit truncated them, because they are not valid JSON then. */
export function argumentsOf(call: ToolCall): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(call.pieces.join(""));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
