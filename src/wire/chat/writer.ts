/**
 * A streamed answer as chat-completions chunks (OpenAI API reference, "Streaming"): the role first (T51), then what the
 * parts grow by, tool calls numbered from 0 among themselves (T44), one finish reason a choice (T46). Chunks are put
 * together from text made once a part: a token costs a concatenation.
 */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, StreamWriter } from "../format.ts";
import { latin1Json } from "../json/json.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { fragmentOf, latin1OfJson } from "../neutral/fragment.ts";
import type { Citation, Logprob, PartKind, Seal, Stop, StreamEvent } from "../neutral/neutral.ts";
import { svcJson } from "../svc.ts";
import { writeCitation } from "./citations.ts";
import { imageOf } from "./media.ts";
import { extraContentOf, formatOf } from "./reasoning.ts";
import { writeFinishReason } from "./stop.ts";
import { writeChatUsage } from "./usage.ts";

interface WrittenPart {
  readonly kind: PartKind;
  /** The chunk around a piece of its text. A piece of reasoning is written twice: again after `middle`. */
  readonly open: string;
  readonly middle: string | undefined;
  readonly close: string;
  /** The place of a tool call among the calls, of reasoning among the reasoning; from 0. */
  readonly number: number;
  /** Its seal contains all of it. */
  readonly isHidden: boolean;
  hasText: boolean;
}

interface WrittenChoice {
  /** The text of a chunk before its delta's members. */
  readonly head: string;
  readonly parts: (WrittenPart | undefined)[];
  calls: number;
  images: number;
  thoughts: number;
  stopped: boolean;
}

type Begin = Extract<StreamEvent, { type: "begin" }>;

export class ChatStreamWriter implements StreamWriter {
  readonly #includeUsage: boolean;
  /** The text of a chunk before its choices. */
  readonly #head: string;
  /** The text of a chunk after its delta, before the choice's end. */
  readonly #tail: string;
  /** Behind the choice. */
  readonly #end: string;
  readonly #choices: (WrittenChoice | undefined)[] = [];
  /** Chunks with finish reasons: sent after the settlement. */
  #last = "";
  /** The first chunk of a call without its end, kept back for one event: clients look for a call's seal only there. */
  #held = "";
  #heldCall: Pick<Begin, "choice" | "part"> | undefined;

  /** @param includeUsage false: the client wants none; neither usage nor the last chunk is sent */
  constructor(identity: AnswerIdentity, includeUsage: boolean) {
    this.#includeUsage = includeUsage;
    const { id, createdS, model } = identity;
    const members = latin1Json({ id, object: "chat.completion.chunk", created: createdS, model });
    this.#head = `data: ${members.slice(0, -1)},"choices":[`;
    this.#end = includeUsage ? '}],"usage":null}\n\n' : "}]}\n\n";
    this.#tail = `},"logprobs":null,"finish_reason":null${this.#end}`;
  }

  write(event: StreamEvent): string {
    if (this.#held !== "") return this.#release(event);
    switch (event.type) {
      case "delta": {
        const part = this.#choices[event.choice]?.parts[event.part];
        return part === undefined ? "" : this.#delta(part, event.text, event.logprobs);
      }
      case "begin":
        return this.#begin(event);
      case "seal":
        return this.#seal(event.choice, event.part, event.seal);
      case "citation":
        return this.#citation(event.choice, event.citation);
      case "media":
        return this.#image(event);
      case "end":
        return this.#endOf(event.choice, event.part);
      case "stop":
        this.#stop(event.choice, event.stop);
        return "";
      case "usage":
        return "";
    }
  }

  close(usage: Usage, svc: SvcReply): string {
    const last = this.#firstOf(undefined) + this.#last;
    if (!this.#includeUsage) return `${last}data: [DONE]\n\n`;
    const usageJson = JSON.stringify(writeChatUsage(usage));
    return `${last}${this.#head}],"usage":${usageJson},"svc":${svcJson(svc)}}\n\ndata: [DONE]\n\n`;
  }

  #release(event: StreamEvent): string {
    const call = this.#heldCall;
    const isSeal = event.type === "seal" && event.part === call?.part && event.choice === call.choice;
    const first = this.#firstOf(isSeal ? event.seal : undefined);
    return isSeal ? first : first + this.write(event);
  }

  /** The chunk that was kept back, if any. */
  #firstOf(seal: Seal | undefined): string {
    const held = this.#held;
    if (held === "") return "";
    this.#held = "";
    const extra = extraContentOf(seal);
    return `${held}${extra === undefined ? "" : `,${latin1OfJson(extra).slice(1, -1)}`}}]${this.#tail}`;
  }

  #delta(part: WrittenPart, text: string, logprobs: readonly Logprob[] | undefined): string {
    const { open, middle, close } = part;
    if (text !== "") part.hasText = true;
    if (logprobs !== undefined && (part.kind === "text" || part.kind === "refusal")) {
      const tokens = latin1OfJson(logprobs);
      const members =
        part.kind === "text" ? `"content":${tokens},"refusal":null` : `"content":null,"refusal":${tokens}`;
      return `${open}${text}"},"logprobs":{${members}},"finish_reason":null${this.#end}`;
    }
    if (text === "") return "";
    return middle === undefined ? open + text + close : open + text + middle + text + close;
  }

  #begin(event: Begin): string {
    let choice = this.#choices[event.choice];
    let out = "";
    if (choice === undefined) {
      choice = this.#open(event.choice);
      out = this.#role(choice, event.kind === "text" || event.kind === "reasoning");
    }
    if (event.kind !== "tool_call") {
      choice.parts[event.part] = this.#partOf(choice, event);
      return out;
    }
    const number = choice.calls++;
    const call = `"tool_calls":[{"index":${number},`;
    const isCustom = event.tool === "custom";
    const [type, has] = isCustom ? ["custom", "input"] : ["function", "arguments"];
    choice.parts[event.part] = {
      kind: "tool_call",
      open: `${choice.head}${call}"${type}":{"${has}":"`,
      middle: undefined,
      close: `"}}]${this.#tail}`,
      number,
      isHidden: false,
      // A text may be empty; arguments may not.
      hasText: isCustom,
    };
    const named = `"id":"${fragmentOf(event.id)}","type":"${type}","${type}":{"name":"${fragmentOf(event.name)}"`;
    this.#held = `${choice.head}${call}${named},"${has}":""}`;
    this.#heldCall = event;
    return out;
  }

  #partOf(
    choice: WrittenChoice,
    { kind, isSummary, isRedacted }: Exclude<Begin, { kind: "tool_call" }>,
  ): WrittenPart {
    const { head } = choice;
    const part = {
      kind,
      number: 0,
      isHidden: false,
      hasText: false,
      middle: undefined,
      close: `"${this.#tail}`,
    };
    if (kind === "text") return { ...part, open: `${head}"content":"` };
    if (kind === "refusal") return { ...part, open: `${head}"refusal":"` };
    const number = choice.thoughts++;
    const item =
      isSummary === true ? '"type":"reasoning.summary","summary":"' : '"type":"reasoning.text","text":"';
    return {
      ...part,
      open: `${head}"reasoning_content":"`,
      middle: `","reasoning_details":[{${item}`,
      close: `","index":${number}}]${this.#tail}`,
      number,
      isHidden: isSummary === true || isRedacted === true,
    };
  }

  #seal(choiceIndex: number, partIndex: number, seal: Seal): string {
    const choice = this.#choices[choiceIndex];
    const part = choice?.parts[partIndex];
    if (choice === undefined || part === undefined) return "";
    const { number: index } = part;
    if (part.kind === "reasoning") {
      const format = formatOf(seal);
      const item = part.isHidden
        ? { type: "reasoning.encrypted", data: seal.data, format, index }
        : { type: "reasoning.text", text: "", signature: seal.data, format, index };
      return `${choice.head}"reasoning_details":[${latin1OfJson(item)}]${this.#tail}`;
    }
    const extra = extraContentOf(seal);
    if (extra === undefined) return "";
    const members =
      part.kind === "tool_call"
        ? `"tool_calls":[${latin1OfJson({ index, ...extra })}]`
        : latin1OfJson(extra).slice(1, -1);
    return `${choice.head}${members}${this.#tail}`;
  }

  #citation(choiceIndex: number, citation: Citation): string {
    const choice = this.#choices[choiceIndex];
    const annotation = writeCitation(citation);
    if (choice === undefined || annotation === undefined) return "";
    return `${choice.head}"annotations":[${latin1OfJson(annotation)}]${this.#tail}`;
  }

  #image({ choice: index, media }: Extract<StreamEvent, { type: "media" }>): string {
    let choice = this.#choices[index];
    let out = "";
    if (choice === undefined) {
      choice = this.#open(index);
      out = this.#role(choice, true);
    }
    return `${out}${choice.head}"images":[${latin1OfJson(imageOf(media, choice.images++))}]${this.#tail}`;
  }

  /** A call without text gets `{}`: clients do not run a tool with "" as its arguments. */
  #endOf(choiceIndex: number, partIndex: number): string {
    const part = this.#choices[choiceIndex]?.parts[partIndex];
    return part?.kind === "tool_call" && !part.hasText ? this.#delta(part, "{}", undefined) : "";
  }

  #stop(index: number, stop: Stop): void {
    let choice = this.#choices[index];
    if (choice === undefined) {
      choice = this.#open(index);
      this.#last += this.#role(choice, true);
    }
    if (choice.stopped) return;
    choice.stopped = true;
    const reason = writeFinishReason(stop, choice.calls > 0);
    this.#last += `${choice.head}},"logprobs":null,"finish_reason":"${reason}"${this.#end}`;
  }

  #open(index: number): WrittenChoice {
    const head = `${this.#head}{"index":${index},"delta":{`;
    const choice: WrittenChoice = { head, parts: [], calls: 0, images: 0, thoughts: 0, stopped: false };
    this.#choices[index] = choice;
    return choice;
  }

  #role({ head }: WrittenChoice, hasText: boolean): string {
    return `${head}"role":"assistant","content":${hasText ? '""' : "null"},"refusal":null${this.#tail}`;
  }
}
