/**
 * The native answer streamed. Events are named: `generation.started`, `content.delta`, `reasoning.delta`, `tool_call.delta`,
 * `content.media`, `candidate.stopped`, `generation.completed`, `error`.
 */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, StreamWriter } from "../format.ts";
import { nativeMedia } from "../media/made.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import type { PartKind, StreamEvent } from "../neutral/neutral.ts";
import { partKey } from "../neutral/part-key.ts";
import { sseEvent } from "../neutral/sse.ts";
import { closing } from "./write-reply.ts";

const EVENTS: Readonly<Record<PartKind, string>> = {
  text: "content.delta",
  refusal: "content.delta",
  reasoning: "reasoning.delta",
  tool_call: "tool_call.delta",
};

/** An open part: the JSON before its text. */
interface OpenPart {
  /** `{"type":…,"index":…,"part":…` */
  readonly head: string;
  /** The JSON before the text of a delta, up to the opening quote. */
  readonly delta: string;
}

export class GenerateStreamWriter implements StreamWriter {
  readonly #identity: AnswerIdentity;
  readonly #parts = new Map<number, OpenPart>();
  #started = false;

  constructor(identity: AnswerIdentity) {
    this.#identity = identity;
  }

  write(event: StreamEvent): string {
    const out = this.#write(event);
    if (this.#started || out === "") return out;
    return this.#start() + out;
  }

  close(usage: Usage, svc: SvcReply): string {
    const { id, model } = this.#identity;
    const start = this.#started ? "" : this.#start();
    const completed = { type: "generation.completed", id, model, ...closing(usage, svc) };
    return start + sseEvent("generation.completed", latin1OfJson(completed));
  }

  #start(): string {
    this.#started = true;
    const { id, model } = this.#identity;
    return sseEvent("generation.started", latin1OfJson({ type: "generation.started", id, model }));
  }

  #write(event: StreamEvent): string {
    switch (event.type) {
      case "delta": {
        const part = this.#parts.get(partKey(event.choice, event.part));
        if (part === undefined || (event.text === "" && event.logprobs === undefined)) return "";
        const logprobs = event.logprobs === undefined ? "" : `,"logprobs":${latin1OfJson(event.logprobs)}`;
        return `${part.delta}${event.text}"${logprobs}}\n\n`;
      }
      case "begin":
        return this.#begin(event);
      case "seal":
        return this.#beside(event.choice, event.part, "seal", event.seal);
      case "citation":
        return this.#beside(event.choice, event.part, "citation", event.citation);
      case "media": {
        const media = { type: "content.media", index: event.choice, part: event.part };
        return sseEvent("content.media", latin1OfJson({ ...media, media: nativeMedia(event.media) }));
      }
      case "stop": {
        const stopped = { type: "candidate.stopped", index: event.choice, stop: event.stop };
        return sseEvent("candidate.stopped", latin1OfJson(stopped));
      }
      default:
        return "";
    }
  }

  #begin(event: Extract<StreamEvent, { type: "begin" }>): string {
    const name = EVENTS[event.kind];
    const place = `"type":"${name}","index":${event.choice},"part":${event.part}`;
    const kind = event.kind === "refusal" ? ',"refusal":true' : "";
    const head = `event: ${name}\ndata: {${place}${kind}`;
    const delta = `${head},"${event.kind === "tool_call" ? "arguments" : "text"}":"`;
    this.#parts.set(partKey(event.choice, event.part), { head, delta });
    if (event.kind !== "tool_call") {
      if (event.isSummary) return `${head},"summary":true}\n\n`;
      return event.isRedacted ? `${head},"redacted":true}\n\n` : "";
    }
    return `${head},"id":${latin1OfJson(event.id)},"name":${latin1OfJson(event.name)}}\n\n`;
  }

  #beside(choice: number, part: number, key: string, value: unknown): string {
    const open = this.#parts.get(partKey(choice, part));
    return open === undefined ? "" : `${open.head},"${key}":${latin1OfJson(value)}}\n\n`;
  }
}
