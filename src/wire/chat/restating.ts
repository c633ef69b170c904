/** A chat completion and its chunks, one as the other (OpenAI API reference, "The chat completion object" and "… chunk object"). */
import { SseFolding } from "../forms/folding.ts";
import { piecesOf } from "../forms/joined.ts";
import { framed, type Restating } from "../forms/restating.ts";
import { ToldEvents } from "../forms/told-events.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { sseData } from "../neutral/sse.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { ChunkFold } from "./chunk-fold.ts";
import { noCompletion } from "./read-reply.ts";
import { ChatStreamReader } from "./reader.ts";

const DONE = sseData("[DONE]");

export const chatRestating: Restating = {
  framed,
  events(body) {
    const { choices, usage, ...rest } = objectOf(parseReply(body));
    if (!Array.isArray(choices)) throw noCompletion();
    const { id, created, model } = rest;
    const told = new ToldEvents();
    // What belongs to all of the answer is in its first chunk: in each it would be many times as long.
    let members: object = rest;
    const chunk = (list: readonly object[], more?: object) => {
      told.add(
        sseData(latin1OfJson({ ...members, object: "chat.completion.chunk", choices: list, ...more })),
      );
      members = { id, created, model };
    };
    for (const [place, value] of choices.entries()) {
      const { index = place, message, delta, logprobs, finish_reason: reason, ...others } = objectOf(value);
      const said = deltasOf(objectOf(message ?? delta), logprobs);
      for (const piece of said) chunk([{ index, logprobs: null, ...piece, finish_reason: null }]);
      chunk([{ index, ...others, delta: {}, logprobs: null, finish_reason: reason ?? null }]);
    }
    if (isObject(usage)) chunk([], { usage });
    return told.text + DONE;
  },
  folding: (maxEventBytes, listen) =>
    new SseFolding(new ChatStreamReader(maxEventBytes), new ChunkFold(), maxEventBytes, listen),
};

/**
 * A message in the order in which models speak: reasoning, text and refusal, what belongs to the text, calls. Readers give citations and
 * seals to the text before them.
 */
function deltasOf(message: JsonObject, logprobs: unknown): object[] {
  const { content, refusal, annotations, images, extra_content: extra, ...others } = message;
  const { tool_calls: calls, function_call: call, role = "assistant", ...first } = others;
  const isText = typeof content === "string" && content !== "";
  const tokens = logprobs ?? null;
  const deltas: object[] = [{ delta: { role, content: isText ? "" : (content ?? null), ...first } }];
  if (isText) {
    // The tokens of a text are those of its piece: they stay together.
    const pieces = tokens === null ? piecesOf(content) : [content];
    for (const piece of pieces) deltas.push({ delta: { content: piece }, logprobs: tokens });
  }
  if (typeof refusal === "string") deltas.push({ delta: { refusal }, logprobs: isText ? null : tokens });
  const behind = {
    ...(listOf(annotations).length > 0 && { annotations }),
    ...(listOf(images).length > 0 && { images }),
    ...(extra !== undefined && { extra_content: extra }),
  };
  if (Object.keys(behind).length > 0) deltas.push({ delta: behind });
  for (const [index, value] of listOf(calls).entries())
    deltas.push({ delta: { tool_calls: [{ ...objectOf(value), index }] } });
  if (isObject(call)) deltas.push({ delta: { function_call: call } });
  return deltas;
}
