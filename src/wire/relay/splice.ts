/**
 * What all splices share. In a request to an upstream of the client's own dialect the model's name is replaced, our `svc`
 * extension is removed, and the provider's quirks are applied. In the answer `id` and `model` are replaced and `svc` is
 * added. Every other byte is passed on unchanged.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import { fail } from "../../base/errors.ts";
import { NO_REMOVALS, removalsOf } from "../extras/removals.ts";
import { type SentExtras, sentOf } from "../extras/sent.ts";
import { type Billed, sift } from "../extras/sift.ts";
import type { AnswerIdentity, ClientRequest, Outgoing } from "../format.ts";
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
  utf8Of,
} from "../json/json.ts";
import type { ReplyFacts, SvcReply } from "../neutral/contract.ts";
import { type JsonObject, objectOf } from "../neutral/reader.ts";
import { svcJson } from "../svc.ts";
import { NO_PROVIDER_OPTIONS, notReplaced, optionsFor } from "./provider-options.ts";
import { quirkEdits } from "./quirks.ts";

/** The changes of a request's body for one endpoint. A format adds its own. */
export interface RequestSplice {
  readonly edits: Edit[];
  /** Members to remove. Edits within them are not made. */
  readonly remove: string[];
  readonly dropped: string[];
  readonly extras: SentExtras;
}

/** @param billed whose credential it will be sent with */
export function spliceOf(
  { bytes, members, svc, extras }: ClientRequest,
  endpoint: Endpoint,
  dialect: Dialect,
  billed: Billed,
): RequestSplice {
  const { provider, upstreamModel } = endpoint;
  const { kept, dropped: unpriced } = sift(extras.asks, endpoint.prices, billed);
  const gone = unpriced.length === 0 ? NO_REMOVALS : removalsOf(bytes, members, unpriced);
  const options = optionsFor(svc, endpoint, dialect, billed, kept);
  const quirks = quirkEdits(members, options, provider, dialect, gone.remove);
  const edits = [...quirks.edits];
  for (const edit of gone.edits) if (!quirks.edits.some((other) => overlap(edit, other))) edits.push(edit);
  const model = memberOf(members, "model");
  if (model !== undefined && !quirks.remove.includes("model")) {
    edits.push({ start: model.valueStart, end: model.valueEnd, text: JSON.stringify(upstreamModel) });
  }
  return {
    edits,
    remove: ["svc", ...quirks.remove, ...gone.remove],
    dropped: gone === NO_REMOVALS ? [...quirks.dropped] : [...gone.pointers.map(utf8Of), ...quirks.dropped],
    extras:
      options === NO_PROVIDER_OPTIONS
        ? sentOf(kept, unpriced)
        : sentOf([...notReplaced(kept, options), ...options.kept], [...unpriced, ...options.unpriced]),
  };
}

const overlap = (a: Edit, b: Edit): boolean => a.start < b.end && b.start < a.end;

/** Whether an edit overlaps one of these, which are in order: a client decides how many there are of both. */
function isWithinOne(edit: Edit, ordered: readonly Edit[]): boolean {
  let [from, to] = [0, ordered.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ordered[middle] as Edit).start < edit.end) from = middle + 1;
    else to = middle;
  }
  const last = ordered[from - 1];
  return last !== undefined && overlap(edit, last);
}

/** Larger bodies are not copied. */
const ONE_PIECE_BYTES = 64 * 1024;

export function spliced(
  { bytes, members }: ClientRequest,
  { edits, remove, dropped, extras }: RequestSplice,
): Outgoing {
  const gone = removeMembers(members, remove);
  const left = gone.length === 0 ? edits : edits.filter((edit) => !isWithinOne(edit, gone));
  const all = [...left, ...gone];
  const parts = bytes.length <= ONE_PIECE_BYTES ? [editedBytes(bytes, all)] : editedParts(bytes, all);
  return { parts, dropped, extras };
}

/** An upstream's whole answer and the positions of its members. */
export interface ReplyText {
  /** latin1: one character a byte. */
  readonly text: string;
  readonly members: readonly Member[];
  /** Parsed, latin1 as well; long strings, which no fact needs, are empty. */
  readonly value: JsonObject;
}

/** @throws WeirError `upstream_invalid_response` if the body is no JSON object. */
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
 * The answer for the client, patched by position.
 * @param others further members to set, JSON by name: `usage` if the upstream reported none.
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

/** The facts of an answer that is an error. */
export const NO_FACTS: ReplyFacts = Object.freeze({
  usage: undefined,
  stopReason: "",
  toolCalls: 0,
  outputBytes: 0,
  unreportedBytes: 0,
});
