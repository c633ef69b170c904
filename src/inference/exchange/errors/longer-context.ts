/** Which endpoints are left for a prompt that was too long for others: those with a longer context. */
import type { Endpoint } from "../../../base/endpoint.ts";
import { isOverflow, type UpstreamFailure } from "../../upstream/failure.ts";

/** An overflow whose provider says no limit, with the context that its endpoint declares; any other failure as it is. */
export function withContext(failed: UpstreamFailure, { contextLength }: Endpoint): UpstreamFailure {
  const { refusal } = failed;
  if (refusal?.meaning !== "context_overflow" || refusal.maximum !== undefined) return failed;
  return { ...failed, refusal: { ...refusal, maximum: contextLength } };
}

export class LongerContext {
  /** Contexts up to this length, in tokens, are known to be too short. */
  #tooShort = 0;

  isTooShort({ contextLength }: Endpoint): boolean {
    return contextLength <= this.#tooShort;
  }

  /**
   * Takes note of an overflow. By the declared contexts alone: an endpoint that refuses less than it declares says nothing about others.
   * @param left the endpoints that were not tried, or have not answered yet
   * @returns whether one of them may take the prompt; false for a failure of another kind
   */
  isLeft(failed: UpstreamFailure, { contextLength }: Endpoint, left: readonly Endpoint[]): boolean {
    if (!isOverflow(failed)) return false;
    this.#tooShort = Math.max(this.#tooShort, contextLength, failed.refusal?.tokens ?? 0);
    return left.some((endpoint) => !this.isTooShort(endpoint));
  }
}
