/**
 * Reads the fields of a request body, each by its JSON pointer. All but `optional` and `under` throw a WeirError 400
 * `invalid_value` that names the field and what was expected there.
 */
import { pointerTo } from "../../base/document/document.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import type { JsonText } from "../json/json-text.ts";
import { isObject, type JsonObject } from "./reader.ts";
import type { Source } from "./source.ts";

/** A 400 that names the field. @param at its JSON pointer @param expected as in "a string" */
export const wrong = (at: string, expected: string): WeirError =>
  fail("invalid_value", `${at}: expected ${expected}.`, { param: at });

/** The JSON pointer of a member of the value at `at`. */
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

export function numberAt(value: unknown, at: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(at, "a number");
  return value;
}

export function booleanAt(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw wrong(at, "true or false");
  return value;
}

/** Undefined where the request does not have the field, or has null in it. */
export function optional<T>(
  value: unknown,
  at: string,
  read: (value: unknown, at: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, at);
}

/** A JSON schema, carried as its text; undefined where the request does not have the field, or has null in it. */
export function schemaAt(source: Source, value: unknown, at: string): JsonText | undefined {
  if (value === undefined || value === null) return undefined;
  const schema = source.json(value);
  if (schema?.isObject !== true) throw wrong(at, "an object");
  return schema;
}
