/**
 * Answers to a completion that come in the shape of chat, as those of Mistral's route for fill-in-the-middle do: rebuilt as
 * completions (https://docs.mistral.ai/api/endpoint/fim).
 */
import { latin1Json } from "../json/json.ts";
import { type JsonObject, listOf, objectOf, parsed } from "../neutral/reader.ts";
import { parseReply } from "../neutral/upstream-reply.ts";

/** A chunk as a completion's; undefined where it is one. @param data latin1 */
export function chunkOfChat(data: string): string | undefined {
  if (!data.includes('"delta"') || data.includes('"text"')) return undefined;
  const chunk = parsed(data);
  return chunk && latin1Json(reshaped(chunk, "delta"));
}

/** A whole answer as a completion; undefined where it is one. */
export function replyOfChat(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes('"message"') || bytes.includes('"text"')) return undefined;
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
      const { content: text } = objectOf(content);
      return {
        text: typeof text === "string" ? text : "",
        index,
        logprobs: null,
        finish_reason: reason ?? null,
      };
    }),
  };
}
