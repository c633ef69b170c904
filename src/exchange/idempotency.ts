/**
 * `Idempotency-Key`: a repeated request gets the first one's answer, byte for byte, and is not charged again. What was
 * charged or answered in full is remembered in the commit that charges it, so a crash leaves either both or neither; what
 * failed without a charge is forgotten, so that a retry may succeed. A key under way is known in memory only: a crash
 * ends the call and frees the key.
 */
import { createHash } from "node:crypto";
import type { ClientReply } from "../client-reply.ts";
import type { Clock } from "../clock.ts";
import { sha256 } from "../digest.ts";
import { fail, type WeirError } from "../errors.ts";
import { type ExpiringTable, openExpiringTable } from "../store/expiring-table.ts";
import type { Store } from "../store/store.ts";
import type { Call, NotKeptReason } from "./call.ts";
import { identityHeaders, JSON_TYPE, STREAM_TYPE } from "./headers.ts";

/** How long an answer can be had again: an hour more than promised, because whole hours are forgotten. */
const KEEP_HOURS = 25;
const HOUR_MS = 3_600_000;

/** An answer as its client got it. */
export interface KeptAnswer {
  /** SHA-256 of the request's body. */
  readonly fingerprint: string;
  readonly requestId: string;
  readonly status: number;
  readonly isStream: boolean;
  /** Why it cannot be given again, where it cannot. `large`: it outgrew what is kept. */
  readonly lost?: NotKeptReason | "large";
  readonly body: Uint8Array;
}

export type Claim =
  | { readonly kind: "first"; readonly lock: IdempotencyLock }
  | { readonly kind: "again"; readonly answer: KeptAnswer }
  | { readonly kind: "refused"; readonly error: WeirError };

/** The right to be the call that answers a key. Ends with `keep` or `release`. */
class IdempotencyLock {
  readonly recorder: RecordingReply;
  readonly #answers: IdempotentAnswers;
  readonly #id: string;
  readonly #fingerprint: string;

  constructor(answers: IdempotentAnswers, id: string, fingerprint: string, recorder: RecordingReply) {
    this.#answers = answers;
    this.#id = id;
    this.#fingerprint = fingerprint;
    this.recorder = recorder;
  }

  /**
   * Puts the answer into the commit under way. @param last what is still to be sent of it.
   * @param notKept why only its existence is remembered, without its bytes
   */
  keep(
    answer: { requestId: string; status: number; isStream: boolean },
    last: Buffer,
    notKept: NotKeptReason | undefined,
  ): void {
    const body = notKept === undefined ? this.recorder.with(last) : undefined;
    const kept = body === undefined ? { lost: notKept ?? ("large" as const), body: NO_BYTES } : { body };
    this.#answers.put(this.#id, { ...answer, ...kept, fingerprint: this.#fingerprint });
  }

  /** From here on the key is answered by what was kept, or free again. */
  release(): void {
    this.#answers.release(this.#id);
  }
}

const NO_BYTES = Buffer.alloc(0);

export interface IdempotencyDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Of an answer; a larger one is remembered but not kept. */
  readonly maxBytes: number;
  /** Called with the error of a sweep that failed. */
  readonly onFailure: (error: unknown) => void;
}

export class IdempotentAnswers {
  readonly #deps: IdempotencyDeps;
  readonly #answers: ExpiringTable<KeptAnswer>;
  /** Keys under way and their requests' fingerprints. */
  readonly #running = new Map<string, string>();

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
    const { store, clock, onFailure } = deps;
    this.#answers = openExpiringTable({
      ...{ store, clock, onFailure },
      ...{
        rows: "idempotent_answers",
        periods: "idempotent_hours",
        periodMs: HOUR_MS,
        keepPeriods: KEEP_HOURS,
      },
    });
  }

  /** Whether this call answers its key, an earlier answer does, or neither can now. At once, or once a large body is hashed. */
  claim(call: Call): Claim | Promise<Claim> {
    const fingerprint = sha256([call.incoming.body]);
    if (typeof fingerprint === "string") return this.#claim(call, fingerprint);
    return fingerprint.then((known) => this.#claim(call, known));
  }

  /** No await between look and claim: of simultaneous callers one is the first. */
  #claim(call: Call, fingerprint: string): Claim {
    const id = idOf(call);
    const running = this.#running.get(id);
    const kept = running === undefined ? this.#answers.get([id]) : undefined;
    const known = running ?? kept?.fingerprint;
    if (known !== undefined && known !== fingerprint) {
      return refused("idempotency_mismatch", "This Idempotency-Key was used with another request.");
    }
    if (running !== undefined) {
      return refused("idempotency_in_progress", "The first request with this Idempotency-Key is under way.");
    }
    if (kept?.lost !== undefined) return refused("state", NOT_KEPT[kept.lost]);
    if (kept !== undefined) return { kind: "again", answer: kept };
    this.#running.set(id, fingerprint);
    const recorder = new RecordingReply(call.incoming.reply, this.#deps.maxBytes);
    return { kind: "first", lock: new IdempotencyLock(this, id, fingerprint, recorder) };
  }

  /** Only inside a commit. */
  put(id: string, answer: KeptAnswer): void {
    this.#answers.put([id], answer, this.#deps.clock.now());
  }

  release(id: string): void {
    this.#running.delete(id);
  }

  /** Forgets all that is old. */
  sweep(): Promise<void> {
    return this.#answers.sweep();
  }

  close(): void {
    this.#answers.close();
  }
}

const NOT_KEPT = {
  cut: "The first request with this Idempotency-Key was cancelled by its client; what it delivered was billed.",
  private: "The answer to the first request with this Idempotency-Key was not kept: zero data retention.",
  large: "The answer to the first request with this Idempotency-Key was too large to be kept.",
};

const refused = (
  kind: "idempotency_mismatch" | "idempotency_in_progress" | "state",
  message: string,
): Claim => ({
  kind: "refused",
  error: fail(kind, message, {
    param: "Idempotency-Key",
    ...(kind === "idempotency_in_progress" && { retryAfterMs: 1000 }),
  }),
});

/** Keys are separate by project, environment and route: tenants never share one (T62), nor do test and live calls. */
function idOf({ key, incoming }: Call): string {
  const digest = createHash("sha256");
  const { orgId, projectId, environment } = key;
  for (const part of [orgId, projectId, environment, incoming.format.name, incoming.idempotencyKey]) {
    digest.update(part).update("\0");
  }
  return digest.digest("hex");
}

/**
 * Gives an answer again, under the id of the call that it was made for. A stream too goes out as one body: it is all there,
 * and is handed over as the client takes it.
 */
export function replay(reply: ClientReply, { status, requestId, isStream, body }: KeptAnswer): void {
  const head = (isStream ? STREAM_TYPE : JSON_TYPE) + identityHeaders(requestId) + REPLAYED;
  reply.send(status, head, Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}

const REPLAYED = "idempotent-replayed: true\r\n";

/** Passes an answer on and remembers it, up to a bound. */
class RecordingReply implements ClientReply {
  readonly #reply: ClientReply;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The client left, and the call goes on so that a repetition of its request gets the answer. */
  #runsWithoutClient = false;
  #resume: (() => void) | undefined;
  /** Asked when the client leaves: whether the call shall go on without it. */
  mayRunWithoutClient: () => boolean = () => false;

  constructor(reply: ClientReply, maxBytes: number) {
    this.#reply = reply;
    this.#maxBytes = maxBytes;
  }

  get gone(): boolean {
    return this.#reply.gone && !this.#runsWithoutClient;
  }

  /** All of the answer; undefined where it outgrew the bound. */
  with(last: Buffer): Buffer | undefined {
    return this.#bytes + last.length > this.#maxBytes ? undefined : Buffer.concat([...this.#parts, last]);
  }

  send(status: number, headers: string, body: Buffer | string): void {
    this.#reply.send(status, headers, body);
  }

  openStream(headers: string, filler: string): void {
    this.#reply.openStream(headers, filler);
  }

  write(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maxBytes) this.#parts.push(Buffer.from(chunk));
    else this.#parts = [];
    return this.#reply.write(chunk);
  }

  end(chunk?: Buffer): void {
    this.#reply.end(chunk);
  }

  abort(): void {
    this.#reply.abort();
  }

  onDrain(resume: () => void): void {
    this.#resume = resume;
    this.#reply.onDrain(resume);
  }

  onGone(gone: () => void): void {
    this.#reply.onGone(() => {
      this.#runsWithoutClient = this.mayRunWithoutClient();
      // The client is gone, so there is nothing to wait for.
      if (this.#runsWithoutClient) this.#resume?.();
      else gone();
    });
  }
}
