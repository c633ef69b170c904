/**
 * Relays a whole answer: collected, checked, and handed on. Nothing leaves before it is complete, so half a body can
 * still be replaced by another endpoint's answer.
 */
import { failure, reportedFailure, retryAfterOf, statusFailure } from "../upstream/failure.ts";
import { readErrorBody } from "../wire/chat/errors.ts";
import { readChatReply } from "../wire/chat/reply.ts";
import { Relay } from "./relay.ts";

export class WholeRelay extends Relay {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  clientGone(): void {}

  /** A whole answer has no bytes to send before its end. */
  keepAlive(): void {}

  data(chunk: Buffer): void {
    if (this.over) return;
    this.lastDataMs = this.deps.clock.monotonic();
    this.host.firstContent();
    this.#bytes += chunk.length;
    if (this.#bytes > this.deps.bounds.maxReplyBytes) {
      this.upstream?.cancel();
      this.fail(failure("invalid_response", "protocol", this.status, TOO_LARGE));
      return;
    }
    this.#parts.push(chunk);
  }

  end(): void {
    if (this.over) return;
    const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    if (!this.answering) {
      const wait = retryAfterOf(this.headers, this.deps.clock.now());
      this.fail(statusFailure(this.status, readErrorBody(body), wait));
      return;
    }
    let reply: ReturnType<typeof readChatReply>;
    try {
      reply = readChatReply(body);
    } catch {
      this.fail(failure("invalid_response", "protocol", this.status));
      return;
    }
    if (reply.error !== undefined) {
      this.fail(reportedFailure(reply.error, this.status));
      return;
    }
    this.over = true;
    this.host.answered({ kind: "whole", reply });
  }
}

const TOO_LARGE = { code: "reply_too_large", type: "", message: "" };
