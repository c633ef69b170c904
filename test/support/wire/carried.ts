/** JSON that the gateway carries as text, written from values and read as values, so that tests can say it as they say the rest. */
import { JsonText, jsonTextOf, type Placed } from "../../../src/wire/json/json-text.ts";

export const carried = (value: unknown): JsonText => JsonText.of(value);

/** A body, or a part of one, as its reader would parse it. */
export const parsedBody = <T>(body: T): T => JSON.parse(jsonTextOf(body)) as T;

/** A value in which JSON that is carried stands as values. */
export function withValues(value: unknown): unknown {
  if (value instanceof JsonText) return value.value;
  if (Array.isArray(value)) return value.map(withValues);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withValues(member)]));
}

/** A type in which JSON that is carried is any value: what an SDK's type of a body wants there. */
export type Said<T> = T extends Placed
  ? { [key: string]: unknown; type: "object" }
  : T extends readonly (infer Item)[]
    ? Said<Item>[]
    : T extends object
      ? { [Key in keyof T]: Said<T[Key]> }
      : T;
