/** A text completion and its chunks, which are alike but for their number (OpenAI API reference, "Completions"). */
import { usageIn } from "../chat/usage.ts";
import { type Fold, SseFolding } from "../forms/folding.ts";
import { type Grown, inOrder, joinMember, newGrown, setMembers } from "../forms/joined.ts";
import { framed, type Restating } from "../forms/restating.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { sseData } from "../neutral/sse.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { replyOfChat, textIn } from "./chat-shaped.ts";
import { noTextCompletion } from "./read-reply.ts";
import { CompletionsStreamReader, placeOf } from "./reader.ts";

export const completionsRestating: Restating = {
  framed,
  events(body) {
    const { choices, usage, ...rest } = objectOf(parseReply(replyOfChat(body) ?? body));
    if (!Array.isArray(choices)) throw noTextCompletion();
    // One chunk has all choices: each of them is whole.
    const said = sseData(latin1OfJson({ ...rest, choices }));
    const counted = isObject(usage) ? sseData(latin1OfJson({ ...rest, choices: [], usage })) : "";
    return `${said}${counted}${sseData("[DONE]")}`;
  },
  folding: (maxEventBytes, listen) =>
    new SseFolding(new CompletionsStreamReader(maxEventBytes), new TextFold(), maxEventBytes, listen),
};

class TextFold implements Fold {
  readonly #members = newGrown();
  readonly #choices = new Map<number, Grown>();

  take(event: JsonObject): void {
    const { choices, ...rest } = event;
    setMembers(this.#members, rest);
    // Whole answers have it in this member alone.
    const usage = usageIn(event);
    if (usage !== undefined) this.#members.usage = usage;
    for (const value of listOf(choices)) if (isObject(value)) this.#take(value);
  }

  whole(): unknown {
    const choices = inOrder(this.#choices).map(([index, choice]) => ({
      ...choice,
      index,
      logprobs: choice.logprobs ?? null,
    }));
    return { ...this.#members, object: "text_completion", choices };
  }

  #take({ index, text, delta, logprobs, ...others }: JsonObject): void {
    const at = placeOf(index);
    let choice = this.#choices.get(at);
    if (choice === undefined) {
      choice = newGrown();
      choice.text = "";
      this.#choices.set(at, choice);
    }
    setMembers(choice, others);
    joinMember(choice, "text", typeof text === "string" ? text : textIn(objectOf(delta).content));
    joinMember(choice, "logprobs", logprobs);
  }
}
