/** A prompt that does not fit a context: the numbers that each client's format has its own words for. */

export interface Overflow {
  /** Tokens of the prompt; undefined where no count shows the overflow. */
  readonly tokens: number | undefined;
  /** Tokens that the answer may have, where they are known. */
  readonly answer: number | undefined;
  /** The longest context, in tokens: the provider's word, else the catalog's. */
  readonly maximum: number;
  /** The gateway counted the prompt, and not the provider. */
  readonly isEstimated: boolean;
  /** The provider's own words; empty where no provider was asked, or it said nothing. */
  readonly said: string;
}

/** Whether the prompt alone is too long, or only together with its answer; undefined where the numbers do not say it. */
export function overflowKind({ tokens, answer, maximum }: Overflow): "prompt" | "together" | undefined {
  if (tokens === undefined) return undefined;
  if (tokens > maximum) return "prompt";
  return answer !== undefined && tokens + answer > maximum ? "together" : undefined;
}
