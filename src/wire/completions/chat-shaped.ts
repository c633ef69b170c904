/**
 * Answers to a completion that come in the shape of chat, as those of Mistral's route for fill-in-the-middle do: rebuilt as
 * completions (https://docs.mistral.ai/api/endpoint/fim).
 */
import { latin1Json } from "../json/json.ts";
import { type JsonObject, listOf, objectOf, parsed } from "../neutral/reader.ts";
import { parseReply } from "../neutral/upstream-reply.ts";

/** Content in parts, which have a member `text` as a completion has. */
const PARTS = /"content"\s*:\s*\[/;

/** A chunk as a completion's; undefined where it is one. @param data latin1 */
export function chunkOfChat(data: string): string | undefined {
  if (!data.includes('"delta"') || (data.includes('"text"') && !PARTS.test(data))) return undefined;
  const chunk = parsed(data);
  return chunk && latin1Json(reshaped(chunk, "delta"));
}

/** A whole answer as a completion; undefined where it is one. */
export function replyOfChat(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes('"message"') || (bytes.includes('"text"') && !PARTS.test(bytes.toString("latin1"))))
    return undefined;
  const reply = objectOf(parseReply(bytes));
  // An error has a message too.
  return Array.isArray(reply.choices) ? Buffer.from(JSON.stringify(reshaped(reply, "message"))) : undefined;
}

function reshaped({ choices, ...rest }: JsonObject, said: "delta" | "message"): JsonObject {
  return {
    ...rest,
    object: "text_completion",
    choices: listOf(choices).map((value) => {
      const { [said]: content, index, finish_reason: reason } = objectOf(value);
      return {
        text: textIn(objectOf(content).content),
        index,
        logprobs: null,
        finish_reason: reason ?? null,
      };
    }),
  };
}

/** The text of a chat message's content. Parts of other types, such as thinking, are none of it. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map(objectOf)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""))
    .join("");
}
