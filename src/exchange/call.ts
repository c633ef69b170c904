/**
 * One model call under way: who asked, and what is known of it so far. The steps fill it in order, and each fact is kept here
 * alone. The types at the end of this file say which facts a call has after which step; `settle` closes it, once, after
 * whichever step it failed.
 */
import type { KeyContext } from "../account/keyring.ts";
import type { ClientReply } from "../client-reply.ts";
import type { Endpoint, Model } from "../endpoint.ts";
import type { Admission } from "../limits/limits.ts";
import type { AttemptRecord } from "../record.ts";
import type { CanaryState, Decision } from "../routing/decision.ts";
import type { LaneLease, LanePreference, OwnPools } from "../routing/health.ts";
import type { Plan } from "../routing/planner.ts";
import type { CompiledPolicy } from "../routing/policy.ts";
import type { AnswerIdentity, ClientFormat, ClientRequest } from "../wire/format.ts";
import { type CallerNames, callerNames, NO_NAMES } from "./affinity.ts";
import type { Holds } from "./holds.ts";
import type { Indexed } from "./live.ts";
import type { ShadowRun } from "./shadow-ending.ts";

export interface Incoming {
  readonly requestId: string;
  /** Wall clock, milliseconds. */
  readonly tsMs: number;
  /** Monotonic clock, milliseconds. */
  readonly startMs: number;
  readonly format: ClientFormat;
  readonly key: KeyContext;
  readonly body: Buffer;
  /** The request is over: its body is counted no longer. Called once or more. */
  release(): void;
  /** `x-svc-debug: 1` */
  readonly debug: boolean;
  /** Headers that concern an upstream of the client's own dialect: names in lower case. */
  readonly passing: Readonly<Record<string, string>>;
  /** `Idempotency-Key`; empty where there is none. */
  readonly idempotencyKey: string;
  readonly userAgent: string;
  readonly clientIpPrefix: string;
  readonly reply: ClientReply;
}

export class Call implements Indexed {
  /** Among the calls that wait for their commit. */
  index = -1;
  incoming: Incoming;
  /** Of a call with an `Idempotency-Key`. */
  idempotencyLock: IdempotencyLock | undefined;
  readonly attempts: AttemptRecord[] = [];
  readonly warnings: string[] = [];
  /** Members of the client's body that the dialect of the current attempt has no place for: JSON pointers. */
  dropped: readonly string[] = [];
  request: ClientRequest | undefined;
  model: Model | undefined;
  /** Where the conversation began, and with which key: asked first where it may be, unless the request names an order. */
  preferred: Preferred | undefined;
  /** What policy and request decided; a call that was denied has it too. */
  decision: Decision | undefined;
  /** The policy in force when it was planned. */
  policy: ActivePolicy | undefined;
  /** Of an org with own provider keys. */
  ownKeys: OwnKeys | undefined;
  /** Calls of the same name go to the same key, by the decision's affinity; empty: any key. */
  affinityKey = "";
  plan: Plan | undefined;
  admission: Admission | undefined;
  reservation: Reservation | undefined;
  /** Its copy at a policy's shadow endpoint. */
  shadow: ShadowRun | undefined;
  /** The endpoint of the attempt under way, in the end the one that answered. */
  endpoint: Endpoint | undefined;
  /** With which key it was asked. */
  lane: LaneLease | undefined;
  /** Monotonic; 0 until then. */
  firstSentMs = 0;
  /** First content byte of the winning attempt after that attempt's start. */
  upstreamTtftMs = 0;
  /** Time the gateway spent waiting for upstreams. */
  upstreamMs = 0;
  bytesOut = 0;
  /** The event stream's head is out (perhaps only for a keep-alive): errors are events from here on. */
  streaming = false;
  settled = false;
  /** When its commit was asked for; monotonic. */
  settledMs = 0;
  /** The client left, and the call goes on so that a repetition of its request gets the answer. */
  runsWithoutClient = false;
  /** The upstream reported more than was held; it was charged all the same. */
  reserveExceeded = false;

  #names: CallerNames | undefined;

  constructor(incoming: Incoming) {
    this.incoming = incoming;
  }

  withRequest(request: ClientRequest): ReadCall {
    this.request = request;
    return this as ReadCall;
  }

  withAdmission(this: ReadCall, admission: Admission): AdmittedCall {
    this.admission = admission;
    return this as AdmittedCall;
  }

  withPlan(this: ReadCall, model: Model, decision: Decision, plan: Plan): PlannedCall {
    this.model = model;
    this.decision = decision;
    this.plan = plan;
    return this as PlannedCall;
  }

  withReservation(this: PlannedCall, reservation: Reservation): ReservedCall {
    this.reservation = reservation;
    return this as ReservedCall;
  }

  /** Which of an endpoint's keys to take, where there are several. */
  get lanePreference(): LanePreference | undefined {
    const isLastResort = this.plan?.isLastResort === true;
    if (this.preferred === undefined && this.affinityKey === "" && !isLastResort) return undefined;
    return { keyId: this.preferred?.keyId, affinityKey: this.affinityKey, isLastResort };
  }

  /** The user and the session that the request names. */
  get names(): CallerNames {
    const { request } = this;
    if (request === undefined) return NO_NAMES;
    this.#names ??= callerNames(this.key.orgId, this.incoming.format, request);
    return this.#names;
  }

  get requestId(): string {
    return this.incoming.requestId;
  }

  get key(): KeyContext {
    return this.incoming.key;
  }

  /** Neither prompt nor answer may be kept: by the org's data policy or its routing policy, or because the client asks for it. */
  get isZdr(): boolean {
    const asked = this.request?.svc.route.require?.zdr === true;
    return asked || this.key.dataPolicy.zdr || this.decision?.require.zdr === true;
  }

  /** @param bounds what is taken and kept of an answer. */
  identity(bounds: AnswerBounds): AnswerIdentity {
    const { format, requestId, tsMs } = this.incoming;
    return {
      id: format.idPrefix + requestId,
      requestId,
      model: this.model?.id ?? "",
      createdS: Math.floor(tsMs / 1000),
      maxEventBytes: bounds.maxEventBytes,
      maxCaptureBytes: bounds.maxPayloadBytes,
    };
  }
}

/** A version of a policy in force, and what is known of its canaries. */
export interface ActivePolicy {
  readonly compiled: CompiledPolicy;
  canaryState(endpointId: string): CanaryState;
  /** How a call of the canary's share went at its endpoint. */
  canaryResult(endpointId: string, failed: boolean): void;
}

export interface Preferred {
  readonly endpointId: string;
  readonly keyId: string;
}

/** An org's own provider keys, as far as calls need them. */
export interface OwnKeys extends OwnPools {
  /** The model with the endpoints that only an own key reaches. */
  modelFor(model: Model, unreachable: readonly Endpoint[]): Model;
}

/** Why an answer cannot be repeated: its client left before the end, or the data policy forbids to keep it. */
export type NotKeptReason = "cut" | "private";

/** What a call with an `Idempotency-Key` owes to its repetitions: see `idempotency.ts`. */
export interface IdempotencyLock {
  /**
   * Puts the answer into the commit under way. @param last what is still to be sent of it.
   * @param notKept why only its existence is remembered, without its bytes
   */
  keep(
    answer: { readonly requestId: string; readonly status: number; readonly isStream: boolean },
    last: Buffer,
    notKept: NotKeptReason | undefined,
  ): void;
  /** The call is over: the key is answered by what was kept, or free again. */
  release(): void;
}

export interface AnswerBounds {
  readonly maxEventBytes: number;
  readonly maxPayloadBytes: number;
}

/** What is set aside for a call. */
export interface Reservation {
  /** Undefined for a test key, which is never charged, and for a copy, which has its own. */
  readonly holds: Holds | undefined;
  /** Prompt tokens that the hold covers. */
  readonly inputTokens: number;
  /** Output tokens that the hold covers; grows when a stream extends it. */
  outputTokens: number;
}

/** A call whose body was read. Each step takes a call of the type that the one before returned: a wrong order does not compile. */
export type ReadCall = Call & { readonly request: ClientRequest };

/** A call that rate and concurrency limits admit. */
export type AdmittedCall = ReadCall & { readonly admission: Admission };

/** A call of which it is known where it may go. */
export type PlannedCall = ReadCall & {
  readonly model: Model;
  readonly decision: Decision;
  readonly plan: Plan;
};

/** A call whose worst case is set aside. */
export type ReservedCall = PlannedCall & { readonly reservation: Reservation };
