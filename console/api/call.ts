/**
 * Calls of the API, with the session of the browser. A failure is an `ApiError`, which says what the API said; a session that has ended
 * leads to the sign-in, and back to the page.
 */
import { type Operations, ROUTES } from "./operations.ts";

export type Name = keyof Operations & keyof typeof ROUTES;
export type Answer<N extends Name> = Operations[N]["answer"];

type Part<K extends string, T> = [T] extends [undefined]
  ? Record<never, never>
  : Record<never, never> extends T
    ? { readonly [key in K]?: T }
    : { readonly [key in K]: T };

/** What an operation takes: the parts that it has none of are left out. */
export type Input<N extends Name> = Part<"params", Operations[N]["params"]> &
  Part<"query", Operations[N]["query"]> &
  Part<"body", Operations[N]["body"]>;

/** What the API refused, or what kept it from answering. */
export class ApiError extends Error {
  /** 0 where no answer came. */
  readonly status: number;
  readonly code: string;
  /** JSON pointer of the field at fault; empty where none is. */
  readonly param: string;
  readonly requestId: string;
  readonly details: unknown;

  constructor(status: number, body: ErrorBody, requestId: string) {
    super(body.message ?? "The gateway answered what this page does not understand.");
    this.status = status;
    this.code = body.code ?? "";
    this.param = body.param ?? "";
    this.requestId = body.request_id ?? requestId;
    this.details = body.details;
  }
}

/** What an error of the API has, in an answer and in a stream alike. */
export interface ErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly param?: string;
  readonly request_id?: string;
  readonly details?: unknown;
}

/** Who asks: set once the session is known, and when another org is chosen. */
export interface Credential {
  readonly csrf: string;
  /** Id of the org that calls are about. */
  readonly org: string;
}

let credential: Credential = { csrf: "", org: "" };

export function callAs(next: Credential): void {
  credential = next;
}

interface Parts {
  readonly params?: object;
  readonly query?: object;
}

/** The path with its parameters and the query; members that are undefined or empty are left out. */
export function pathOf(name: Name, input: Parts): string {
  const params = new Map(Object.entries(input.params ?? {}));
  const path = ROUTES[name][1].replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(String(params.get(key))),
  );
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== "") query.set(key, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Headers of a call: the org it is about, and the token that shows that no other site makes it. */
export const headersOf = (method: string): Record<string, string> => ({
  accept: "application/json",
  ...(credential.org !== "" && { "svc-org": credential.org }),
  ...(method !== "GET" && { "x-svc-csrf": credential.csrf }),
});

/**
 * @param more headers beside those of every call: `idempotency-key`
 * @throws ApiError where it is refused or not answered
 * @throws DOMException `AbortError` once the signal has told it
 */
export async function call<N extends Name>(
  name: N,
  input: Input<N>,
  signal?: AbortSignal,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer<N>> {
  const method = ROUTES[name][0];
  const { body } = input as { readonly body?: unknown };
  const answer = await sent(pathOf(name, input as Parts), {
    method,
    headers: {
      ...headersOf(method),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...more,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  if (answer.status === 204) return undefined as unknown as Answer<N>;
  return (await answer.json()) as Answer<N>;
}

/** The answer of the gateway, if it is a good one. @throws as `call` */
export async function sent(path: string, init: RequestInit): Promise<Response> {
  try {
    return await asked(path, init);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) signInAgain();
    throw error;
  }
}

/** As `sent`, but a 401 is about something else than the session, and leads nowhere. @throws as `call` */
export async function asked(path: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, { message: "The gateway does not answer. Is it running?", code: "no_answer" }, "");
  }
  if (answer.ok) return answer;
  throw await errorOf(answer);
}

async function errorOf(answer: Response): Promise<ApiError> {
  const requestId = answer.headers.get("x-svc-request-id") ?? "";
  const body: unknown = await answer.json().catch(() => undefined);
  const error = (body as { error?: ErrorBody } | undefined)?.error ?? {};
  return new ApiError(answer.status, error, requestId);
}

/** Leaves for the sign-in, which leads back here. */
export function signInAgain(): void {
  const here = location.pathname + location.search;
  location.assign(`/auth/login?${new URLSearchParams({ return_to: here })}`);
}
