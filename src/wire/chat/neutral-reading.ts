/** What all readers of a request's pieces share: its source, what could not be told, and refusals that name the place. */
import { pointerTo } from "../../document/document.ts";
import { fail, type WeirError } from "../../errors.ts";
import type { CacheMark } from "../neutral.ts";
import { isObject, type JsonObject } from "../reader.ts";
import type { Source } from "../source.ts";

export interface Reading {
  readonly source: Source;
  /** JSON pointers of what the neutral contract has no place for. */
  readonly dropped: string[];
}

export const wrong = (at: string, expected: string): WeirError =>
  fail("invalid_value", `${at}: expected ${expected}.`, { param: at });

/** The pointer of a member. */
export const under = (at: string, key: PropertyKey): string => at + pointerTo([key]);

export function objectAt(value: unknown, at: string): JsonObject {
  if (!isObject(value)) throw wrong(at, "an object");
  return value;
}

export function stringAt(value: unknown, at: string): string {
  if (typeof value !== "string") throw wrong(at, "a string");
  return value;
}

export function listAt(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(at, "a list");
  return value;
}

/** Undefined where the client did not say it; null says nothing. */
export function optional<T>(
  value: unknown,
  at: string,
  read: (value: unknown, at: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, at);
}

/** Notes the members of an object that nobody reads. Null, an empty list and an empty string say nothing. */
export function dropOthers(reading: Reading, value: JsonObject, at: string, known: readonly string[]): void {
  for (const [key, member] of Object.entries(value)) {
    if (known.includes(key) || saysNothing(member)) continue;
    reading.dropped.push(under(at, key));
  }
}

const saysNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

export const CACHE_KEYS: readonly string[] = ["cache_control", "prompt_cache_breakpoint"];

/**
 * A cache mark: `cache_control` as OpenRouter and LiteLLM take it from Anthropic's format, or OpenAI's
 * `prompt_cache_breakpoint`, whose times of stay have no equal elsewhere.
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
