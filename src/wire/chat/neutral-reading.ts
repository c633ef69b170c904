/** What all readers of parts of a chat request share: its source, the dropped members, cache marks. */

import { under } from "../neutral/fields.ts";
import type { CacheMark } from "../neutral/neutral.ts";
import { isObject, type JsonObject } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";

export interface Reading {
  readonly source: Source;
  /** JSON pointers of members that the neutral contract has no place for. */
  readonly dropped: string[];
}

/** Adds an object's other members to `dropped`, unless they are null, an empty list or an empty string. */
export function dropOthers(reading: Reading, value: JsonObject, at: string, known: readonly string[]): void {
  for (const [key, member] of Object.entries(value)) {
    if (known.includes(key) || isEmpty(member)) continue;
    reading.dropped.push(under(at, key));
  }
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

export const CACHE_KEYS: readonly string[] = ["cache_control", "prompt_cache_breakpoint"];

/**
 * A cache mark: `cache_control` as OpenRouter and LiteLLM take it from Anthropic's format, or OpenAI's
 * `prompt_cache_breakpoint`, whose lifetimes have no equal in other formats.
 */
export function readCache(reading: Reading, value: JsonObject, at: string): CacheMark | undefined {
  const { cache_control: control, prompt_cache_breakpoint: breakpoint } = value;
  if (isObject(control)) {
    const { ttl } = control;
    if (ttl === "5m" || ttl === "1h") return { ttl };
    if (ttl !== undefined && ttl !== null) reading.dropped.push(`${at}/cache_control/ttl`);
    return {};
  }
  if (!isObject(breakpoint)) return undefined;
  if (breakpoint.ttl !== undefined) reading.dropped.push(`${at}/prompt_cache_breakpoint/ttl`);
  return {};
}
