/** A spliced completions stream: as one of chat, with the text of a choice in `text`. */
import { cutChunk } from "../chat/chunks/finish-chunk.ts";
import { ChatSpliceStream, type ChunkForm, newChunkMemory } from "../chat/splice-stream.ts";
import type { AnswerIdentity } from "../format.ts";
import type { ReplyFacts } from "../neutral/contract.ts";
import type { Passed } from "../neutral/frames/frame.ts";
import type { JsonObject } from "../neutral/reader.ts";
import { chunkOfChat } from "./chat-shaped.ts";
import { generatedBytes, generatedFacts, type Making } from "./echo.ts";
import { CompletionsStreamReader } from "./reader.ts";
import type { CompletionsRequest } from "./request.ts";

const TEXT_CHUNKS: ChunkForm = {
  object: "text_completion",
  reader: (maxEventBytes, tap) => new CompletionsStreamReader(maxEventBytes, tap),
  cut: (data, choices) => cutChunk(data, choices, "text"),
  ...newChunkMemory(),
};

export class CompletionsSpliceStream extends ChatSpliceStream {
  readonly #making: Making;
  /** The current event, where it came in the shape of chat. */
  #rebuilt: string | undefined;

  constructor(request: CompletionsRequest, identity: AnswerIdentity) {
    const { echoedBytes, madeForEach } = request;
    super(request, identity, TEXT_CHUNKS);
    this.#making = { echoedBytes, madeForEach };
  }

  override parse(data: string): JsonObject | undefined {
    this.#rebuilt = chunkOfChat(data);
    return super.parse(this.#rebuilt ?? data);
  }

  protected override pass(data: string, type: string, event: JsonObject): Passed | undefined {
    const rebuilt = this.#rebuilt;
    if (rebuilt === undefined) return super.pass(data, type, event);
    this.#rebuilt = undefined;
    super.pass(rebuilt, type, event);
    // Later events are not like this one as it is passed on, but as it came.
    return undefined;
  }

  /** Bytes of the text that the model generated. */
  override get textBytes(): number {
    return generatedBytes(super.textBytes, this.#making);
  }

  override get facts(): ReplyFacts {
    return generatedFacts(super.facts, this.#making);
  }
}
