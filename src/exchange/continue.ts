/**
 * Completes a request that continues a stored conversation: inserts items that it names by id, and puts the earlier items
 * before its own input. Only conversations of the key's project and environment are found.
 */
import { fail } from "../errors.ts";
import type { ClientRequest, History } from "../wire/format.ts";
import type { Bodies } from "./bodies.ts";
import type { Call } from "./call.ts";
import type { StoredResponses } from "./stored-responses.ts";

export interface ContinueDeps {
  readonly bodies: Bodies;
  readonly responses: StoredResponses;
  /** Maximum size of a request with the conversation that it continues. */
  readonly maxBodyBytes: number;
}

/** @throws WeirError 404 if the conversation is not stored, 413 if the whole is too large */
export function continued(
  deps: ContinueDeps,
  call: Call,
  request: ClientRequest,
): ClientRequest | Promise<ClientRequest> {
  const { history } = call.incoming.format;
  if (history === undefined) return request;
  const whole = history.names(request) ? withNamed(deps, call, request, history) : request;
  if (whole instanceof Promise) return whole.then((read) => withPrevious(deps, call, read, history));
  return withPrevious(deps, call, whole, history);
}

function withNamed(
  { responses, bodies, maxBodyBytes }: ContinueDeps,
  call: Call,
  request: ClientRequest,
  history: History,
): ClientRequest | Promise<ClientRequest> {
  const { key } = call;
  /** By response id: each response is parsed once, however many of its items are named. */
  const known = new Map<string, ReadonlyMap<string, string>>();
  const itemOf = (itemId: string): string | undefined => {
    const id = responses.responseWith(key, itemId);
    const stored = id === undefined || known.has(id) ? undefined : responses.get(key, id);
    if (id !== undefined && stored !== undefined) known.set(id, history.itemsOf(stored.response));
    return id === undefined ? undefined : known.get(id)?.get(itemId);
  };
  return bodies.read(call.incoming.format, history.named(request, itemOf, maxBodyBytes));
}

function withPrevious(
  { responses, bodies, maxBodyBytes }: ContinueDeps,
  call: Call,
  request: ClientRequest,
  history: History,
): ClientRequest | Promise<ClientRequest> {
  const previous = history.previousOf(request);
  if (previous === undefined) return request;
  const { items, endpointId, keyId, provider } = responses.previous(call.key, previous);
  // That endpoint can read the content that it sealed, and has the prompt in its cache (T49).
  call.preferred = { endpointId, keyId };
  const body = history.expand(request, items);
  if (body.length > maxBodyBytes) {
    const details = { max_bytes: maxBodyBytes };
    throw fail("payload_too_large", "The conversation so far is too large to go on.", { details });
  }
  const read = bodies.read(call.incoming.format, body);
  if (read instanceof Promise) return read.then((whole) => history.continuing(whole, request, provider));
  return history.continuing(read, request, provider);
}
