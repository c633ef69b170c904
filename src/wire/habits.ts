/** What clients of a format do outside of request bodies. */

export type FeaturesHeader = "anthropic-beta" | "openai-beta";

/** Headers and user ids. */
export interface ClientHabits {
  /** They send their credential as `x-api-key`. */
  readonly sendsApiKey?: boolean;
  /** The header by which they ask for features. It is passed on to a provider of the same dialect. */
  readonly featuresHeader?: FeaturesHeader;
  /** They also read rate limits in headers with this prefix, in which resets are times. */
  readonly ratePrefix?: "anthropic-ratelimit";
  /** They read only the number of an answer to `count_tokens`. */
  readonly readsBareCounts?: boolean;
  /** The same, in an object of this kind. */
  readonly countObject?: "response.input_tokens";
  /** Members of the body that name the end user; the first that is present counts. */
  readonly userMembers: readonly string[];
}

export const OPENAI_HABITS: ClientHabits = Object.freeze({ userMembers: ["safety_identifier", "user"] });
