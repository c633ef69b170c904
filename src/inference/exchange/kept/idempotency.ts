/**
 * `Idempotency-Key`: a repeated request gets the first one's answer, byte for byte, and is not charged again. An answer that
 * was charged or complete is stored in the commit that charges it, so a crash leaves both or neither. A call that failed
 * without a charge stores nothing, so that a retry may succeed. Keys in progress are in memory only: a crash ends the call
 * and frees the key, unless the call was detached and had said something: that is charged at the next start, and the key stays used. Cells of one installation claim a key for all of them, and share the answers.
 */

import { createHash } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { sha256 } from "../../../base/digest.ts";
import { fail, type WeirError } from "../../../base/errors.ts";
import { HOUR_MS } from "../../../base/time.ts";
import type { KeptBytes, KeptOwner } from "../../../credits/kept/kept-bytes.ts";
import type { KeptChange } from "../../../credits/kept/kept-counts.ts";
import type { Store, Table } from "../../../store/store.ts";
import { type ExpiringTable, openExpiringTable } from "../../../store/tables/expiring-table.ts";
import { PAST_IDS } from "../../../store/tables/key-order.ts";
import { EventNumbers } from "../../../wire/neutral/event-numbers.ts";
import type { ClientReply } from "../../client-reply.ts";
import type { Call, IdempotencyLock, NamedKey, NotKeptReason } from "../call.ts";
import { identityHeaders, JSON_TYPE, STREAM_TYPE } from "../headers.ts";
import type { Claimed, KeptAnswer, LostReason, Running, SharedAnswers } from "./kept-rows.ts";
import { RecordingReply } from "./recording-reply.ts";

/** How long an answer can be replayed: an hour more than promised, because answers are deleted by whole hours. */
const KEEP_HOURS = 25;
/** The table of answers, and that of the hours in which they were put. */
export const ANSWER_TABLES = {
  rows: "idempotent_answers",
  periods: "idempotent_hours",
  periodMs: HOUR_MS,
  keepPeriods: KEEP_HOURS,
};

export type Claim =
  | { readonly kind: "first"; readonly lock: RecordingLock }
  | { readonly kind: "replay"; readonly answer: KeptAnswer }
  /** `error`: what a repetition of the call gets unless that is detached. */
  | (Pick<Running, "kind" | "requestId" | "cell"> & { readonly error: WeirError })
  | { readonly kind: "refused"; readonly error: WeirError };

/** The lock of the call that answers a key. It ends with `release`. */
class RecordingLock implements IdempotencyLock {
  readonly recorder: RecordingReply;
  readonly #answers: IdempotentAnswers;
  readonly #owner: KeptOwner;
  readonly named: NamedKey;
  #isDetached = false;
  #isReleased = false;

  constructor(answers: IdempotentAnswers, owner: KeptOwner, named: NamedKey, recorder: RecordingReply) {
    this.#answers = answers;
    this.#owner = owner;
    this.named = named;
    this.recorder = recorder;
  }

  passThrough(over: (client: ClientReply) => ClientReply): void {
    this.recorder.passThrough(over);
    this.#isDetached = true;
  }

  keptBytes(last: Buffer): number {
    return answerBytes(this.recorder.bytesWith(last));
  }

  keep(
    answer: Pick<KeptAnswer, "requestId" | "status" | "isStream">,
    last: Buffer,
    notKept: NotKeptReason | undefined,
  ): void {
    const body = notKept === undefined ? this.recorder.with(last) : undefined;
    const kept = body === undefined ? { lost: notKept ?? ("large" as const), body: NO_BYTES } : { body };
    const { orgId, environment } = this.#owner;
    const whose = {
      orgId,
      fingerprint: this.named.fingerprint,
      ...(environment === "test" && { isTest: true }),
      ...(this.#isDetached && answer.isStream && { isNumbered: true }),
    };
    this.#answers.put(this.named.id, { ...answer, ...kept, ...whose });
  }

  release(): Promise<void> | undefined {
    if (this.#isReleased) return undefined;
    this.#isReleased = true;
    return this.#answers.release(this.named.id);
  }
}

const NO_BYTES = Buffer.alloc(0);

/** What a row takes beside its answer: id, index, fingerprint. About. */
const ROW_BYTES = 500;

/** Bytes that an answer counts in the org's quota. @param bytes of its body; 0 where the body is not kept */
export const answerBytes = (bytes: number): number => bytes + ROW_BYTES;

const ownerOf = ({ orgId = "", isTest }: KeptAnswer): KeptOwner => ({
  orgId,
  environment: isTest === true ? "test" : "live",
});

const sizeOf = ({ body }: Partial<KeptAnswer>): number => answerBytes(body?.length ?? 0);

export interface IdempotencyDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Maximum size of an answer; of a larger one only its existence is stored. */
  readonly maxBytes: number;
  /** The quota that answers count in. */
  readonly kept: Pick<KeptBytes, "count">;
  /** Keys of other cells; undefined in a gateway alone. */
  readonly shared?: SharedAnswers | undefined;
  /** Called with the error of a failed sweep. */
  readonly onFailure: (error: unknown) => void;
}

export class IdempotentAnswers {
  readonly #deps: IdempotencyDeps;
  readonly #answers: ExpiringTable<KeptAnswer>;
  /** [org id, id of the answer]: erasure finds an org's answers by it. */
  readonly #byOrg: Table<true>;
  /** Keys in progress, with the calls that have them. */
  readonly #running = new Map<string, Running>();

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
    const { store, clock, onFailure } = deps;
    this.#byOrg = store.table("idempotent_answers_of_orgs");
    this.#answers = openExpiringTable({
      store,
      clock,
      onFailure,
      onRemove: ([id = ""], answer) => {
        const { orgId } = answer;
        if (orgId === undefined) return;
        this.#byOrg.remove([orgId, id]);
        this.#deps.kept.count(ownerOf(answer), "answers", -sizeOf(answer));
      },
      ...ANSWER_TABLES,
    });
  }

  /**
   * Whether this call must answer its key, a stored answer does, or neither is possible now. A promise if the body is large
   * and must be hashed first, or other cells may have the key.
   * @throws WeirError 503 (as a rejection) where other cells may have it and that cannot be known in time
   */
  claim(call: Call): Claim | Promise<Claim> {
    const fingerprint = sha256([call.incoming.body]);
    if (typeof fingerprint === "string") return this.#claim(call, fingerprint);
    return fingerprint.then((known) => this.#claim(call, known));
  }

  /** No await between check and claim: of simultaneous requests exactly one is the first. */
  #claim(call: Call, fingerprint: string): Claim | Promise<Claim> {
    const id = idOf(call);
    const running = this.#running.get(id);
    const kept = running === undefined ? this.#answers.get([id]) : undefined;
    if (running !== undefined) return repeated(running, fingerprint);
    if (kept !== undefined) return repeated({ kind: "answered", answer: kept }, fingerprint);
    const { requestId } = call;
    this.#running.set(id, { kind: "running", fingerprint, requestId });
    const { shared } = this.#deps;
    if (shared === undefined) return this.#first(call, id, fingerprint);
    return shared.claim(id, fingerprint, requestId).then(
      (claimed) => {
        if (claimed.kind === "first") return this.#first(call, id, fingerprint);
        this.#running.delete(id);
        return repeated(claimed, fingerprint);
      },
      (error: unknown) => {
        this.#running.delete(id);
        throw error;
      },
    );
  }

  #first(call: Call, id: string, fingerprint: string): Claim {
    const recorder = new RecordingReply(call.incoming.reply, this.#deps.maxBytes);
    return { kind: "first", lock: new RecordingLock(this, call.key, { id, fingerprint }, recorder) };
  }

  /** Call it only inside a commit. */
  put(id: string, answer: KeptAnswer): void {
    // The same once more counts once.
    if (this.#answers.get([id]) !== undefined) this.#answers.remove([id]);
    this.#answers.put([id], answer, this.#deps.clock.now());
    const { orgId, fingerprint } = answer;
    if (orgId !== undefined) {
      this.#byOrg.put([orgId, id], true);
      this.#deps.kept.count(ownerOf(answer), "answers", sizeOf(answer));
    }
    this.#deps.shared?.willShare(id, { orgId: orgId ?? "", fingerprint });
  }

  /**
   * Call it only inside a commit: the one that charges a call whose process was killed. Its key is used, whatever was kept of its answer.
   * @param requestId of that call
   */
  putBrokenOff({ id, fingerprint }: NamedKey, { orgId, environment }: KeptOwner, requestId: string): void {
    const isTest = environment === "test" && ({ isTest: true } as const);
    const lost = { lost: "broken_off", body: NO_BYTES } as const;
    this.put(id, { orgId, fingerprint, requestId, status: 200, isStream: true, ...lost, ...isTest });
  }

  /** An answer that this process stored; undefined if there is none. */
  get(id: string): KeptAnswer | undefined {
    return this.#answers.get([id]);
  }

  /** What each answer takes in its org's quota. Lazily. */
  *kept(): Generator<KeptOwner & KeptChange> {
    for (const { value } of this.#deps.store.table<KeptAnswer>(ANSWER_TABLES.rows).range())
      if (value.orgId !== undefined) yield { ...ownerOf(value), kind: "answers", bytes: sizeOf(value) };
  }

  /** Only in an act. Every cell forgets its own by itself, this one too. @returns whether more of the org's answers are left */
  erase(orgId: string, most: number): boolean {
    const { shared } = this.#deps;
    if (shared === undefined) return this.eraseOwn(orgId, most);
    shared.forget(orgId);
    return false;
  }

  /** Only in an act: those that this process stored. @returns whether more of them are left */
  eraseOwn(orgId: string, most: number): boolean {
    const range = { start: [orgId], end: [orgId, PAST_IDS], limit: most + 1 };
    const ids = Array.from(this.#byOrg.range(range), ({ key }) => (key as [string, string])[1]);
    for (const id of ids.slice(0, most)) {
      this.#answers.remove([id]);
      // Also where the answer has gone already.
      this.#byOrg.remove([orgId, id]);
    }
    return ids.length > most;
  }

  release(id: string): Promise<void> | undefined {
    const { shared } = this.#deps;
    if (shared === undefined) {
      this.#running.delete(id);
      return undefined;
    }
    // A stored answer ends the claim when others have it; until then they are told that the call is under way.
    const isKept = this.#answers.get([id]) !== undefined;
    this.#running.delete(id);
    return isKept ? shared.shared(id) : shared.unclaim(id);
  }

  /** Deletes expired answers. */
  sweep(): Promise<void> {
    return this.#answers.sweep();
  }

  close(): void {
    this.#answers.close();
  }
}

/** What a call gets whose key another one has, or had. */
function repeated(claimed: Exclude<Claimed, { kind: "first" }>, fingerprint: string): Claim {
  const known = claimed.kind === "running" ? claimed.fingerprint : claimed.answer.fingerprint;
  if (known !== fingerprint)
    return refused("idempotency_mismatch", "This Idempotency-Key was used with another request.");
  if (claimed.kind === "running") return { ...claimed, error: inProgress() };
  const { lost, requestId } = claimed.answer;
  if (lost === "broken_off") return refused("state", NOT_KEPT[lost] + laterAt(requestId));
  if (lost !== undefined) return refused("state", NOT_KEPT[lost]);
  return { kind: "replay", answer: claimed.answer };
}

const NOT_KEPT: Readonly<Record<LostReason, string>> = {
  cut: "The first request with this Idempotency-Key was cancelled by its client; what it delivered was billed.",
  private: "The answer to the first request with this Idempotency-Key was not kept: zero data retention.",
  large: "The answer to the first request with this Idempotency-Key was too large to be kept.",
  quota:
    "The answer to the first request with this Idempotency-Key was larger than the room that was left for it (GET /v1/limits, kept): it was billed once.",
  evicted:
    "The answer to the first request with this Idempotency-Key is not kept any more: it was billed once.",
  retired:
    "The gateway with the first request with this Idempotency-Key was shut down for good: whether it was billed is not known.",
  broken_off:
    "The gateway that answered the first request with this Idempotency-Key ended before the call did; what it had said was billed.",
};

/** Where to read what a detached call had said. @param requestId of the call; "" where it is not known any more */
const laterAt = (requestId: string): string =>
  requestId === ""
    ? ""
    : ` GET /v1/generation/${requestId}/stream has that for ten minutes after its return.`;

const PARAM = "Idempotency-Key";

const inProgress = (): WeirError =>
  fail("idempotency_in_progress", "The first request with this Idempotency-Key is under way.", {
    param: PARAM,
    retryAfterMs: 1000,
  });

const refused = (kind: "idempotency_mismatch" | "state", message: string): Claim => ({
  kind: "refused",
  error: fail(kind, message, { param: PARAM }),
});

/**
 * Keys are separate by project, environment and route, so that tenants never share one (T62), nor do test and live calls.
 */
function idOf({ key, incoming }: Call): string {
  const digest = createHash("sha256");
  const { orgId, projectId, environment } = key;
  for (const part of [orgId, projectId, environment, incoming.format.name, incoming.idempotencyKey]) {
    digest.update(part).update("\0");
  }
  return digest.digest("hex");
}

/**
 * Sends a stored answer, under the id of the call that made it. A stream is sent as one body too, because all of it is
 * known.
 */
export function replay(
  reply: ClientReply,
  { status, requestId, isStream, isNumbered, body }: KeptAnswer,
): void {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  reply.send(
    status,
    replayHeaders(isStream, requestId),
    isNumbered === true ? new EventNumbers().numbered(bytes) : bytes,
  );
}

/** @param requestId of the call whose answer it is */
export const replayHeaders = (isStream: boolean, requestId: string): string =>
  `${isStream ? STREAM_TYPE : JSON_TYPE}${identityHeaders(requestId)}idempotent-replayed: true\r\n`;
