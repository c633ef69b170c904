/**
 * A row of the table of refusals: by what an answer is recognised, and what it means.
 */
import type { Meaning } from "./refusal.ts";

export interface Row {
  /** `provider.what`; stable, since metrics and records have it. */
  readonly id: string;
  readonly meaning: Meaning;
  /** A page of the provider's, or a public report as `owner/repository#number`. */
  readonly source: string;
  /** Statuses with which it comes; any, where there are none. What came within a stream has no status, and matches any. */
  readonly statuses?: readonly number[];
  /** One of these is its code, or its type. */
  readonly codes?: readonly string[];
  /**
   * Its message begins with these words, or a sentence of it does where the meaning is about the request alone (see `table.ts`).
   * Groups `tokens`, `maximum`, `beyond` (one more than the maximum) and `answer` are numbers of tokens.
   */
  readonly words?: string;
  /** What its message must fulfil beside that. */
  readonly when?: (message: string) => boolean;
  /** The source was not opened: the wording is from memory or from the fixture's author. */
  readonly unread?: true;
}

/** A number of tokens, also with separators of thousands. */
export const N = "[\\d,_]{1,15}";

/** A pattern of which `tokens`, `maximum` or `answer` is the number. */
export const tokens = `(?<tokens>${N})`;
export const maximum = `(?<maximum>${N})`;
export const answer = `(?<answer>${N})`;
