/** OpenAI's `url_citation`, whose members both of its formats share (`content` beside them is OpenRouter's). */
import type { Citation } from "./neutral.ts";
import { objectOf, stringOf } from "./reader.ts";

/** Undefined where it names no address. */
export function readUrlCitation(value: unknown): Citation | undefined {
  const { url, title, content, start_index: start, end_index: end } = objectOf(value);
  if (typeof url !== "string" || url === "") return undefined;
  return {
    type: "url",
    url,
    title: stringOf(title),
    ...(typeof content === "string" && { citedText: content }),
    ...(typeof start === "number" && { start }),
    ...(typeof end === "number" && { end }),
  };
}
