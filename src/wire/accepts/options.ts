/** Options whose values an upstream would refuse: ids of users and caches become a hash, stop sequences are left out. */
import type { OrgKey } from "../format.ts";
import type { FieldValue, NeutralOptions } from "../neutral/neutral.ts";
import { set, type Writable } from "../neutral/options.ts";
import type { Source } from "../neutral/source.ts";
import type { Accepted, StopBound, UserBound } from "./bounds.ts";
import { hashOf } from "./stand-ins.ts";

type Drop = (at: string) => void;

/** Characters: 190 bits. No part of the id is readable in it, because the id may say who the user is. */
const ID_LENGTH = 32;

/** The same object where the upstream takes all of them. */
export function fittedOptions(
  options: NeutralOptions,
  { user, cacheKey, stop }: Accepted,
  orgKey: OrgKey,
  source: Source,
  drop: Drop,
): NeutralOptions {
  const changed: Writable<NeutralOptions> = {};
  if (user !== undefined && options.user !== undefined) {
    set(changed, "user", hashed(options.user, "user", user, orgKey, source));
  }
  if (cacheKey !== undefined && options.cacheKey !== undefined) {
    set(changed, "cacheKey", hashed(options.cacheKey, "cache", { most: cacheKey }, orgKey, source));
  }
  const sequences = stop && options.stop && stopsOf(options.stop, stop, source, drop);
  if (sequences?.value.length === 0) {
    const { stop: _, ...others } = options;
    return { ...others, ...changed };
  }
  set(changed, "stop", sequences);
  return Object.keys(changed).length === 0 ? options : { ...options, ...changed };
}

/** Undefined where the upstream takes the id. */
function hashed(
  { value, at }: FieldValue<string>,
  kind: string,
  { most, refused }: UserBound,
  orgKey: OrgKey,
  source: Source,
): FieldValue<string> | undefined {
  const whole = source.whole(value);
  if (whole.length <= most && refused?.test(whole) !== true) return undefined;
  return { value: hashOf(orgKey, kind, whole, ID_LENGTH), at };
}

/** Those that are taken, in their order; undefined where all are. An empty one, which would end nothing, no upstream takes. */
function stopsOf(
  { value, at }: FieldValue<readonly string[]>,
  { most = Number.POSITIVE_INFINITY, refusesBlank = false }: StopBound,
  source: Source,
  drop: Drop,
): FieldValue<readonly string[]> | undefined {
  const said = value.filter((text) => (refusesBlank ? !source.isBlank(text) : text !== ""));
  if (said.length === value.length && said.length <= most) return undefined;
  drop(at);
  return { value: said.slice(0, most), at };
}
