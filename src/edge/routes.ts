/**
 * The table of routes: method, path, required access, and what each route runs. It is built from what rooms offer, where all of
 * this stands. `/openapi.json` is generated from it.
 */
import { z } from "zod";
import { SCIM_MEDIA_TYPE, scimErrorText } from "../account/scim/error.ts";
import type { WeirError } from "../base/errors.ts";
import { type Access, needsOf } from "../base/operation/access.ts";
import type { StreamOperation } from "../base/operation/event-stream.ts";
import type { Group } from "../base/operation/group.ts";
import type { Hook } from "../base/operation/hook.ts";
import type { AnyOperation, Method, Named, Place } from "../base/operation/operation.ts";
import { letParentsGo } from "../base/operation/schema-parents.ts";
import { CALLS, type CallName } from "../inference/exchange/formats.ts";
import type { ErrorSchemaName } from "./openapi/openapi-types.ts";
import { TAGS } from "./openapi/tags.ts";

/** `anthropic`: the operation for requests with `anthropic-version`. */
type Act = { readonly operation: Named<AnyOperation>; readonly anthropic?: Named<AnyOperation> };

/** Formats an error body for the route's clients. */
export interface ErrorBody {
  (error: WeirError, requestId: string): string;
  /** Media type of what it formats, if not `application/json`. */
  readonly mediaType?: string;
}

/** What a route's clients expect, where it is not our own shape. */
interface Shapes {
  /** Formats errors. Model calls use their format's. */
  readonly errorBody?: ErrorBody;
  /** Its name in the API description. */
  readonly errorSchema?: ErrorSchemaName;
  /** Media type of JSON bodies, in and out, if not `application/json`: for instance `application/scim+json`. */
  readonly mediaType?: string;
}

/** Routes under one heading of the documentation. */
interface RouteGroup extends Shapes {
  readonly heading: Group;
}

/** What a route runs. */
type Runs =
  | Act
  /** A model call. */
  | { readonly exchange: CallName }
  /** Server-sent events, by GET. */
  | { readonly stream: Named<StreamOperation> }
  /** Passes the body on unchanged; the hook itself authenticates the sender. */
  | { readonly hook: Hook };

export type Route = {
  readonly method: Method;
  /** Parameters in braces: `/v1/keys/{id}`. */
  readonly path: string;
  readonly access: Access;
  /** Open to people of a closed org although it changes something. */
  readonly isForClosed: boolean;
  /** Its requests count as changes. */
  readonly isChange: boolean;
  /** Its requests count at all. */
  readonly isCounted: boolean;
  readonly group: RouteGroup;
} & Runs;

/** What rooms offer beside model calls. */
export type Offered = Named<AnyOperation> | Named<StreamOperation> | Hook;

/** By what opens a route: identity providers expect the shapes and the media type of RFC 7644. */
const SHAPES: Partial<Record<Access, Shapes>> = {
  directory: { errorBody: scimErrorText, errorSchema: "ScimError", mediaType: SCIM_MEDIA_TYPE },
};

/**
 * The table, in the order of the reference's headings, below each in the order given.
 * @throws Error where two have one route or one name, or where a path and its parameters differ
 */
export function routeTable(offered: readonly Offered[]): readonly Route[] {
  const routes = new Map<string, Route>();
  const firsts = offered.filter((each) => !isAnthropic(each));
  for (const route of [...callRoutes(), ...firsts.map(routeOf)]) {
    const other = routes.get(placeOf(route));
    if (other !== undefined) throw new Error(`${namesOf(other)} and ${namesOf(route)} have one route`);
    routes.set(placeOf(route), route);
  }
  for (const anthropic of offered.filter(isAnthropic))
    routes.set(placeOf(anthropic), joined(routes.get(placeOf(anthropic)), anthropic));
  const table = [...routes.values()];
  assertNamedApart(table);
  for (const each of offered) for (const schema of schemasOf(each)) letParentsGo(schema);
  return table.sort((a, b) => orderOf(a) - orderOf(b));
}

const placeOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;

const orderOf = ({ group: { heading } }: Route): number => TAGS.findIndex(({ name }) => name === heading);

const callRoutes = (): Route[] =>
  Object.entries(CALLS).map(([name, { path, group, query }]) => ({
    ...placed({ path, group, access: query === undefined ? "inference" : "inference / member" }, "POST"),
    exchange: name as CallName,
  }));

function routeOf(offered: Offered): Route {
  assertParams(offered);
  if ("open" in offered) return { ...placed(offered, "GET"), stream: offered };
  if (!("output" in offered)) return { ...placed({ ...offered, access: "public" }, "POST"), hook: offered };
  const { method, isForClosed = false, isChange = false } = offered;
  const route = placed(offered, method);
  const isCounted = route.isCounted || isChange;
  return { ...route, isForClosed, isChange: route.isChange || isChange, isCounted, operation: offered };
}

const placed = ({ path, access, group }: Place, method: Method) => ({
  method,
  path,
  access,
  isForClosed: false,
  isChange: method !== "GET",
  // Answers of calls, which clients ask for as often as they make calls.
  isCounted: needsOf(access).key !== "inference",
  group: { heading: group, ...SHAPES[access] },
});

const isAnthropic = (offered: Offered): offered is Named<AnyOperation> =>
  "dialect" in offered && offered.dialect === "anthropic";

/** The route of two operations. @throws Error where there is no first one, or where the second differs in what is the route's */
function joined(route: Route | undefined, anthropic: Named<AnyOperation>): Route {
  assertParams(anthropic);
  if (route === undefined || !("operation" in route) || route.anthropic !== undefined)
    throw new Error(`${anthropic.name} needs one other operation of ${placeOf(anthropic)}`);
  if (route.access !== anthropic.access || route.group.heading !== anthropic.group)
    throw new Error(`${route.operation.name} and ${anthropic.name} need one access and one group`);
  return { ...route, anthropic };
}

/** @throws Error */
function assertParams({ name, path, params }: Pick<Offered, "name" | "path" | "params">): void {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param).sort();
  const inSchema = params instanceof z.ZodObject ? Object.keys(params.shape).sort() : [];
  if (inPath.join() !== inSchema.join())
    throw new Error(`${name} has the parameters "${inPath}" in its path, and "${inSchema}" in \`params\``);
}

const eventSchemas = ({ event }: StreamOperation): z.ZodType[] =>
  event instanceof z.ZodType ? [event] : Object.values(event);

const schemasOf = (offered: Offered): (z.ZodType | undefined)[] => {
  if ("open" in offered) return [offered.params, offered.query, ...eventSchemas(offered)];
  return "output" in offered ? [offered.params, offered.query, offered.body, offered.output] : [];
};

/** @throws Error */
function assertNamedApart(table: readonly Route[]): void {
  const names = new Set<string>();
  for (const name of table.flatMap(namesOf)) {
    if (names.has(name)) throw new Error(`two are named ${name}`);
    names.add(name);
  }
}

function namesOf(route: Route): string[] {
  if ("exchange" in route) return [CALLS[route.exchange].operationId];
  if ("stream" in route) return [route.stream.name];
  if ("hook" in route) return [route.hook.name];
  return [route.operation, route.anthropic].flatMap((each) => each?.name ?? []);
}
