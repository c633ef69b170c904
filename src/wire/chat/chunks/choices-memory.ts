/**
 * Choices of events that were parsed before. Streams begin and end with the same few of them: a role without text, a finish reason without
 * text.
 */
import { utf8Of } from "../../json/json.ts";
import { copied, stands } from "../../json/latin1.ts";
import { frozen } from "../../json/values.ts";

/** Longer texts are hardly ever the same. */
const LONGEST = 256;

interface Known {
  readonly text: string;
  readonly choices: readonly unknown[];
}

export class ChoicesMemory {
  /** The last ones that came twice in a row, by their length. */
  readonly #known: (Known | undefined)[] = Array.from({ length: LONGEST + 1 });
  /** The hash of the last one that was not known, by its length: most texts come once, and are not worth being kept. */
  readonly #seen = new Int32Array(LONGEST + 1);

  /**
   * Parses choices without their brackets. What is given may be given again, so nothing in it may be changed.
   * @param text latin1 @returns undefined if the text is no JSON
   */
  read(text: string): readonly unknown[] | undefined {
    const known = this.#known[text.length];
    if (known !== undefined && stands(known.text, text, 0)) return known.choices;
    const choices = listIn(text);
    if (choices === undefined || text.length > LONGEST) return choices;
    const hash = hashOf(text);
    if (this.#seen[text.length] === hash)
      this.#known[text.length] = { text: copied(text), choices: frozen(choices) };
    this.#seen[text.length] = hash;
    return choices;
  }
}

function listIn(text: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(`[${utf8Of(text)}]`);
  } catch {
    return undefined;
  }
}

/** Two texts with the same hash cost no more than a comparison that fails. */
function hashOf(text: string): number {
  let hash = 1;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
