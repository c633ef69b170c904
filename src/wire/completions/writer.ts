/** The streamed completions answer, as OpenAI sends it: chunks of text. */
import type { Usage } from "../../base/usage.ts";
import { writeChatUsage } from "../chat/usage.ts";
import type { AnswerIdentity, StreamWriter } from "../format.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import type { StreamEvent } from "../neutral/neutral.ts";
import { partKey } from "../neutral/part-key.ts";
import { svcJson } from "../svc.ts";
import { writeFinishReason } from "./stop.ts";
import { logprobsOf } from "./write-reply.ts";

export class CompletionsStreamWriter implements StreamWriter {
  readonly #includeUsage: boolean;
  /** The beginning of every chunk, with the bracket that opens its choices. */
  readonly #head: string;
  readonly #usageNull: string;
  /** Parts that are text: their keys. */
  readonly #texts = new Set<number>();
  /** Characters of text so far, by choice: only log probabilities ask. */
  readonly #offsets: number[] = [];
  #last = "";

  constructor(identity: AnswerIdentity, includeUsage: boolean) {
    const { id, createdS, model } = identity;
    this.#includeUsage = includeUsage;
    const head = latin1OfJson({ id, object: "text_completion", created: createdS, model });
    this.#head = `data: ${head.slice(0, -1)},"choices":[`;
    this.#usageNull = includeUsage ? ',"usage":null' : "";
  }

  write(event: StreamEvent): string {
    if (event.type === "begin") {
      if (event.kind === "text" || event.kind === "refusal")
        this.#texts.add(partKey(event.choice, event.part));
    } else if (event.type === "delta") {
      if (this.#texts.has(partKey(event.choice, event.part))) return this.#delta(event);
    } else if (event.type === "stop") {
      // Held until the call is settled, as the usage that follows it.
      this.#last += this.#chunk(event.choice, "", "null", `"${writeFinishReason(event.stop)}"`);
    }
    return "";
  }

  close(usage: Usage, svc: SvcReply): string {
    if (!this.#includeUsage) return `${this.#last}data: [DONE]\n\n`;
    const usageJson = JSON.stringify(writeChatUsage(usage));
    return `${this.#last}${this.#head}],"usage":${usageJson},"svc":${svcJson(svc)}}\n\ndata: [DONE]\n\n`;
  }

  #delta({ choice, text, logprobs }: Extract<StreamEvent, { type: "delta" }>): string {
    if (logprobs === undefined) return this.#chunk(choice, text, "null", "null");
    const offset = this.#offsets[choice] ?? 0;
    this.#offsets[choice] = offset + logprobs.reduce((sum, { token }) => sum + token.length, 0);
    return this.#chunk(choice, text, latin1OfJson(logprobsOf(logprobs, offset)), "null");
  }

  #chunk(choice: number, text: string, logprobs: string, finish: string): string {
    const body = `{"text":"${text}","index":${choice},"logprobs":${logprobs},"finish_reason":${finish}}`;
    return `${this.#head}${body}]${this.#usageNull}}\n\n`;
  }
}
