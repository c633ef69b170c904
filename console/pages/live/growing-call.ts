/** What a call has said so far, as turns to read. Texts are appended as they come; whoever draws takes a snapshot. Pure, and bounded. */
import type { SentEvent } from "../../api/event-reader.ts";
import { indented, type ShownPart, type Turn } from "../../text/canonical.ts";
import { type Said, saidBy } from "./answer-events.ts";

/** Characters of all parts together. */
export const MOST_CHARACTERS = 2_000_000;
/** Parts of all answers together, and answers. */
export const MOST_PARTS = 2000;
export const MOST_CHOICES = 128;

type PartSaid = Pick<Extract<Said, { is: "part" }>, "kind" | "name" | "text">;

interface GrowingPart {
  kind: string;
  name: string;
  text: string;
}

interface GrowingChoice {
  readonly parts: Map<string, GrowingPart>;
  /** Why it ended; empty while it goes on. */
  stop: string;
}

export class GrowingCall {
  /** The id of the last event: a stream goes on after it. Empty before the first. */
  position = "";
  /** No event follows. */
  isOver = false;
  /** What went wrong; empty where nothing did. */
  failure = "";
  /** Characters that were left out: there were more than a page can hold. */
  cut = 0;
  readonly #choices = new Map<number, GrowingChoice>();
  #characters = 0;
  #parts = 0;

  take(events: readonly SentEvent[]): void {
    for (const event of events) {
      // A call whose gateway was killed may tell its end once more.
      if (event.id !== "" && this.position !== "" && Number(event.id) <= Number(this.position)) continue;
      if (event.id !== "") this.position = event.id;
      this.#take(event);
    }
  }

  get turns(): readonly Turn[] {
    const sorted = [...this.#choices].sort(([a], [b]) => a - b);
    return sorted.map(([choice, { parts, stop }]) => ({
      role: `${choice === 0 ? "assistant" : `assistant, answer ${choice + 1}`}${stop === "" ? "" : ` · ${stop}`}`,
      parts: [...parts.values()].map((part) => shown(part, stop !== "" || this.isOver)),
    }));
  }

  #take(event: SentEvent): void {
    for (const said of saidBy(event)) {
      if (said.is === "over") {
        this.isOver = true;
        this.failure ||= said.failure ?? "";
        continue;
      }
      const choice = this.#choice(said.choice);
      if (said.is === "stop") choice.stop = said.reason;
      else this.#grow(choice, said, said.place);
    }
  }

  #choice(index: number): GrowingChoice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = { parts: new Map(), stop: "" };
      if (this.#choices.size < MOST_CHOICES) this.#choices.set(index, choice);
    }
    return choice;
  }

  #grow({ parts }: GrowingChoice, { kind, name = "", text }: PartSaid, place: string): void {
    let part = parts.get(place);
    if (part === undefined) {
      if (this.#parts === MOST_PARTS) {
        this.cut += text.length;
        return;
      }
      this.#parts++;
      part = { kind, name, text: "" };
      parts.set(place, part);
    }
    if (part.name === "") part.name = name;
    const taken = text.slice(0, MOST_CHARACTERS - this.#characters);
    this.#characters += taken.length;
    this.cut += text.length - taken.length;
    part.text += taken;
  }
}

/** Arguments of a call are put on lines of their own once they are whole. */
const shown = ({ kind, name, text }: GrowingPart, isWhole: boolean): ShownPart => ({
  kind,
  text: kind === "tool call" && isWhole ? indented(text) : text,
  ...(name !== "" && { name }),
});
