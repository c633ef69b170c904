/** A model call between its head and its exchange: who sends it, what its head says, and its body once that has arrived. */

import type { KeyContext } from "../account/keyring.ts";
import { svcVersion } from "../account/versions.ts";
import { pointerTo } from "../base/document/document.ts";
import { fail, type WeirError } from "../base/errors.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { checkedIdempotencyKey } from "../base/operation/http-head.ts";
import type { Incoming } from "../inference/exchange/call.ts";
import { CALLS } from "../inference/exchange/formats.ts";
import type { Inquiry } from "../inference/exchange/inquiry/inquire.ts";
import { refuse, refuseBody, reportedError } from "./answers.ts";
import { authorize, authorizeKey } from "./authorize.ts";
import type { BodyShare } from "./body/body-budget.ts";
import type { Uploaded } from "./body/uploads.ts";
import { outOfTouch, whoCalls, whoReads } from "./catch-up.ts";
import { credentialsOf } from "./credentials.ts";
import type { DispatchDeps, Received, Sender } from "./received.ts";
import type { SocketReply } from "./reply.ts";
import { apiKey, bearer, ipPrefix, passingHeaders, type RequestHead, requireJson } from "./request.ts";
import type { Route } from "./routes.ts";

/** What a key needs for any call. */
const SCOPE = "inference";
/** A key may have been revoked while a body took so long to arrive. */
const SLOW_BODY_MS = 100;
/** A model call whose head was read. One object in place of a function for each step, since every call makes it. */
export class ReceivedCall implements Sender<KeyContext> {
  readonly who: MaybePromise<KeyContext>;
  readonly maxBytes: number;
  readonly #deps: DispatchDeps;
  readonly #format: Incoming["format"];
  readonly #inquiry: Inquiry | undefined;
  readonly #credential: string | undefined;
  /** Set where a session asks: the key of the playground that its person would call with. */
  readonly #personNow: (() => KeyContext) | undefined;
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
  constructor(deps: DispatchDeps, route: Extract<Route, { exchange: unknown }>, received: Received) {
    const { res, reply, head, id } = received;
    const { format, inquiry } = CALLS[route.exchange];
    this.#deps = deps;
    this.#format = format;
    this.#inquiry = inquiry;
    this.#reply = reply;
    this.#head = head;
    this.#id = id;
    this.maxBytes = deps.maxBodyBytes;
    this.#startMs = deps.clock.monotonic();
    this.#tsMs = deps.clock.now();
    this.#credential = bearer(head) ?? (format.habits.sendsApiKey === true ? apiKey(head) : undefined);
    // Nearly all routes of calls are open to keys alone: no other call looks for a session.
    if (route.access !== SCOPE && this.#credential === undefined)
      this.#personNow = personAsking(deps, route, received);
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
    if (this.#personNow !== undefined) return whoReads(catchUp, this.#personNow);
    return whoCalls(catchUp, () => this.#keyNow());
  }

  #keyNow(): KeyContext {
    return this.#personNow?.() ?? authorizeKey(this.#deps.credentials.keyring, this.#credential, SCOPE);
  }

  #pass(checked: Incoming): void {
    if (this.#inquiry === undefined) this.#deps.exchange.run(checked);
    else void this.#deps.inquire(this.#inquiry, checked);
  }
}

/**
 * Who asks in a session, if one was sent; undefined: none was, so that a key is missing.
 * @returns looks the session, its person's role and the project up @throws WeirError 400 for a query that names no project
 */
function personAsking(
  deps: DispatchDeps,
  route: Extract<Route, { exchange: unknown }>,
  { res, req, head, id }: Received,
): (() => KeyContext) | undefined {
  const { credentials } = deps;
  const seen = credentialsOf(deps, head, res, id, undefined);
  if (seen.head.cookie(credentials.sessionCookie) === undefined) return undefined;
  const query = Object.fromEntries(new URLSearchParams(req.getQuery() ?? ""));
  return () => {
    const caller = authorize(credentials, route, {}, seen);
    const asked = CALLS[route.exchange].query?.safeParse(query);
    const { project_id: projectId, environment } = asked?.data ?? {};
    const [issue] = asked?.error?.issues ?? [];
    if (issue !== undefined)
      throw fail("invalid_value", `query: ${issue.message}.`, { param: pointerTo(issue.path) });
    if (projectId === undefined)
      throw fail("invalid_value", "Name the project in the query.", { param: "/project_id" });
    return credentials.playgroundContext(caller, { projectId, environment });
  };
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
