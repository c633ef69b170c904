/**
 * One model call: its request and what the steps have added to it. The steps fill it in order, and each fact is stored only
 * here. The types at the end of this file say which facts a call has after which step. `settle` closes it once, whichever
 * step failed.
 */
import type { KeyContext } from "../../account/keyring.ts";
import type { CallTrace } from "../../analytics/telemetry/call-trace.ts";
import type { OnDisconnect } from "../../base/call/on-disconnect.ts";
import type { Clock } from "../../base/clock.ts";
import type { Endpoint, Model } from "../../base/endpoint.ts";
import { NONE } from "../../base/lists.ts";
import type { KeptRoom } from "../../credits/kept/kept-pool.ts";
import type { Admission } from "../../credits/limits/limits.ts";
import type { AttemptRecord } from "../../record/record.ts";
import type { LaneLease, LanePreference, OwnKeys } from "../../routing/health/health.ts";
import type { ActivePolicy } from "../../routing/language/policy.ts";
import type { Decision } from "../../routing/planner/decision.ts";
import type { Plan } from "../../routing/planner/planner.ts";
import { NOTHING_SENT, type SentExtras } from "../../wire/extras/sent.ts";
import type { AnswerIdentity, AnswerNames, ClientFormat, ClientRequest, History } from "../../wire/format.ts";
import type { ClientReply } from "../client-reply.ts";
import { type CallerNames, callerNames, NO_NAMES } from "./affinity.ts";
import { appOfHeaders } from "./app-name.ts";
import type { DetachedReply } from "./detached/detached-reply.ts";
import type { AnsweredAs } from "./forms/answered-as.ts";
import type { Indexed } from "./live/live.ts";
import type { MediaShare } from "./media/media-budget.ts";
import type { Holds } from "./reservation/holds.ts";
import type { ShadowRun } from "./shadow/shadow-ending.ts";

export interface Incoming {
  readonly requestId: string;
  /** Wall clock, milliseconds. */
  readonly tsMs: number;
  /** Monotonic clock, milliseconds. */
  readonly startMs: number;
  readonly format: ClientFormat;
  readonly key: KeyContext;
  readonly body: Buffer;
  /** The request is over: its body no longer counts against the memory limit. Called at least once. */
  release(): void;
  /** `x-svc-debug: 1` */
  readonly debug: boolean;
  /** Headers for an upstream of the client's own dialect; names in lower case. */
  readonly passing: Readonly<Record<string, string>>;
  /** `Idempotency-Key`; empty if the request has none. */
  readonly idempotencyKey: string;
  readonly userAgent: string;
  /** As clients of OpenRouter name their app: `HTTP-Referer` and `X-Title`, as sent; empty without. */
  readonly appUrl: string;
  readonly appTitle: string;
  readonly clientIpPrefix: string;
  /** Undefined where calls are not traced. */
  readonly trace: CallTrace | undefined;
  readonly reply: ClientReply;
}

export class Call implements Indexed {
  /** Index among the calls that wait for their commit. */
  index = -1;
  incoming: Incoming;
  /** Set if the request has an `Idempotency-Key`. */
  idempotencyLock: IdempotencyLock | undefined;
  /** In the order of their ends. */
  attempts: readonly AttemptRecord[] = NONE;
  readonly warnings: string[] = [];
  /** JSON pointers of members of the client's body that the current attempt's dialect cannot express. */
  dropped: readonly string[] = [];
  /** How many more there are. */
  droppedMore = 0;
  /** What changes the provider's bill in the body of the current attempt. */
  sent: SentExtras = NOTHING_SENT;
  /** The form of the answer where it is another one than was asked for. */
  answeredAs: AnsweredAs | undefined;
  request: ClientRequest | undefined;
  model: Model | undefined;
  /** The request names the model by an alias, or with a date or the like behind it. */
  isOtherName = false;
  /** Endpoint and key that answered the conversation before: tried first if allowed, unless the request gives an order. */
  preferred: Preferred | undefined;
  /** The decision of policy and request; also set for a call that was denied. */
  decision: Decision | undefined;
  /** The policy in force when the call was planned. */
  policy: ActivePolicy | undefined;
  /** Set for an org with own provider keys. */
  ownKeys: OwnKeys | undefined;
  /** Calls with the same key of the decision's affinity go to the same provider key; empty: any. */
  affinityKey = "";
  plan: Plan | undefined;
  admission: Admission | undefined;
  /** Room in the org's quota of kept bytes, taken for the answer. */
  keptRoom: KeptRoom | undefined;
  /** The conversation that it adds its turn to. */
  conversation: ConversationTurn | undefined;
  /** It goes on from a conversation that it adds nothing to: its client says `store: false`. */
  isTurnLeftOut = false;
  /** The answer may be kept by default, and there was no room for it. */
  isStoreLeftOut = false;
  /** The memory that the call's fetched pictures and documents hold. */
  mediaShare: MediaShare | undefined;
  reservation: Reservation | undefined;
  /** The call's copy at a policy's shadow endpoint. */
  shadow: ShadowRun | undefined;
  /** The endpoint of the current attempt; in the end the one that answered. */
  endpoint: Endpoint | undefined;
  /** The lease of the key that it was asked with. */
  lane: LaneLease | undefined;
  /** When the first content was sent to the client; monotonic, 0 before. */
  firstSentMs = 0;
  /** First content byte of the winning attempt, since that attempt's start. */
  upstreamTtftMs = 0;
  /** Milliseconds that it waited for credit or budgets that other calls held. */
  waitedMs = 0;
  /** Milliseconds that fetching its media took. */
  fetchMs = 0;
  /** Time that the gateway waited for upstreams. */
  upstreamMs = 0;
  bytesOut = 0;
  /** The head of the event stream was sent, perhaps only for a keep-alive: from now on errors are sent as events. */
  streaming = false;
  settled = false;
  /** When its commit was requested; monotonic. */
  settledMs = 0;
  /** The client left, and the call continues, so that a repetition of the request gets the answer. */
  runsWithoutClient = false;
  /** Its answer comes later, and is asked for by its id. */
  isBackground = false;
  /** That answer is stored, or is about to be, in a state before its last one. */
  hasState = false;
  /** What takes the place of its client, where it goes on whatever that does. */
  detached: DetachedReply | undefined;
  /** The upstream reported more than the hold covered; the call was charged for all of it. */
  reserveExceeded = false;
  /** Number of things that the upstream reported and its endpoint has no price for. */
  unpricedReports = 0;

  #names: CallerNames | undefined;
  #headerApp: string | undefined;

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

  /** Which of an endpoint's keys to prefer, if it has several. */
  get lanePreference(): LanePreference | undefined {
    const isLastResort = this.plan?.isLastResort === true;
    if (this.preferred === undefined && this.affinityKey === "" && !isLastResort) return undefined;
    return { keyId: this.preferred?.keyId, affinityKey: this.affinityKey, isLastResort };
  }

  /** The app that calls: `svc.metadata.app`, else what its headers say. Empty without any. */
  get app(): string {
    const { request, incoming } = this;
    if (request !== undefined && request.svc.app !== "") return request.svc.app;
    if (!incoming.appUrl && !incoming.appTitle) return "";
    this.#headerApp ??= appOfHeaders(incoming.appUrl, incoming.appTitle);
    return this.#headerApp;
  }

  /** Says which model `isOtherName` was taken for. */
  get nameWarning(): string {
    return `model_resolved: ${this.model?.id}`;
  }

  /** User and session of the request. */
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

  /**
   * Zero data retention: neither prompt nor answer may be stored, by the org's data policy, its routing policy, or the
   * request.
   */
  get isZdr(): boolean {
    const asked = this.request?.svc.route.require?.zdr === true;
    return asked || this.key.dataPolicy.zdr || this.decision?.require.zdr === true;
  }

  /** Its client is told no events, though its upstream streams: it asks for the answer by its id. */
  get isPolled(): boolean {
    const { request, isBackground } = this;
    if (!isBackground || request === undefined) return false;
    return this.incoming.format.background?.isStreamed(request) === false;
  }

  /** What becomes of it if its client leaves: the request's word, else the policy's, else the key's. */
  get onDisconnect(): OnDisconnect {
    if (this.isBackground) return "detach";
    return this.request?.svc.onDisconnect ?? this.decision?.onDisconnect ?? this.key.onDisconnect;
  }

  /** What identifies its answer, for events that the gateway writes itself. */
  answerNames(clock: Clock): AnswerNames {
    const { format, requestId, tsMs } = this.incoming;
    const model = this.model?.id ?? this.request?.facts.model ?? "";
    return { id: format.idPrefix + requestId, requestId, model, createdS: Math.floor(tsMs / 1000), clock };
  }

  identity({ bounds, clock }: AnswerDeps): AnswerIdentity {
    const { format, requestId, tsMs } = this.incoming;
    return {
      id: format.idPrefix + requestId,
      requestId,
      model: this.model?.id ?? "",
      createdS: Math.floor(tsMs / 1000),
      clock,
      maxEventBytes: bounds.maxEventBytes,
      maxCaptureBytes: bounds.maxPayloadBytes,
    };
  }
}

export interface Preferred {
  readonly endpointId: string;
  readonly keyId: string;
}

/**
 * Why an answer is not kept for repetitions; stored on disk, so the values must not change. `cut`: its client left before
 * the end. `private`: zero data retention. `quota`: the org's quota of kept bytes had no room for so large an answer.
 */
export type NotKeptReason = "cut" | "private" | "quota";

/** An `Idempotency-Key` and what it was used with, as its answer is kept. */
export interface NamedKey {
  /** Id of the answer: made of the key, its route, project and environment. */
  readonly id: string;
  /** SHA-256 of the request's body. */
  readonly fingerprint: string;
}

/** The lock of a call on its `Idempotency-Key`: see `idempotency.ts`. */
export interface IdempotencyLock {
  readonly named: NamedKey;
  /** From now on the answer goes to another client. @param over makes it of the one that it went to */
  passThrough(over: (client: ClientReply) => ClientReply): void;
  /** Bytes that the answer takes in the org's quota if it is kept. @param last as of `keep` */
  keptBytes(last: Buffer): number;
  /**
   * Stores the answer; call it only inside a commit. @param last the bytes of the answer that are not sent yet
   * @param notKept why the answer is stored without its bytes
   */
  keep(
    answer: { readonly requestId: string; readonly status: number; readonly isStream: boolean },
    last: Buffer,
    notKept: NotKeptReason | undefined,
  ): void;
  /**
   * The call is over: the key is answered by the stored answer, or free again. Call it again without harm.
   * @returns a promise where other cells are told; it resolves once they know, or soon, and never rejects
   */
  release(): Promise<void> | undefined;
}

/** How something of an answer is stored that later requests may ask for. */
export interface KeptWriter {
  /** Inside the commit. */
  put(): void;
  /** Behind it. A promise where other cells get it; resolves once they have it, or soon, and never rejects. */
  shared(): Promise<void> | undefined;
}

/** What a call adds to its conversation: see `kept/conversations/turn.ts`. */
export interface ConversationTurn {
  /** Bytes that the turn adds to the org's quota without its answer. */
  growthBytes(call: Call): number;
  /**
   * Prepares the storage of the turn. Called before the commit, because an error inside it would undo the charge.
   * @param answer as delivered, JSON text @returns undefined where there is no room for it
   */
  writer(call: Call, history: History, answer: string): KeptWriter | undefined;
  /** The call is over. Call it again without harm. */
  release(): void;
}

export interface AnswerDeps {
  readonly clock: Clock;
  /** The largest event that is read, and the most bytes of an answer that are stored. */
  readonly bounds: { readonly maxEventBytes: number; readonly maxPayloadBytes: number };
}

/** What a hold covers of an answer. */
export interface Cover {
  /** Output tokens; grows when a stream extends the hold. */
  outputTokens: number;
}

/** The same at one endpoint, of a hold that was fitted to what there was. */
export interface FittedCover extends Cover {
  /** Output tokens a choice that the endpoint is asked for at most; undefined: as many as the client asks for. */
  readonly limit: number | undefined;
}

/** By endpoint id. What is not in it is not asked. */
export type Fit = ReadonlyMap<string, FittedCover>;

/** The reservation of a call. */
export interface Reservation extends Cover {
  /** Undefined for a test key, which is never charged, and for a shadow copy, whose run has its own holds. */
  readonly holds: Holds | undefined;
  /** Prompt tokens that the hold covers. */
  readonly inputTokens: number;
  /** Uses of the provider's tools that the hold covers; grows likewise. Absent: any number. */
  toolUses?: number;
  /** Set where less is held than the call may cost. */
  readonly fit?: Fit;
  /** What it covers at endpoints that are told fewer tokens than the client asks for; by id. */
  readonly lowered?: ReadonlyMap<string, Cover>;
}

/** A call whose body was read. Each step takes the type that the step before returned, so a wrong order does not compile. */
export type ReadCall = Call & { readonly request: ClientRequest };

/** A call that was admitted by the rate and concurrency limits. */
export type AdmittedCall = ReadCall & { readonly admission: Admission };

/** A call with a plan. */
export type PlannedCall = ReadCall & {
  readonly model: Model;
  readonly decision: Decision;
  readonly plan: Plan;
};

/** A call whose worst-case cost is reserved. */
export type ReservedCall = PlannedCall & { readonly reservation: Reservation };
