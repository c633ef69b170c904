/**
 * What all splices do to a request: for an upstream of the client's own dialect the model's name is replaced, our `svc`
 * extension is removed, and the provider's quirks are applied. Every other byte is passed on unchanged.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import { grown } from "../../base/lists.ts";
import { NO_REMOVALS, removalsOf } from "../extras/removals.ts";
import { type SentExtras, sentOf } from "../extras/sent.ts";
import { type Billed, sift } from "../extras/sift.ts";
import type { ClientRequest, Outgoing } from "../format.ts";
import { editedBytes, editedParts } from "../json/edited-bytes.ts";
import { type Edit, memberOf, removeMembers, utf8Of } from "../json/json.ts";
import { quotedName } from "../json/quoted.ts";
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
  let edits: Edit[] | undefined = quirks.edits.length === 0 ? undefined : [...quirks.edits];
  for (const edit of gone.edits) if (!overlapsOne(edit, quirks.edits)) edits = grown(edits, edit);
  const model = memberOf(members, "model");
  if (model !== undefined && !quirks.remove.includes("model")) {
    edits = grown(edits, { start: model.valueStart, end: model.valueEnd, text: quotedName(upstreamModel) });
  }
  return {
    edits: edits ?? [],
    remove: ["svc", ...quirks.remove, ...gone.remove],
    dropped: gone === NO_REMOVALS ? [...quirks.dropped] : [...gone.pointers.map(utf8Of), ...quirks.dropped],
    extras:
      options === NO_PROVIDER_OPTIONS
        ? sentOf(kept, unpriced)
        : sentOf([...notReplaced(kept, options), ...options.kept], [...unpriced, ...options.unpriced]),
  };
}

const overlapsOne = (edit: Edit, others: readonly Edit[]): boolean =>
  others.some((other) => overlap(edit, other));

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

/**
 * A splice that leaves out these members too. Edits that the provider's quirks make in those members are removed with them.
 */
export function without(
  names: readonly string[],
  { members }: ClientRequest,
  splice: RequestSplice,
): RequestSplice {
  if (names.length === 0) return splice;
  const gone = members.filter(({ key }) => names.includes(key));
  const stays = ({ start, end }: Edit) => !gone.some((m) => end > m.start && start < m.valueEnd);
  return { ...splice, edits: splice.edits.filter(stays), remove: [...splice.remove, ...names] };
}

const outside = (edits: readonly Edit[], gone: readonly Edit[]): Edit[] =>
  edits.filter((edit) => !isWithinOne(edit, gone));

/** Larger bodies are not copied. */
const ONE_PIECE_BYTES = 64 * 1024;

export function spliced(
  { bytes, members }: ClientRequest,
  { edits, remove, dropped, extras }: RequestSplice,
): Outgoing {
  const gone = removeMembers(members, remove);
  const all = gone.length === 0 ? edits : [...outside(edits, gone), ...gone];
  const parts = bytes.length <= ONE_PIECE_BYTES ? [editedBytes(bytes, all)] : editedParts(bytes, all);
  return { parts, dropped, extras };
}
