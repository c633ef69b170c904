/**
 * Whether a call's hold covers what its stream is about to deliver. A stream without a limit extends its hold in advance, while the credit
 * allows it (T40).
 */
import type { Endpoint } from "../../../base/endpoint.ts";
import { after, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { ByokFee } from "../../../base/usage.ts";
import { BYTES_PER_TOKEN, estimateOutputTokens } from "../../../wire/estimate.ts";
import type { AnswerStream } from "../../../wire/format.ts";
import type { TierNames } from "../../../wire/neutral/asked-extras.ts";
import type { Cover, ReservedCall } from "../call.ts";
import { extend, extendUses } from "../reserve.ts";
import { coverAt, limitAt } from "./fit.ts";
import type { HoldDeps } from "./holds.ts";

/** Share of its hold at which a stream extends it. */
const EXTEND_AT = 0.9;
/** Events that may carry no token: roles, finish reasons, empty deltas. */
const EVENTS_WITHOUT_TOKEN = 16;
/** No prose or code has more bytes per token over a longer text. */
const LONGEST_TOKEN_BYTES = 16;

export interface StreamCoverDeps extends HoldDeps {
  /** A hold is extended by this many output tokens at a time. */
  readonly bounds: { readonly extendTokens: number };
}

export interface StreamCoverInput {
  readonly call: ReservedCall;
  readonly endpoint: Endpoint;
  /** Tiers that the endpoint is asked for. */
  readonly tiers?: TierNames | undefined;
  /** Set if an org's own key is answering. */
  readonly fee: ByokFee | undefined;
}

export class StreamCover {
  readonly #deps: StreamCoverDeps;
  readonly #input: StreamCoverInput;
  readonly #cover: Cover;
  /** The upstream was told a limit. */
  readonly #isBounded: boolean;
  /**
   * Up to so much of the answer it is known that the hold covers it: a hold only grows. Kept here, so that a read touches no more of the
   * call: with a thousand streams each object comes from memory anew.
   */
  #sureEvents = 0;
  #sureBytes = 0;

  constructor(deps: StreamCoverDeps, input: StreamCoverInput) {
    const { call, endpoint } = input;
    this.#deps = deps;
    this.#input = input;
    this.#cover = coverAt(call.reservation, endpoint);
    this.#isBounded = (call.request.facts.maxTokens ?? limitAt(call, endpoint)) !== undefined;
  }

  covers(stream: AnswerStream): MaybePromise<boolean> {
    if (stream.textBytes <= this.#sureBytes && stream.events <= this.#sureEvents && !stream.toolUses)
      return true;
    const { call, endpoint, fee } = this.#input;
    const { reservation } = call;
    const { toolUses = 0 } = stream;
    const lacking = toolUses - (reservation.toolUses ?? Number.POSITIVE_INFINITY);
    if (lacking <= 0) return this.#coversTokens(stream);
    const isCovered = extendUses(this.#deps, reservation, endpoint, lacking, fee);
    return after(isCovered, (is) => is && this.#coversTokens(stream));
  }

  #coversTokens({ events, textBytes }: AnswerStream): MaybePromise<boolean> {
    const { call, endpoint, fee, tiers } = this.#input;
    const { outputTokens } = this.#cover;
    let tokens: number;
    if (!this.#isBounded) {
      tokens = Math.max(events, estimateOutputTokens(textBytes));
      const covered = Math.ceil(outputTokens * EXTEND_AT) - 1;
      if (tokens <= covered) return this.#isSure(covered, covered * BYTES_PER_TOKEN);
    } else {
      // The hold covers the limit, which upstreams keep exactly: only a stream that clearly exceeds it is cut off.
      const withoutToken = EVENTS_WITHOUT_TOKEN * call.request.facts.choices;
      tokens = Math.max(events - withoutToken, Math.ceil(textBytes / LONGEST_TOKEN_BYTES));
      if (tokens <= outputTokens)
        return this.#isSure(outputTokens + withoutToken, outputTokens * LONGEST_TOKEN_BYTES);
    }
    const lacking = Math.max(0, tokens - outputTokens);
    const grows = (by: number) => extend(this.#deps, call.reservation, endpoint, by, fee, tiers);
    return after(
      grows(lacking + this.#deps.bounds.extendTokens),
      (hasGrown) => hasGrown || lacking === 0 || grows(lacking),
    );
  }

  #isSure(events: number, bytes: number): true {
    this.#sureEvents = events;
    this.#sureBytes = bytes;
    return true;
  }
}
