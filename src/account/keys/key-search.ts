/**
 * Which keys of an org a list shows: by a text, a project and a kind. Names are in no index: a walk looks at one key after the other, a
 * bounded number for each request. An id tells when its key was made, so the beginning of one is found without a walk.
 */
import { madeAtMs } from "../../base/ids.ts";
import type { KeyFilter } from "../../base/operation/key-filter.ts";
import type { KeyRow } from "../key.ts";
import { isOfPlayground, type KeyPosition } from "../key-tables.ts";
import type { AccountTables } from "../tables.ts";

const PREFIX = "key_";
const ID_PART = /^key_[0-9A-HJKMNP-TV-Z]{0,26}$/i;
/** Length of a whole id. */
const ID_LENGTH = PREFIX.length + 26;
/** Characters of an id that tell its time. */
const TIME_CHARACTERS = 10;
/** An id may be so much later than its key: after a clock was set back, ids go on from the time before. */
const LATER_MS = 1000;

/** The beginning of an id that a text is, as ids are written. */
function idPartOf(q: string | undefined): string | undefined {
  return q !== undefined && ID_PART.test(q) ? PREFIX + q.slice(PREFIX.length).toUpperCase() : undefined;
}

/** When keys were made whose ids begin so; milliseconds, both included. */
function madeWithin(idPart: string): { readonly fromMs: number; readonly toMs: number } {
  const time = idPart.slice(PREFIX.length, PREFIX.length + TIME_CHARACTERS);
  const fromMs = madeAtMs(time.padEnd(TIME_CHARACTERS, "0")) - LATER_MS - 1;
  return { fromMs, toMs: madeAtMs(time.padEnd(TIME_CHARACTERS, "Z")) + 1 };
}

/** As a list shows the end of a secret, or its four characters alone. */
const HINT = /^(?:(?:svc-(?:live|test)-)?(?:…|\.\.\.))?([0-9A-Za-z]{4})$/;

/** Whether a key is among those that a list was asked for. */
export function keyMatcher({ q, project_id, kind }: KeyFilter): (row: KeyRow) => boolean {
  const isOfText = textMatcher(q);
  return (row) =>
    (project_id === undefined || row.projectId === project_id) &&
    (kind === "any" || isOfPlayground(row) === (kind === "playground")) &&
    isOfText(row);
}

function textMatcher(q: string | undefined): (row: KeyRow) => boolean {
  if (q === undefined) return () => true;
  const idPart = idPartOf(q);
  if (idPart !== undefined) return ({ id }) => id.startsWith(idPart);
  const wanted = foldedOf(q);
  const end = HINT.exec(q)?.[1];
  return ({ name, hint }) =>
    foldedOf(name).includes(wanted) || (end !== undefined && hint.slice(-end.length) === end);
}

const foldedOf = (text: string): string => text.normalize("NFC").toLowerCase();

/** Keys of an org that a list looks at, newest first, strictly after a position. Read lazily. */
export function* keysToLookAt(
  accounts: Pick<AccountTables, "key" | "keysByAge">,
  orgId: string,
  { q, kind }: KeyFilter,
  after?: KeyPosition,
): Generator<KeyRow> {
  const idPart = idPartOf(q);
  if (idPart === undefined) {
    yield* accounts.keysByAge(orgId, after, kind);
    return;
  }
  if (idPart.length === ID_LENGTH) {
    const row = after === undefined ? accounts.key(idPart) : undefined;
    if (row?.orgId === orgId) yield row;
    return;
  }
  const { fromMs, toMs } = madeWithin(idPart);
  for (const row of accounts.keysByAge(orgId, after ?? [toMs, "~"], kind)) {
    if (row.createdAtMs < fromMs) return;
    yield row;
  }
}

/** The same of keys that may work, by their ids. */
export function* listedKeysToLookAt(
  accounts: Pick<AccountTables, "eachListedKey">,
  orgId: string,
  { q }: Pick<KeyFilter, "q">,
  after?: string,
): Generator<KeyRow> {
  const idPart = idPartOf(q) ?? "";
  for (const row of accounts.eachListedKey(orgId, after ?? `${idPart}~`)) {
    if (row.id < idPart) return;
    yield row;
  }
}
