/**
 * Relays a whole answer: collects and checks it, then passes it on. Nothing is sent before it is complete, so that another
 * endpoint can still answer if the body breaks off. A stream that was not asked for is put together as it comes.
 */
import { WeirError } from "../../base/errors.ts";
import type { WholeAnswer } from "../../wire/format.ts";
import type { Folding } from "../../wire/forms/restating.ts";
import type { UpstreamError } from "../../wire/neutral/contract.ts";
import { failure, reportedFailure } from "../upstream/failure.ts";
import { type AnsweredAs, REPLY_TOO_LARGE, STREAM_CUT } from "./forms/answered-as.ts";
import { beginsAsObject, hasText, type OtherWhole, otherWhole, WholeForm } from "./forms/whole-form.ts";
import {
  isLabelledAsStream,
  MAX_ERROR_BYTES,
  mayMakeCall,
  Relay,
  type RelayDeps,
  type RelayHost,
  type RelayInput,
} from "./relay.ts";
import { requestAt } from "./reservation/fit.ts";

const NOTHING = Buffer.alloc(0);

function copied(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

export class WholeRelay extends Relay {
  readonly #input: RelayInput;
  /** What has come, in order. Most answers come in one read: then there is no list. */
  #first: Buffer | undefined;
  #others: Buffer[] | undefined;
  #bytes = 0;
  #hasBegun = false;
  /** Defined while the body is a stream, or may be one. */
  #form: WholeForm | undefined;

  constructor(deps: RelayDeps, relayInput: RelayInput, host: RelayHost) {
    super(deps, host);
    this.#input = relayInput;
  }

  /** White space is sent until an answer is ready, and a model may be at work behind the preamble of a stream. */
  override get isWriting(): boolean {
    const form = this.#form;
    if (form?.folding === undefined) return (this.#hasBegun && form === undefined) || super.isWriting;
    return form.folding.complete || (form.isInText && !mayMakeCall(this.#input));
  }

  clientGone(): void {}

  /** A whole answer has no bytes to send before its end. */
  keepAlive(): void {}

  onData(bytes: Buffer, start: number, end: number): void {
    if (this.over) return;
    // Nearly all are kept. The memory of a read is used again.
    const isKept = this.#form === undefined;
    const chunk = isKept ? copied(bytes, start, end) : bytes.subarray(start, end);
    this.lastDataMs = this.deps.clock.monotonic();
    // Some providers send white space until their answer is ready.
    if (!this.#hasBegun && this.answering && hasText(chunk)) {
      this.#hasBegun = true;
      if (beginsAsObject(chunk)) this.host.relayBegins();
      else this.#form = this.#newForm();
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.deps.bounds.maxReplyBytes) {
      this.#failed(REPLY_TOO_LARGE);
      return;
    }
    if (this.#form !== undefined) this.#look(chunk, this.#form);
    if (this.#form?.folding !== undefined) return;
    const own = isKept ? chunk : Buffer.from(chunk);
    if (this.#first === undefined) this.#first = own;
    else if (this.#others === undefined) this.#others = [own];
    else this.#others.push(own);
    if (!this.answering && this.#bytes > MAX_ERROR_BYTES) {
      this.upstream?.cancel();
      this.refused(this.#all());
    }
  }

  #all(): Buffer {
    if (this.#first === undefined) return NOTHING;
    return this.#others === undefined ? this.#first : Buffer.concat([this.#first, ...this.#others]);
  }

  onEnd(): void {
    if (this.over) return;
    const folding = this.#form?.folding;
    if (folding !== undefined) {
      this.#folded(folding);
      return;
    }
    const body = this.#all();
    if (!this.answering) this.refused(body);
    else this.#answered(body);
  }

  /**
   * @param isMade the gateway made the body of what arrived: it can be nothing else
   * @param unreportedBytes of its text, which the report in it does not count
   */
  #answered(body: Buffer, isMade = false, unreportedBytes = 0): void {
    const { call, endpoint, passage, ownTools } = this.#input;
    let answer: WholeAnswer;
    try {
      const identity = call.identity(this.deps);
      answer = passage.whole(body, requestAt(call, endpoint), identity, ownTools);
    } catch (error) {
      if (!(error instanceof WeirError)) this.deps.onFault(error, call.requestId);
      else if (!isMade) {
        void this.#answeredOtherwise(body);
        return;
      }
      this.#failed();
      return;
    }
    const { error, facts } = answer;
    if (error !== undefined) this.fail(reportedFailure(error, this.status));
    else if (unreportedBytes === 0) this.finish({ kind: "whole", answer });
    else this.finish({ kind: "whole", answer: { ...answer, facts: { ...facts, unreportedBytes } } });
  }

  async #answeredOtherwise(body: Buffer): Promise<void> {
    const { passage } = this.#input;
    let other: OtherWhole = {};
    let thrown: unknown;
    try {
      other = await otherWhole(body, passage, this.deps.bounds.maxEventBytes);
    } catch (error) {
      thrown = error;
    }
    const { value, folding } = other;
    // Meanwhile the call may have been given up.
    if (this.over) return;
    this.#guarded(() => {
      if (thrown !== undefined) throw thrown;
      if (folding !== undefined) this.#folded(folding, "json_values");
      else if (value === undefined) this.#failed();
      else this.#answered(value, true);
    });
  }

  #newForm(): WholeForm {
    const { dialect, passage } = this.#input;
    const isLabelled = isLabelledAsStream(this.headers, dialect);
    return new WholeForm(dialect, passage, this.deps.bounds.maxEventBytes, isLabelled);
  }

  #look(chunk: Buffer, form: WholeForm): void {
    this.#guarded(() => form.push(chunk));
    const { folding } = form;
    if (form.isOther) this.#form = undefined;
    // Until content comes, another endpoint may be asked.
    if (form.isOther || form.hasContent) this.host.relayBegins();
    if (folding === undefined || this.over) return;
    this.#first = this.#others = undefined;
    if (!folding.done && folding.error === undefined) return;
    // Some servers leave the connection open behind the last event.
    this.upstream?.cancel();
    this.#folded(folding);
  }

  /** The stream has ended: it is an answer as a whole, or none of it is. */
  #folded(folding: Folding, answeredAs: AnsweredAs = "stream"): void {
    this.#guarded(() => {
      folding.end();
      const { error } = folding;
      if (error?.whole !== undefined) {
        this.answeredAs = answeredAs;
        this.#answered(Buffer.from(error.whole, "latin1"), true);
      } else if (error !== undefined) this.fail(reportedFailure(error, this.status));
      else if (!folding.done && !folding.complete)
        this.fail(failure("stream_error", "protocol", this.status, STREAM_CUT));
      else {
        this.answeredAs = answeredAs;
        this.#answered(folding.whole(), true, folding.unreportedBytes);
      }
    });
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof WeirError)) this.deps.onFault(error, this.#input.call.requestId);
      if (!this.over) this.#failed();
    }
  }

  #failed(upstream?: UpstreamError): void {
    this.upstream?.cancel();
    this.fail(failure("invalid_response", "protocol", this.status, upstream));
  }
}
