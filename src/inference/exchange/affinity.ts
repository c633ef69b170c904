/**
 * Affinity: the user, session or prompt of a call, from its format's fields or from `svc`. Calls with the same one should go
 * to the same provider account, because providers cache prompts by account.
 */
import { hash } from "node:crypto";
import { nameHash } from "../../base/digest.ts";
import type { Affinity } from "../../base/route.ts";
import type { ClientFormat, ClientRequest } from "../../wire/format.ts";
import { memberOf } from "../../wire/json/json.ts";

/** Longest user or session name that is read. */
const MAX_NAME_BYTES = 512;
/** Bytes of a prompt that are hashed: enough to distinguish conversations, and unchanged while they grow. */
const PROMPT_BYTES = 1024;

/** Hashes of names: equal names of one org have equal hashes. Empty if the request names none. */
export interface CallerNames {
  readonly user: string;
  readonly session: string;
}

export const NO_NAMES: CallerNames = Object.freeze({ user: "", session: "" });

/** Used for the record, for the draw of a live call and for its replay, which must agree. */
export function callerNames(orgId: string, format: ClientFormat, request: ClientRequest): CallerNames {
  const user = userOf(format, request);
  const session = sessionOf(request);
  if (user === "" && session === "") return NO_NAMES;
  return { user: nameHash(orgId, user), session: nameHash(orgId, session) };
}

/** The key by which calls are sent to the same account; empty if the request has none, or if affinity is `none`. */
export function affinityKey(
  affinity: Affinity,
  names: CallerNames,
  format: ClientFormat,
  request: ClientRequest,
): string {
  switch (affinity) {
    case "none":
      return "";
    case "user":
      return names.user;
    case "session":
      return names.session;
    case "prompt":
      return promptOf(format, request);
  }
}

/** `svc.metadata.user_id`, else the format's own field. */
function userOf({ habits }: ClientFormat, request: ClientRequest): string {
  if (request.svc.userId !== "") return request.svc.userId;
  for (const member of habits.userMembers) {
    const user = valueText(request, member);
    if (user !== "") return user;
  }
  return "";
}

/** `svc.metadata.session_id`, else OpenAI's prompt cache key. */
const sessionOf = (request: ClientRequest): string =>
  request.svc.sessionId === "" ? valueText(request, "prompt_cache_key") : request.svc.sessionId;

/** A member's value as text, without decoding: a string without its quotes, another value as its JSON text. */
function valueText({ members, bytes }: ClientRequest, key: string): string {
  const member = memberOf(members, key);
  if (member === undefined) return "";
  const { valueStart, valueEnd } = member;
  const text = bytes.toString("latin1", valueStart, Math.min(valueEnd, valueStart + MAX_NAME_BYTES));
  if (text.startsWith('"')) return text.slice(1, text.endsWith('"') ? -1 : undefined);
  return text === "null" ? "" : text;
}

/** Hash of the beginning of the prompt, in the order in which providers cache it: system prompt, then messages. */
function promptOf({ promptAt }: ClientFormat, { members, bytes }: ClientRequest): string {
  let beginning = "";
  for (const key of ["system", "instructions", promptAt.slice(1)]) {
    const member = memberOf(members, key);
    if (member === undefined || beginning.length >= PROMPT_BYTES) continue;
    const end = Math.min(member.valueEnd, member.valueStart + PROMPT_BYTES - beginning.length);
    beginning += bytes.toString("latin1", member.valueStart, end);
  }
  return beginning === "" ? "" : hash("sha1", beginning);
}
