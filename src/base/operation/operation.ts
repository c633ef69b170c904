/**
 * An operation is one control-plane function described as data: its route, who may call it, input, output, errors, and the
 * function. `edge` serves it, `/openapi.json` documents it, tests iterate over it.
 */
import type { z } from "zod";
import type { ErrorName } from "../errors.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { Access, PersonSide } from "./access.ts";
import type { FullAnswer } from "./answer.ts";
import type { Group } from "./group.ts";
import type { HttpHead } from "./http-head.ts";

/** Who acts. */
export interface Actor {
  /** `directory`: a client that provisions people; `system`: a job; `nobody`: a route without credential. */
  readonly kind: "key" | "person" | "directory" | "operator" | "system" | "nobody";
  /** Id of the key, the person, …; empty for `nobody`. */
  readonly id: string;
}

/** Where a request came from, as the audit keeps it. */
export interface Origin {
  /** /24 of an IPv4, /48 of an IPv6 address; empty for jobs. */
  readonly ipPrefix: string;
  readonly userAgent: string;
}

/** Who calls an operation and for which org, derived from the request's credential. */
export interface Caller {
  readonly requestId: string;
  readonly actor: Actor;
  readonly origin: Origin;
  /** Empty for `nobody`, and for an operator who acts on no org. */
  readonly orgId: string;
  /** Empty where the actor belongs to no project. */
  readonly projectId: string;
  readonly environment: "live" | "test";
  readonly scopes: ReadonlySet<string>;
}

/** A request of somebody who holds a console session. */
export interface PersonRequest {
  readonly requestId: string;
  readonly origin: Origin;
  /** Value of the session cookie. */
  readonly token: string;
  /** Header `x-svc-csrf`; empty where missing. */
  readonly csrf: string;
  /** The request changes nothing: GET. */
  readonly isSafe: boolean;
  /** Id or slug of the org of the path, else of the header `svc-org`; empty: the person's active one. */
  readonly org: string;
  readonly address: string;
  readonly needs: PersonSide | "operator";
  /** The route is open to people of a closed org although it changes something. */
  readonly isForClosed: boolean;
}

export interface Inputs<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Where something is served, by whom it may be called, and under which heading it is documented. */
export interface Place {
  /** Parameters in braces: `/v1/keys/{id}`. An org in the path is `{org}`: it is the one that the request is about. */
  readonly path: `/${string}`;
  readonly access: Access;
  readonly group: Group;
}

export type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface Operation<
  P extends z.ZodType | undefined = z.ZodType | undefined,
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
  O extends z.ZodType = z.ZodType,
> extends Place {
  readonly summary: string;
  readonly method: Method;
  /** Open to people of a closed org although it changes something. */
  readonly isForClosed?: boolean;
  /** Its requests count as changes although it is a GET, or is open to keys that call models: it stores something. */
  readonly isChange?: boolean;
  /**
   * Answers requests with the header `anthropic-version`, in Anthropic's shape; another operation of the same method and path answers
   * the rest. Both then accept `x-api-key` as well as the bearer credential.
   */
  readonly dialect?: "anthropic";
  /** Parameters of the path: a member for each. */
  readonly params?: P;
  /** Values arrive as strings; coerce in the schema. Repeated keys arrive as arrays. */
  readonly query?: Q;
  readonly body?: B;
  readonly output: O;
  /** Media types of answers that are not JSON: `text/csv`. */
  readonly otherTypes?: readonly string[];
  /** Most bytes of a body, where it may be a file; without it, what is usual for the control plane. */
  readonly maxBytes?: number;
  /** A 2xx, or 303 for a redirect; 200 unless given. 204 and 303 send no body. */
  readonly status?: number;
  /** Further statuses and when they come, for the API description: 200 has the output, from 400 on an error, others nothing. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** Errors besides authentication, scope, validation and `internal`, which every operation has. */
  readonly errors?: readonly ErrorName[];
  run(
    input: Inputs<Parsed<P>, Parsed<Q>, Parsed<B>>,
    caller: Caller,
    head: HttpHead,
  ): MaybePromise<z.input<O> | FullAnswer<z.input<O>>>;
}

/** Identity that fixes the type parameters, so that `run` is checked against the schemas beside it. */
export const operation = <
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  O extends z.ZodType = z.ZodType,
>(
  op: Operation<P, Q, B, O>,
): Operation<P, Q, B, O> => op;

/** An operation or a stream with the name under which its room offers it: its `operationId` in OpenAPI, verb first, such as `createKey`. */
export type Named<T> = T & { readonly name: string };

/** An operation of any schemas, as stored in a route table. */
export type AnyOperation = Operation<
  z.ZodType | undefined,
  z.ZodType | undefined,
  z.ZodType | undefined,
  z.ZodType
>;
