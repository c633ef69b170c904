/**
 * Relays a whole answer: collected, checked, and handed on. Nothing leaves before it is complete, so half a body can
 * still be replaced by another endpoint's answer.
 */
import {
  failure,
  reportedFailure,
  retryAfterOf,
  statusFailure,
  type UpstreamFailure,
} from "../upstream/failure.ts";
import type { UpstreamCall, UpstreamHandler, UpstreamHeaders } from "../upstream/upstreams.ts";
import { readErrorBody } from "../wire/chat/errors.ts";
import { readChatReply } from "../wire/chat/reply.ts";
import type { RelayDeps, RelayHost } from "./relay.ts";

export class WholeRelay implements UpstreamHandler {
  status = 0;
  /** Monotonic time of the last data; 0 before the first. */
  lastDataMs = 0;
  readonly paused = false;
  readonly #deps: RelayDeps;
  readonly #host: RelayHost;
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #call: UpstreamCall | undefined;
  #headers: UpstreamHeaders = {};
  #over = false;

  constructor(deps: RelayDeps, host: RelayHost) {
    this.#deps = deps;
    this.#host = host;
  }

  /** True once the upstream has accepted the request. */
  get answering(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  attach(call: UpstreamCall): void {
    this.#call = call;
    if (this.#over) call.cancel();
  }

  cancel(): void {
    this.#over = true;
    this.#call?.cancel();
  }

  clientGone(): void {}

  /** A whole answer has no bytes to send before its end. */
  keepAlive(): void {}

  head(status: number, headers: UpstreamHeaders): void {
    this.status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): void {
    if (this.#over) return;
    this.lastDataMs = this.#deps.clock.monotonic();
    this.#host.firstContent();
    this.#bytes += chunk.length;
    if (this.#bytes > this.#deps.bounds.maxReplyBytes) {
      this.#call?.cancel();
      this.#fail(failure("invalid_response", "protocol", this.status, TOO_LARGE));
      return;
    }
    this.#parts.push(chunk);
  }

  end(): void {
    if (this.#over) return;
    const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    if (!this.answering) {
      const wait = retryAfterOf(this.#headers, this.#deps.clock.now());
      this.#fail(statusFailure(this.status, readErrorBody(body), wait));
      return;
    }
    let reply: ReturnType<typeof readChatReply>;
    try {
      reply = readChatReply(body);
    } catch {
      this.#fail(failure("invalid_response", "protocol", this.status));
      return;
    }
    if (reply.error !== undefined) {
      this.#fail(reportedFailure(reply.error, this.status));
      return;
    }
    this.#over = true;
    this.#host.answered({ kind: "whole", reply });
  }

  failed(failed: UpstreamFailure): void {
    if (!this.#over) this.#fail(failed);
  }

  #fail(failed: UpstreamFailure): void {
    this.#over = true;
    this.#host.failed(failed);
  }
}

const TOO_LARGE = { code: "reply_too_large", type: "", message: "" };
