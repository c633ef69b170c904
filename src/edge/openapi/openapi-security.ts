/** Who may call a route as OpenAPI says it: the credentials, what each must allow, and how a request without it is refused. */
import type { ErrorName } from "../../base/errors.ts";
import { type Access, needsOf, type PersonSide } from "../../base/operation/access.ts";
import { CALLS } from "../../inference/exchange/formats.ts";
import type { Route } from "../routes.ts";
import type { OpenApiDocument, SecurityRequirement } from "./openapi-types.ts";

const SECURITY_SCHEMES = {
  key: { type: "http", scheme: "bearer", description: "An API key: `svc-live-…` or `svc-test-…`" },
  header_key: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "An API key, as Anthropic's clients send it",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "svc_session",
    description: "A console session, from `/auth/login`. On https the cookie is `__Host-svc_session`",
  },
  csrf: {
    type: "apiKey",
    in: "header",
    name: "x-svc-csrf",
    description: "With a session, where a request changes something: `csrf_token` of `GET /auth/me`",
  },
  operator: {
    type: "http",
    scheme: "bearer",
    description: "The secret in `operator-key` of the data folder",
  },
  directory: { type: "http", scheme: "bearer", description: "The token of an org's directory" },
} as const;

/** Those that some route takes. */
export function schemesOf(paths: OpenApiDocument["paths"]): Readonly<Record<string, object>> {
  const items = Object.values(paths).flatMap((methods) => Object.values(methods));
  const used = new Set(items.flatMap(({ security }) => security).flatMap(Object.keys));
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => used.has(name)));
}

/**
 * Alternatives, of which one suffices. What stands behind a credential is the scope or the role that it must have, which 3.1
 * allows for schemes other than OAuth (section 4.8.30).
 */
export function securityOf(route: Route): readonly SecurityRequirement[] {
  const { access } = route;
  if (access === "public") return [];
  if (access === "anyone") return [{}, { key: [] }, { session: [] }];
  const withToken = route.method === "GET" ? {} : { csrf: [] };
  if (access === "operator") return [{ operator: [] }, { session: ["operator"], ...withToken }];
  if (access === "directory") return [{ directory: [] }];
  const { key, person } = needsOf(access);
  const scopes = key === undefined || key === "key" ? [] : [key];
  const roles = person === undefined || person === "signed in" ? [] : [person];
  return [
    ...(key === undefined ? [] : [{ key: scopes }]),
    ...(key !== undefined && takesHeaderKey(route) ? [{ header_key: scopes }] : []),
    ...(person === undefined ? [] : [{ session: roles, ...withToken }]),
  ];
}

const takesHeaderKey = (route: Route): boolean =>
  "exchange" in route
    ? CALLS[route.exchange].format.habits.sendsApiKey === true
    : "operation" in route && route.anthropic !== undefined;

const OF_KEYS = ["invalid_key", "expired_key", "revoked_key", "org_closed", "org_suspended"] as const;
const OF_PEOPLE = ["session_expired", "two_factor_required", "ip_not_allowed"] as const;

/** How a request is refused by what it carries, before anything else is looked at. */
export function refusalsOf({ access, method, ...route }: Route): readonly ErrorName[] {
  if (access === "public") return [];
  if (access === "anyone") return OF_KEYS;
  const csrf = method === "GET" ? [] : (["csrf"] as const);
  if (access === "operator") return ["missing_key", "session_expired", "role", ...csrf];
  if (access === "directory")
    return ["missing_key", "invalid_key", "org_closed", "org_suspended", "plan_feature"];
  const { key, person } = needsOf(access);
  const isForOrg = person !== "signed in" || key !== undefined;
  return [
    "missing_key",
    ...(key === undefined ? [] : OF_KEYS),
    ...(key === undefined || key === "key" ? [] : (["scope"] as const)),
    ...(person === undefined ? [] : [...peopleRefused(access), ...csrf]),
    ...(isForOrg && !("exchange" in route) ? (["not_found"] as const) : []),
  ];
}

function peopleRefused(access: Access): readonly ErrorName[] {
  const { key, person } = needsOf(access);
  if (person === "signed in") return key === undefined ? ["session_expired", "role"] : ["session_expired"];
  const needsRole = key === undefined || person !== "everyone";
  return [...OF_PEOPLE, "org_closed", "org_suspended", ...(needsRole ? (["role"] as const) : [])];
}

/** The access in words. */
export function accessText(access: Access): string {
  if (access === "public") return "Needs no credential.";
  if (access === "anyone") return "Needs no credential; one that is sent says whose org asks.";
  if (access === "operator") return "For operators of the installation.";
  if (access === "directory") return "Needs the token of the org's directory.";
  const { key, person } = needsOf(access);
  const keyText =
    key === undefined ? [] : [key === "key" ? "a working key" : `a key with the scope \`${key}\``];
  const personText = person === undefined ? [] : [personNeeds(person)];
  return `Needs ${[...keyText, ...personText].join(", or ")}.`;
}

function personNeeds(person: PersonSide): string {
  if (person === "signed in") return "a signed-in person";
  return person === "everyone" ? "a person of the org" : `a person of the org who may act as \`${person}\``;
}
