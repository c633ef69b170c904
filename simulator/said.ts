/**
 * What the tokens of an answer come to, for the dialects that say a thing whole.
 */
import type { Call, Choice, Token } from "./answer.ts";
import { isObject, type JsonObject } from "./schema.ts";

/** The text of all tokens of a kind, in order. */
export const textOf = (choice: Choice, kind: Token["kind"]): string =>
  choice.tokens.reduce((text, token) => (token.kind === kind ? text + token.text : text), "");

/** The arguments of a call; undefined where the bound on tokens cut them, because they are no JSON then. */
export function argumentsOf(call: Call): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(call.pieces.join(""));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
