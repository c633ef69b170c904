/**
 * Which members a PATCH looks at. Identity providers add and remove a few members of large groups: those are patched without
 * reading the others. Whatever else a PATCH does with members needs all of them.
 */

import { isObject } from "../values.ts";
import type { PatchOperation } from "./patch-body.ts";

/** `members[value eq "…"]`, with or without the URN of the schema. */
const ONE_MEMBER = /^(?:urn:[\w:.]{1,100}:)?members\[\s*value\s+eq\s+"([^"\\]{1,100})"\s*\]$/i;
const MEMBERS = /^(?:urn:[\w:.]{1,100}:)?members$/i;

/** Ids of the users that the operations name; undefined if they may look at any other. */
export function namedMembers(operations: readonly PatchOperation[]): readonly string[] | undefined {
  const named = new Set<string>();
  for (const operation of operations) {
    const ids = namedBy(operation);
    if (ids === undefined) return undefined;
    for (const id of ids) named.add(id);
  }
  return [...named];
}

function namedBy({ op, path, value }: PatchOperation): readonly string[] | undefined {
  if (path === undefined)
    return op === "add" || !mentionsMembers(value) ? idsIn(membersOf(value)) : undefined;
  if (!/members/i.test(path)) return [];
  const one = ONE_MEMBER.exec(path)?.[1];
  if (one !== undefined) return op === "remove" ? [one] : undefined;
  if (!MEMBERS.test(path)) return undefined;
  // Without a value, all are removed.
  return op === "add" || (op === "remove" && value !== undefined && value !== null)
    ? idsIn(value)
    : undefined;
}

const mentionsMembers = (value: unknown): boolean =>
  !isObject(value) || Object.keys(value).some((name) => /members/i.test(name));

/** Values of all attributes that could be members. */
const membersOf = (value: unknown): readonly unknown[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, part]) => (/members/i.test(name) ? [part].flat() : []))
    : [];

/** Also those of values in another shape than `{value}`: one too many does no harm. */
function idsIn(value: unknown): readonly string[] {
  return [value].flat().flatMap((item) => {
    if (typeof item === "string") return [item];
    if (!isObject(item)) return [];
    return Object.values(item).filter((part) => typeof part === "string");
  });
}
