/**
 * Who calls, by the request's credential, and whether the route is open to them: a key, a person with a console session, a
 * directory, an operator. Nothing of the body has been read yet.
 */
import { callerOf, type KeyContext, type Keyring } from "../account/keyring.ts";
import { lackedByKey } from "../account/scopes.ts";
import { fail, WeirError } from "../base/errors.ts";
import { needsOf } from "../base/operation/access.ts";
import type { HttpHead } from "../base/operation/http-head.ts";
import type { Caller, Origin, PersonRequest } from "../base/operation/operation.ts";
import type { Route } from "./routes.ts";

/** Ports: who is behind a credential. Each throws the WeirError that refuses the request. */
export interface CredentialPorts {
  readonly keyring: Keyring;
  /** Name of the session cookie. */
  readonly sessionCookie: string;
  readonly personOf: (request: PersonRequest) => Caller;
  /** What a person's key of the playground would be to a call. */
  readonly playgroundContext: (
    caller: Caller,
    asked: { readonly projectId: string; readonly environment: KeyContext["environment"] | undefined },
  ) => KeyContext;
  /** Whether a bearer credential is the operator's secret. */
  readonly isOperator: (secret: string) => boolean;
  readonly directoryOf: (token: string, requestId: string, origin: Origin) => Caller;
  /** Id of an org by id or slug. */
  readonly orgIdOf: (idOrSlug: string) => string | undefined;
}

/** What of a request says who calls. */
export interface Credentials {
  readonly requestId: string;
  readonly origin: Origin;
  /** The bearer credential, or the key of a format's own header. */
  readonly secret: string | undefined;
  readonly head: HttpHead;
}

/** @throws WeirError 401 or 403, 404 for an org that the caller cannot see. */
export function authorize(
  ports: CredentialPorts,
  route: Route,
  params: Readonly<Record<string, string>>,
  seen: Credentials,
): Caller {
  const { access } = route;
  if (access === "public") return nobody(seen.requestId, seen.origin);
  if (access === "anyone") return anyone(ports, route, params, seen);
  return identified(ports, route, params, seen);
}

/**
 * A key that is sent must be a good one. A browser sends its cookie unasked, so one that opens nothing (any more) is as none.
 * @throws WeirError 401 or 403 for a key
 */
const anyone: typeof authorize = (ports, route, params, seen) => {
  const hasCookie = seen.head.cookie(ports.sessionCookie) !== undefined;
  if (seen.secret === undefined && !hasCookie) return nobody(seen.requestId, seen.origin);
  try {
    return identified(ports, route, params, seen);
  } catch (error) {
    if (seen.secret === undefined && error instanceof WeirError && error.status < 500)
      return nobody(seen.requestId, seen.origin);
    throw error;
  }
};

/** @throws WeirError 401 or 403, 404 for an org that the caller cannot see. */
const identified: typeof authorize = (ports, route, params, seen) => {
  const { requestId, origin, secret } = seen;
  const { access } = route;
  const token = secret === undefined ? seen.head.cookie(ports.sessionCookie) : undefined;
  if (access === "operator" && secret !== undefined) return operator(ports, seen, secret);
  if (access === "directory") return ports.directoryOf(secret ?? "", requestId, origin);
  const needs = needsOf(access);
  const person = access === "operator" ? access : needs.person;
  if (token !== undefined && person !== undefined) {
    return ports.personOf({
      requestId,
      origin,
      token,
      needs: person,
      csrf: seen.head.header("x-svc-csrf"),
      isSafe: route.method === "GET",
      org: params.org ?? seen.head.header("svc-org"),
      address: seen.head.address,
      isForClosed: route.isForClosed,
    });
  }
  if (needs.key === undefined) throw noKeys(secret);
  const key = authorizeKey(ports.keyring, secret, needs.key);
  const org = params.org ?? seen.head.header("svc-org");
  if (org !== "" && ports.orgIdOf(org) !== key.orgId)
    throw fail("not_found", "There is no such organisation.");
  return callerOf(key, requestId, origin);
};

/** @throws WeirError 401, or 403 `scope`. */
export function authorizeKey(keyring: Keyring, secret: string | undefined, scope: string): KeyContext {
  const key = keyring.resolve(secret);
  if (scope !== "key" && !key.scopes.has(scope)) throw lackedByKey(scope);
  return key;
}

const noKeys = (secret: string | undefined) =>
  secret === undefined
    ? fail("missing_key", "This needs a console session: sign in at /auth/login.")
    : fail("role", "This needs a console session; an API key does not open it.");

function operator(
  { isOperator }: CredentialPorts,
  { requestId, origin }: Credentials,
  secret: string,
): Caller {
  if (!isOperator(secret)) throw fail("role", "This is open to operators only.");
  return { ...nobody(requestId, origin), actor: { kind: "operator", id: "operator-key" } };
}

const nobody = (requestId: string, origin: Origin): Caller => ({
  requestId,
  actor: { kind: "nobody", id: "" },
  origin,
  orgId: "",
  projectId: "",
  environment: "live",
  scopes: new Set(),
});
