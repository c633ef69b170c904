/** What a search for tools gave, as words: an empty result would say that it found none. */
import type { TextPart } from "../neutral/neutral.ts";

/** @param names of the tools, as the model knows them */
export const foundTools = (names: readonly string[]): TextPart => ({
  type: "text",
  foundTools: names,
  text:
    names.length === 0
      ? "No tools were found."
      : `Tools that can be called from now on: ${names.join(", ")}.`,
});
