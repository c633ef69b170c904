/**
 * Completes a request that goes on from what is kept here (`previous_response_id`, `conversation`): inserts items that it names by id,
 * and puts the earlier items before its own input. Only what is of the key's project and environment is found.
 */
import type { KeyContext } from "../../account/keyring.ts";
import { fail } from "../../base/errors.ts";
import { after } from "../../base/maybe-promise.ts";
import type { ClientRequest, History } from "../../wire/format.ts";
import type { KeptItems } from "../../wire/responses/given-items.ts";
import type { Bodies } from "./body/bodies.ts";
import type { Call } from "./call.ts";
import { type ConversationLock, type Conversations, notKept } from "./kept/conversations/conversations.ts";
import { CallTurn } from "./kept/conversations/turn.ts";
import type { Conversation } from "./kept/kept-rows.ts";
import { type NamedItemsDeps, namedItems } from "./kept/named-items.ts";
import { keepsAnything } from "./kept/stored-responses.ts";

/** `maxBodyBytes`: also with the conversation that a request continues. */
export interface ContinueDeps extends NamedItemsDeps {
  readonly bodies: Bodies;
  /** False: only a question about a call, which adds nothing to its conversation. */
  readonly isCall: boolean;
}

/**
 * @throws WeirError 400 if the response is not stored, 404 if the conversation or an item is not, 400 `conversation_locked`, 413 if the
 *   whole is too large
 */
export function continued(
  deps: ContinueDeps,
  call: Call,
  request: ClientRequest,
): ClientRequest | Promise<ClientRequest> {
  const { history } = call.incoming.format;
  if (history === undefined) return request;
  if (history.conversationOf(request) !== undefined) return withConversation(deps, call, request, history);
  if (!history.names(request)) return withPrevious(deps, call, request, history);
  return withNamed(deps, call, request, history).then((read) => withPrevious(deps, call, read, history));
}

/** @param own items of the conversation that the request goes on from */
async function withNamed(
  deps: ContinueDeps,
  call: Call,
  request: ClientRequest,
  history: History,
  own?: KeptItems,
): Promise<ClientRequest> {
  const items = await namedItems(deps, call.key, request, history, own);
  const body = history.named(request, (id) => items.get(id), deps.maxBodyBytes);
  return deps.bodies.read(call.incoming.format, body);
}

function withPrevious(
  { bodies, responses, maxBodyBytes }: ContinueDeps,
  call: Call,
  request: ClientRequest,
  history: History,
): ClientRequest | Promise<ClientRequest> {
  const previous = history.previousOf(request);
  if (previous === undefined) return request;
  return after(responses.previous(call.key, previous), ({ items, endpointId, keyId, provider }) => {
    // That endpoint can read the content that it sealed, and has the prompt in its cache (T49).
    call.preferred = { endpointId, keyId };
    const body = expanded(history, request, items, maxBodyBytes);
    return after(bodies.read(call.incoming.format, body), (whole) =>
      history.continuing(whole, request, provider),
    );
  });
}

function expanded(history: History, request: ClientRequest, items: string, maxBytes: number): Buffer {
  const body = history.expand(request, items);
  if (body.length <= maxBytes) return body;
  const details = { max_bytes: maxBytes };
  throw fail("payload_too_large", "The conversation so far is too large to go on.", { details });
}

/** A call holds its conversation from here until it is settled: what it has read is what its turn is added to. */
async function withConversation(
  deps: ContinueDeps,
  call: Call,
  request: ClientRequest,
  history: History,
): Promise<ClientRequest> {
  const { conversations, responses, bodies, isCall, maxBodyBytes } = deps;
  const { key } = call;
  const id = history.conversationOf(request) ?? "";
  const adds = isCall && history.keeps(request);
  call.isTurnLeftOut = isCall && !adds;
  // A routing policy may still ask for zero data retention: room to keep the turn is then refused.
  if (adds && !(keepsAnything(key.dataPolicy) && request.svc.route.require?.zdr !== true)) throw notKept();
  const lock = adds ? await conversations.lock(key, id) : undefined;
  const before = await foundOrReleased(conversations, key, id, lock);
  const turn = lock && new CallTurn(conversations, id, before, lock);
  call.conversation = turn;
  const { endpointId, keyId, provider } = before.head;
  if (endpointId !== "") call.preferred = { endpointId, keyId };
  const named = history.names(request)
    ? await withNamed(deps, call, request, history, before.items)
    : request;
  await turn?.take(call, history, named, (work) => responses.turns.run(key.orgId, work));
  const body = expanded(history, named, before.items.items, maxBodyBytes);
  const whole = await bodies.read(call.incoming.format, body);
  return history.continuing(whole, named, provider || undefined);
}

async function foundOrReleased(
  conversations: Conversations,
  key: KeyContext,
  id: string,
  lock: ConversationLock | undefined,
): Promise<Conversation> {
  try {
    return await conversations.get(key, id);
  } catch (error) {
    lock?.release();
    throw error;
  }
}
