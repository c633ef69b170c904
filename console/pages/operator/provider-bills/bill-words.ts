/** A provider's bill beside what was recorded, in words; and the file that is read. Pure. */
import type { Operations } from "../../../api/operations.ts";
import type { Tone } from "../../../parts/tone.ts";

export type Bill = Operations["operatorCheckProviderBill"]["answer"];
export type Line = Bill["data"][number];
type Figures = Line["billed"];

export const KINDS: Readonly<Record<Line["kind"], readonly [Tone, string, meaning: string]>> = {
  matched: ["good", "agrees", "Tokens agree."],
  drift: ["warn", "differs", "Tokens differ."],
  unbilled: ["plain", "not billed", "Recorded here, and not on the bill."],
  unrecorded: ["bad", "not recorded", "Billed, and not recorded here."],
};

export const FORMATS = [
  ["plain", "Columns of this gateway: day, model, input_tokens, …"],
  ["openai", "OpenAI: usage or costs"],
  ["anthropic", "Anthropic: usage or costs"],
] as const;

/** What the API takes at most; its own frame around the file takes a little. */
const MOST_BYTES = 8 * 1024 * 1024 - 64 * 1024;

/** Why a text cannot be sent; undefined where it can. @param bytes of the text, in UTF-8 */
export function faultOfFile(text: string, bytes: number): string | undefined {
  if (text.trim() === "") return "Paste the bill, or choose its file.";
  if (bytes > MOST_BYTES)
    return "The file has more than 8 MB: split it by days, and compare one part after the other.";
  return undefined;
}

/** An export of an API is JSON, which begins with a brace or a bracket; what a console saves is CSV. */
export const isJson = (text: string): boolean => /^\s*[[{]/.test(text);

/** Share of tolerance as the API takes it; undefined where the text is none. @param text per cent: `0.5` */
export function basisPoints(text: string): number | undefined {
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(text.trim())) return undefined;
  const points = Math.round(Number(text) * 100);
  return points <= 10_000 ? points : undefined;
}

/** Input and output together; null where neither is told. */
export const tokensOf = ({ input_tokens: read, output_tokens: written }: Figures): number | null =>
  read === null && written === null ? null : (read ?? 0) + (written ?? 0);
