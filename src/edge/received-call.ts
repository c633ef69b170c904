/** A model call between its head and its exchange: who sends it, what its head says, and its body once that has arrived. */

import type { KeyContext } from "../account/keyring.ts";
import { svcVersion } from "../account/versions.ts";
import type { WeirError } from "../base/errors.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { checkedIdempotencyKey } from "../base/operation/http-head.ts";
import type { Incoming } from "../inference/exchange/call.ts";
import { CALLS } from "../inference/exchange/formats.ts";
import type { Inquiry } from "../inference/exchange/inquiry/inquire.ts";
import { refuse, refuseBody, reportedError } from "./answers.ts";
import { authorizeKey } from "./authorize.ts";
import type { BodyShare } from "./body/body-budget.ts";
import type { Uploaded } from "./body/uploads.ts";
import { outOfTouch, whoCalls } from "./catch-up.ts";
import type { DispatchDeps, Received, Sender } from "./received.ts";
import type { SocketReply } from "./reply.ts";
import { apiKey, bearer, ipPrefix, passingHeaders, type RequestHead, requireJson } from "./request.ts";
import type { Route } from "./routes.ts";

/** A key may have been revoked while a body took so long to arrive. */
const SLOW_BODY_MS = 100;
/** A model call whose head was read. One object in place of a function for each step, since every call makes it. */
export class ReceivedCall implements Sender<KeyContext> {
  readonly who: MaybePromise<KeyContext>;
  readonly maxBytes: number;
  readonly #deps: DispatchDeps;
  readonly #scope: string;
  readonly #format: Incoming["format"];
  readonly #inquiry: Inquiry | undefined;
  readonly #credential: string | undefined;
  readonly #reply: SocketReply;
  readonly #head: RequestHead;
  readonly #id: string;
  readonly #startMs: number;
  readonly #tsMs: number;
  readonly #passing: Incoming["passing"];
  readonly #idempotencyKey: string;
  readonly #clientIpPrefix: string;
  readonly #trace: Incoming["trace"];

  /** @throws WeirError where the head suffices to refuse it */
  constructor(
    deps: DispatchDeps,
    route: Extract<Route, { exchange: unknown }>,
    { res, reply, head, id }: Received,
  ) {
    const { format, inquiry } = CALLS[route.exchange];
    this.#deps = deps;
    this.#scope = route.access;
    this.#format = format;
    this.#inquiry = inquiry;
    this.#reply = reply;
    this.#head = head;
    this.#id = id;
    this.maxBytes = deps.maxBodyBytes;
    this.#startMs = deps.clock.monotonic();
    this.#tsMs = deps.clock.now();
    this.#credential = bearer(head) ?? (format.habits.sendsApiKey === true ? apiKey(head) : undefined);
    this.who = deps.catchUp === undefined ? this.#keyNow() : this.#keyOf(deps.catchUp);
    requireJson(head);
    if (head.svcVersion !== "") svcVersion(head.svcVersion, "svc-version");
    this.#passing = passingHeaders(head, format.habits);
    this.#idempotencyKey = checkedIdempotencyKey(head.idempotencyKey);
    this.#clientIpPrefix = ipPrefix(deps.clientAddress(res.getRemoteAddress(), head.forwardedFor));
    this.#trace = inquiry === undefined ? deps.beginTrace?.(head.traceparent, head.tracestate) : undefined;
  }

  refused(error: WeirError): void {
    refuseBody(this.#reply, error, this.#id, this.#format.errorBody);
  }

  uploaded(key: KeyContext, uploaded: Uploaded): void {
    if ("body" in uploaded) this.begin(key, uploaded.body, uploaded.share);
    else this.refused(uploaded);
  }

  begin(key: KeyContext, body: Buffer, share: BodyShare): void {
    const head = this.#head;
    const incoming: Incoming = {
      requestId: this.#id,
      tsMs: this.#tsMs,
      startMs: this.#startMs,
      format: this.#format,
      key,
      body,
      release: () => share.release(),
      debug: head.debug === "1",
      passing: this.#passing,
      idempotencyKey: this.#idempotencyKey,
      userAgent: head.userAgent,
      appUrl: head.appUrl,
      appTitle: head.appTitle,
      clientIpPrefix: this.#clientIpPrefix,
      trace: this.#trace,
      reply: this.#reply,
    };
    const { clock, catchUp } = this.#deps;
    const isSlow = clock.monotonic() - this.#startMs > SLOW_BODY_MS;
    if (!isSlow && catchUp?.isBehind() !== true) this.#pass(incoming);
    else void this.#passAgain(incoming);
  }

  async #passAgain(incoming: Incoming): Promise<void> {
    const checked = await lookedUpAgain(this.#deps, incoming, () => this.#keyNow());
    if (checked !== undefined) this.#pass(checked);
  }

  #keyOf(catchUp: NonNullable<DispatchDeps["catchUp"]>): MaybePromise<KeyContext> {
    return whoCalls(catchUp, () => this.#keyNow());
  }

  #keyNow(): KeyContext {
    return authorizeKey(this.#deps.credentials.keyring, this.#credential, this.#scope);
  }

  #pass(checked: Incoming): void {
    if (this.#inquiry === undefined) this.#deps.exchange.run(checked);
    else void this.#deps.inquire(this.#inquiry, checked);
  }
}

/** The call with its key as it is now, and as the others have it; undefined, and refused, where the key may not call any more. */
async function lookedUpAgain(
  deps: DispatchDeps,
  incoming: Incoming,
  keyNow: () => Incoming["key"],
): Promise<Incoming | undefined> {
  const { catchUp } = deps;
  try {
    if (catchUp?.isBehind() === true && !(await catchUp.soon())) throw outOfTouch();
    return { ...incoming, key: keyNow() };
  } catch (error) {
    const { reply, requestId, format, release } = incoming;
    release();
    refuse(reply as SocketReply, reportedError(deps, error, requestId), requestId, format.errorBody);
    return undefined;
  }
}
