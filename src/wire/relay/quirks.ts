/**
 * Fits a body to one provider: how it departs from its dialect, as the catalog says, and the members that the client meant
 * for this provider alone (`svc.provider_options`). Pure; what cannot be told is named, never silently lost.
 */
import type { BodyQuirks, Dialect, Provider, ProviderQuirks } from "../../base/endpoint.ts";
import type { Written } from "../format.ts";
import { type Edit, type Member, memberOf } from "../json/json.ts";
import { jsonTextOf } from "../json/json-text.ts";
import { isObject } from "../neutral/reader.ts";
import { type JoinedFeatures, joinedOption } from "./option-objects.ts";
import { NO_PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";

export interface FittedBody {
  readonly body: Record<string, unknown>;
  /** JSON pointers into the dialect's body of what the provider would refuse. */
  readonly dropped: readonly string[];
}

/** What becomes of a body that passes as bytes. */
export interface FittingEdits {
  /** They touch no member of `remove`. */
  readonly edits: readonly Edit[];
  /**
   * Members to take out: by the caller, together with its own, because two neighbours taken out separately would leave a
   * comma behind.
   */
  readonly remove: readonly string[];
  readonly dropped: readonly string[];
}

const AS_IT_IS: BodyQuirks = Object.freeze({ rename: {}, unsupported: [], omit: [], set: {} });
const NO_EDITS: FittingEdits = Object.freeze({ edits: [], remove: [], dropped: [] });

/** A translated body with the quirks and the client's options for this provider; `written` itself where there are none. */
export function fitted(
  written: Written,
  options: ProviderOptions,
  provider: Provider,
  dialect: Dialect,
): Written {
  if (!isObject(written.body)) return written;
  const { body, dropped } = applyQuirks(written.body, dialect, provider.quirks);
  if (body === written.body && options === NO_PROVIDER_OPTIONS) return written;
  const features: JoinedFeatures = { sent: new Set(), lost: [] };
  const set = Object.entries(options.set).map((option) => joinedOption(option, body, features));
  const unsent = written.dropped.filter((name) => !features.sent.has(name));
  return {
    body: { ...body, ...Object.fromEntries(set) },
    dropped: [...unsent, ...dropped, ...features.lost, ...options.dropped],
  };
}

/** A body as the provider takes it; `body` itself where it departs in nothing. */
export function applyQuirks(
  body: Record<string, unknown>,
  dialect: Dialect,
  quirks: ProviderQuirks,
): FittedBody {
  const { rename, unsupported, omit, set } = bodyQuirks(dialect, quirks);
  const touched = [...Object.keys(rename), ...unsupported, ...omit].some((name) => Object.hasOwn(body, name));
  if (!touched && Object.keys(set).length === 0) return { body, dropped: [] };
  const dropped: string[] = [];
  // Pairs until the end: clients name members as they like, and assigning to `__proto__` would not make one.
  const fit: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    const renamed = ownName(rename, name);
    const isTwice = renamed !== undefined && Object.hasOwn(body, renamed);
    if (unsupported.includes(name) || isTwice) dropped.push(`/${name}`);
    else if (!omit.includes(name)) fit.push([renamed ?? name, value]);
  }
  return { body: { ...Object.fromEntries(fit), ...set }, dropped };
}

/**
 * The same for a body that passes as bytes: by its members' positions.
 * @param gone members that the caller removes: no edit touches them
 */
export function quirkEdits(
  members: readonly Member[],
  options: ProviderOptions,
  provider: Provider,
  dialect: Dialect,
  gone: readonly string[] = [],
): FittingEdits {
  const quirks = bodyQuirks(dialect, provider.quirks);
  if (quirks === AS_IT_IS && options === NO_PROVIDER_OPTIONS) return NO_EDITS;
  const edits: Edit[] = [];
  const remove: string[] = [];
  const dropped: string[] = [...options.dropped];
  const set: Record<string, unknown> = { ...quirks.set, ...options.set };
  for (const { key, start, keyEnd } of members) {
    if (gone.includes(key)) continue;
    const renamed = ownName(quirks.rename, key);
    const isTwice = renamed !== undefined && memberOf(members, renamed) !== undefined;
    if (quirks.unsupported.includes(key) || isTwice) {
      dropped.push(`/${key}`);
      remove.push(key);
    } else if (quirks.omit.includes(key)) remove.push(key);
    else if (renamed !== undefined) edits.push({ start, end: keyEnd, text: JSON.stringify(renamed) });
  }
  const first = members[0];
  if (first === undefined) return { edits, remove, dropped };
  for (const [name, value] of Object.entries(set)) {
    const isGone = remove.includes(name) || gone.includes(name);
    const member = isGone ? undefined : memberOf(members, latin1Of(name));
    const text = jsonTextOf(value);
    if (member !== undefined) edits.push({ start: member.valueStart, end: member.valueEnd, text });
    // At the very front: there it stands beside no comma that a removal may take.
    else edits.push({ start: first.start, end: first.start, text: `${JSON.stringify(name)}:${text},` });
  }
  return { edits, remove, dropped };
}

const bodyQuirks = (dialect: Dialect, quirks: ProviderQuirks): BodyQuirks =>
  quirks.bodies?.[dialect] ?? AS_IT_IS;

/** Not what an object inherits. */
const ownName = (rename: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(rename, name) ? rename[name] : undefined;

/** As the keys of members are. */
const latin1Of = (name: string): string => Buffer.from(name).toString("latin1");
