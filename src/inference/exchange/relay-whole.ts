/**
 * Relays a whole answer: collects and checks it, then passes it on. Nothing is sent before it is complete, so that another
 * endpoint can still answer if the body breaks off.
 */
import { WeirError } from "../../base/errors.ts";
import type { WholeAnswer } from "../../wire/format.ts";
import { failure, reportedFailure } from "../upstream/failure.ts";
import { MAX_ERROR_BYTES, Relay, type RelayDeps, type RelayHost, type RelayInput } from "./relay.ts";
import { requestAt } from "./reservation/fit.ts";

export class WholeRelay extends Relay {
  readonly #input: RelayInput;
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #hasBegun = false;

  constructor(deps: RelayDeps, relayInput: RelayInput, host: RelayHost) {
    super(deps, host);
    this.#input = relayInput;
  }

  clientGone(): void {}

  /** A whole answer has no bytes to send before its end. */
  keepAlive(): void {}

  onData(chunk: Buffer): void {
    if (this.over) return;
    this.lastDataMs = this.deps.clock.monotonic();
    if (!this.#hasBegun && this.answering && !isBlank(chunk)) {
      this.#hasBegun = true;
      this.host.relayBegins();
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.deps.bounds.maxReplyBytes) {
      this.upstream?.cancel();
      this.fail(failure("invalid_response", "protocol", this.status, TOO_LARGE));
      return;
    }
    this.#parts.push(Buffer.from(chunk));
    if (!this.answering && this.#bytes > MAX_ERROR_BYTES) {
      this.upstream?.cancel();
      this.refused(Buffer.concat(this.#parts));
    }
  }

  onEnd(): void {
    if (this.over) return;
    const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    if (!this.answering) {
      this.refused(body);
      return;
    }
    const { call, endpoint, passage, ownTools } = this.#input;
    let answer: WholeAnswer;
    try {
      const identity = call.identity(this.deps);
      answer = passage.whole(body, requestAt(call, endpoint), identity, ownTools);
    } catch (error) {
      if (!(error instanceof WeirError)) this.deps.onFault(error, call.requestId);
      this.fail(failure("invalid_response", "protocol", this.status));
      return;
    }
    if (answer.error !== undefined) {
      this.fail(reportedFailure(answer.error, this.status));
      return;
    }
    this.finish({ kind: "whole", answer });
  }
}

/** Some providers send white space until their answer is ready. */
const isBlank = (chunk: Buffer): boolean => chunk.every((byte) => byte <= 0x20);

const TOO_LARGE = { code: "reply_too_large", type: "", message: "" };
