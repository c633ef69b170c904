/** What a provider's refusal means, in one vocabulary for all providers. */

export type Meaning =
  /** A firewall before the provider refused the call: it says nothing of the request, nor of the credential. */
  | "firewall"
  /** The prompt, or prompt and answer together, do not fit the model's context. */
  | "context_overflow"
  /** `max_tokens` is more than the model can give. */
  | "output_limit"
  /** The provider does not know the model, or the account may not use it. */
  | "unknown_model"
  | "unsupported_parameter"
  /** A value of the request's is out of its range, or too long. */
  | "invalid_value"
  | "content_policy"
  /** The account's funds or quota are used up: waiting does not help. */
  | "quota"
  | "credential"
  /** The provider does not serve the place that the gateway calls from. */
  | "region"
  | "overloaded"
  /** Too many calls or tokens for now. */
  | "rate_limit"
  /** This request is too large for the account's tier; others are served. */
  | "tier";

export interface Refusal {
  /** Id of the row of the table that matched, such as `openai.context_length`. */
  readonly row: string;
  readonly meaning: Meaning;
  /** Tokens of the prompt that overflows, where the provider says them. */
  readonly tokens?: number | undefined;
  /** The most tokens that the provider takes, or gives, where it says so. */
  readonly maximum?: number | undefined;
  /** Tokens that were asked for the answer, where the provider counts them: with the prompt's they do not fit. */
  readonly answer?: number | undefined;
}
