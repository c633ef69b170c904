/**
 * What the simulated APIs have in common: a table of routes, idempotency keys whose answers are given again (those of
 * failures too, as Stripe does), and faults that are planted for the next calls.
 */
import { hash } from "node:crypto";
import { SimRefusal } from "./engine.ts";
import type { House, SimState } from "./state.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** As it came. */
  readonly body: string;
  header(name: string): string;
}

export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param ids what the groups of the route's pattern caught */
export type Handler = (request: ApiRequest, ...ids: string[]) => unknown;

export type ApiRoute = readonly [method: string, pattern: RegExp, handler: Handler];

/** One simulated API. */
export interface Front {
  readonly house: House;
  readonly routes: readonly ApiRoute[];
  /** Status for an object that is not there; default 404. */
  readonly missingStatus?: number;
  isAllowed(request: ApiRequest): boolean;
  /** Empty where the call has none. */
  idempotencyKey(request: ApiRequest): string;
  /** An error in the words of this API. */
  error(status: number, code: string, message: string): unknown;
}

/** Thrown by a handler that refuses in words of its own. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`status ${status}`);
    this.status = status;
    this.body = body;
  }
}

export const FAULTS = [
  "error_before",
  "error_after",
  "timeout_after",
  "drop_after",
  "conflict",
  "rate_limit",
  "slow",
] as const;

export interface Fault {
  /** A part of `METHOD /path`, such as `POST /v1/refunds`; empty: any call. */
  readonly match: string;
  /**
   * `error_…`: 500 before or after the effect. `timeout_after`, `drop_after`: the effect, and no answer. `conflict`: 409,
   * `rate_limit`: 429, both without an effect. `slow`: answers later.
   */
  readonly kind: (typeof FAULTS)[number];
  /** Calls that it meets; default 1. */
  readonly times?: number;
  /** How much later `slow` answers. */
  readonly delayMs?: number;
  /** The `retry-after` of `rate_limit`; default 1. */
  readonly retryAfterS?: number;
}

export interface Played {
  /** Undefined: no answer, the connection stays open or is cut. */
  readonly reply: ApiReply | undefined;
  readonly isCut?: boolean;
  readonly delayMs?: number;
}

/** Plays one call of an API, with a fault where one is planted. */
export class Api {
  readonly faults: { fault: Fault; left: number }[] = [];
  readonly #state: SimState;

  constructor(state: SimState) {
    this.#state = state;
  }

  plant(fault: Fault): void {
    this.faults.push({ fault, left: fault.times ?? 1 });
  }

  play(front: Front, request: ApiRequest): Played {
    if (!front.isAllowed(request))
      return { reply: { status: 401, body: front.error(401, "unauthorized", "The key is not valid.") } };
    const fault = this.#faultOf(request);
    const busy = busyReply(front, fault);
    if (busy !== undefined) return { reply: busy };
    const reply = this.#once(front, request, fault);
    if (fault?.kind === "timeout_after") return { reply: undefined };
    if (fault?.kind === "drop_after") return { reply: undefined, isCut: true };
    return { reply, ...(fault?.delayMs !== undefined && { delayMs: fault.delayMs }) };
  }

  #faultOf({ method, path }: ApiRequest): Fault | undefined {
    const call = `${method} ${path}`;
    const found = this.faults.find(({ fault }) => call.includes(fault.match));
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.faults.splice(this.faults.indexOf(found), 1);
    return found.fault;
  }

  #once(front: Front, request: ApiRequest, fault: Fault | undefined): ApiReply {
    const key = front.idempotencyKey(request);
    if (key === "") return run(front, request, fault);
    const id = `${front.house}:${key}`;
    const fingerprint = hash("sha256", `${request.method} ${request.path} ${request.body}`);
    const before = this.#state.get("replies", id);
    if (before !== undefined && before.fingerprint !== fingerprint) {
      const message = "This idempotency key was used for another request.";
      return { status: 400, body: front.error(400, "idempotency_error", message) };
    }
    if (before !== undefined)
      return {
        status: before.status,
        body: JSON.parse(before.body),
        headers: { "idempotent-replayed": "true" },
      };
    const reply = run(front, request, fault);
    const { status, body } = reply;
    this.#state.put("replies", {
      id,
      house: front.house,
      createdAtMs: 0,
      fingerprint,
      status,
      body: JSON.stringify(body),
    });
    return reply;
  }
}

function busyReply(front: Front, fault: Fault | undefined): ApiReply | undefined {
  if (fault?.kind === "conflict")
    return { status: 409, body: front.error(409, "lock_timeout", "Another request works on this object.") };
  if (fault?.kind !== "rate_limit") return undefined;
  const body = front.error(429, "rate_limit", "Too many requests.");
  return { status: 429, body, headers: { "retry-after": String(fault.retryAfterS ?? 1) } };
}

function run(front: Front, request: ApiRequest, fault: Fault | undefined): ApiReply {
  const failed = { status: 500, body: front.error(500, "api_error", "The service failed.") };
  if (fault?.kind === "error_before") return failed;
  const reply = answer(front, request);
  return fault?.kind === "error_after" ? failed : reply;
}

function answer(front: Front, request: ApiRequest): ApiReply {
  for (const [method, pattern, handler] of front.routes) {
    const match = method === request.method ? pattern.exec(request.path) : null;
    if (match === null) continue;
    try {
      return { status: 200, body: handler(request, ...match.slice(1)) };
    } catch (thrown) {
      if (thrown instanceof ApiError) return { status: thrown.status, body: thrown.body };
      if (!(thrown instanceof SimRefusal)) throw thrown;
      const status = thrown.why === "missing" ? (front.missingStatus ?? 404) : 400;
      return { status, body: front.error(status, thrown.why, thrown.message) };
    }
  }
  return { status: 404, body: front.error(404, "unknown_route", `There is no ${request.path} here.`) };
}
