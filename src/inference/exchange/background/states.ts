/** The states of a background response as they are stored: one when its call is accepted, and the last one in the commit that settles it. */
import type { Clock } from "../../../base/clock.ts";
import { fail, type WeirError } from "../../../base/errors.ts";
import type { Background, Charged, History } from "../../../wire/format.ts";
import { jsonAt, membersOf, utf8Of } from "../../../wire/json/json.ts";
import type { Call, KeptWriter, ReadCall } from "../call.ts";
import { both, conversationOf, NOT_STORED } from "../kept/keep.ts";
import type { BackgroundStatus, StoredResponse } from "../kept/kept-rows.ts";
import { responseBytes, type StoredResponses } from "../kept/stored-responses.ts";
import type { Outcome } from "../outcome.ts";

type Stored = Omit<StoredResponse, "expiresMs" | "orgId">;

/** What the states of a response are made with. */
export interface StatesDeps {
  readonly clock: Clock;
  readonly responses: StoredResponses;
}

/** A call whose format knows the background. */
export interface InBackground {
  readonly background: Background;
  readonly history: History;
}

/** @throws Error for a call of another format: only those that know it are in the background */
export function wordsOf({ incoming: { format } }: Call): InBackground {
  const { background, history } = format;
  if (background === undefined || history === undefined) throw new Error(`${format.name} has no background`);
  return { background, history };
}

/** A state without an answer. @param response JSON text */
export function unanswered(
  { responses }: Pick<StatesDeps, "responses">,
  call: ReadCall,
  status: BackgroundStatus,
  response: string,
): Stored {
  return {
    response,
    items: wordsOf(call).history.itemsAfter(call.request, response),
    itemIds: [],
    endpointId: call.endpoint?.id ?? "",
    provider: call.endpoint?.provider.id ?? "",
    keyId: call.lane?.key.id ?? "",
    background: { ...responses.place, status },
  };
}

/** How the call ended. */
export interface Ended {
  readonly outcome: Outcome;
  readonly error: WeirError | undefined;
  readonly charged: Charged;
}

/** A call whose response has a state already. Its request was read. */
export const hasState = (call: Call): call is ReadCall => call.hasState;

/** Prepares the last state of a background response, and its turn in a conversation, before the commit that they are a part of. */
export function lastState(deps: StatesDeps, call: ReadCall, ended: Ended): KeptWriter {
  const { responses } = deps;
  const { key, incoming, requestId, conversation } = call;
  const id = incoming.format.idPrefix + requestId;
  let stored = stateOf(deps, call, ended);
  // First, because its client asked for it. A call that failed, or was cancelled, adds nothing.
  const turn = isAnswer(stored)
    ? conversation?.writer(call, wordsOf(call).history, stored.response)
    : undefined;
  const refusal = unkept(deps, call, stored);
  if (refusal !== undefined) {
    call.warnings.push(NOT_STORED);
    stored = failed(deps, call, refusal, ended.charged);
  }
  return both(turn, {
    put: () => responses.replace(key, id, stored),
    shared: () => responses.shared(key, id),
  });
}

const isAnswer = ({ background }: Stored): boolean =>
  background?.status === "completed" || background?.status === "incomplete";

function stateOf(deps: StatesDeps, call: ReadCall, { outcome, error, charged }: Ended): Stored {
  const { background, history } = wordsOf(call);
  if (isCancelled(call, outcome)) {
    const response = background.cancelled(call.request, call.answerNames(deps.clock), charged);
    return unanswered(deps, call, "cancelled", utf8Of(response));
  }
  const answer = outcome.kind === "streamed" ? outcome.stream.responseJson?.() : undefined;
  const kept = answer === undefined ? undefined : conversationOf(history, call.request, answer);
  if (answer === undefined || kept === undefined) return failed(deps, call, error ?? NOT_READ, charged);
  return { ...unanswered(deps, call, statusIn(answer), answer), ...kept };
}

/** A cancel counts also where the answer ended in the same moment: its client was told so. */
export const isCancelled = ({ detached }: Call, { kind }: Outcome): boolean =>
  kind === "cancelled" || detached?.gone === true;

function failed(deps: StatesDeps, call: ReadCall, error: WeirError, charged: Charged): Stored {
  const { background } = wordsOf(call);
  const response = background.failed(error, call.request, call.answerNames(deps.clock), charged);
  return unanswered(deps, call, "failed", utf8Of(response));
}

const NOT_READ = fail("upstream_invalid_response", "The provider's answer could not be read.");

function statusIn(response: string): BackgroundStatus {
  const members = membersOf(response);
  const isCut = members !== undefined && jsonAt(response, members, "status") === '"incomplete"';
  return isCut ? "incomplete" : "completed";
}

/** Why an answer cannot be kept; undefined where it can. There is always room for a state without an answer. */
function unkept({ responses }: StatesDeps, call: Call, stored: Stored): WeirError | undefined {
  if (!responses.fits(Buffer.byteLength(stored.response) + Buffer.byteLength(stored.items))) return TOO_LARGE;
  return call.keptRoom?.use(responseBytes(stored)) === false ? NO_ROOM : undefined;
}

const TOO_LARGE = fail(
  "payload_too_large",
  "The answer was made and charged, and is larger with its conversation than what is kept of one (limits.max_stored_answer_bytes).",
);
const NO_ROOM = fail(
  "plan_limit",
  "The answer was made and charged, and the organisation's quota for what is kept of calls had no room for it.",
);
