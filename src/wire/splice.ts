/**
 * What every splice has in common. A request to an upstream of the client's own dialect: the model's name changes, our
 * extension goes, the provider's own ways are followed. Its answer: `id` and `model` are ours, `svc` is added. Every other
 * byte is as it came.
 */
import type { Dialect, Endpoint } from "../endpoint.ts";
import { fail } from "../errors.ts";
import type { ReplyFacts, SvcReply } from "./contract.ts";
import type { AnswerIdentity, ClientRequest, Outgoing } from "./format.ts";
import {
  applyEdits,
  type Edit,
  editedBytes,
  editedParts,
  latin1Json,
  type Member,
  memberOf,
  removeMembers,
  setMember,
  skim,
} from "./json.ts";
import { quirkEdits } from "./quirks.ts";
import { type JsonObject, objectOf } from "./reader.ts";
import { svcJson } from "./svc.ts";

/** A request's body on its way to one endpoint: what a format changes beside is added. */
export interface RequestSplice {
  readonly edits: Edit[];
  /** Members that go: no edit may touch them. */
  readonly remove: string[];
  readonly dropped: string[];
}

export function spliceOf(
  { members, svc }: ClientRequest,
  { provider, upstreamModel }: Endpoint,
  dialect: Dialect,
): RequestSplice {
  const quirks = quirkEdits(members, svc, provider, dialect);
  const edits = [...quirks.edits];
  const model = memberOf(members, "model");
  if (model !== undefined && !quirks.remove.includes("model")) {
    edits.push({ start: model.valueStart, end: model.valueEnd, text: JSON.stringify(upstreamModel) });
  }
  return { edits, remove: ["svc", ...quirks.remove], dropped: [...quirks.dropped] };
}

/** Larger bodies are not copied. */
const ONE_PIECE_BYTES = 64 * 1024;

export function spliced(
  { bytes, members }: ClientRequest,
  { edits, remove, dropped }: RequestSplice,
): Outgoing {
  const all = [...edits, ...removeMembers(members, remove)];
  const parts = bytes.length <= ONE_PIECE_BYTES ? [editedBytes(bytes, all)] : editedParts(bytes, all);
  return { parts, dropped };
}

/** An upstream's whole answer by position. */
export interface ReplyText {
  /** latin1: one character a byte. */
  readonly text: string;
  readonly members: readonly Member[];
  /** latin1 as well; long strings, which no fact needs, are empty. */
  readonly value: JsonObject;
}

/** @throws WeirError `upstream_invalid_response` where the body is no JSON, or of a shape that no answer has. */
export function readReplyText(bytes: Buffer): ReplyText {
  const text = bytes.toString("latin1");
  try {
    const { members, skeleton } = skim(text);
    return { text, members, value: objectOf(JSON.parse(skeleton)) };
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}

/**
 * The answer for the client.
 * @param others further members, JSON by name: `usage` where the upstream reported none.
 */
export function patchedReply(
  { text, members }: ReplyText,
  { id, model }: Pick<AnswerIdentity, "id" | "model">,
  svc: SvcReply,
  others?: Readonly<Record<string, string>>,
): Buffer {
  const edits = [
    setMember(text, members, "id", latin1Json(id)),
    setMember(text, members, "model", latin1Json(model)),
  ];
  for (const key in others) edits.push(setMember(text, members, key, others[key] as string));
  edits.push(setMember(text, members, "svc", svcJson(svc)));
  return Buffer.from(applyEdits(text, edits), "latin1");
}

/** Of an answer that is an error. */
export const NO_FACTS: ReplyFacts = Object.freeze({
  usage: undefined,
  stopReason: "",
  toolCalls: 0,
  outputBytes: 0,
  unreportedBytes: 0,
});
