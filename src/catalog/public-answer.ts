/**
 * Answers that are the same for everybody: caches may keep them for a minute, and a client that has the answer already is told
 * so without a body (RFC 9110, sections 8.8.3 and 13.1.2).
 */
import { createHash } from "node:crypto";
import type { z } from "zod";
import { FullAnswer, raw } from "../base/operation/answer.ts";
import type { HttpHead } from "../base/operation/http-head.ts";

export interface PublicBody {
  readonly type: string;
  readonly text: string;
  /** Strong: equal bodies have the same, others another. */
  readonly etag: string;
}

/** @param type media type */
export const publicBody = (type: string, text: string): PublicBody => ({
  type,
  text,
  etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`,
});

/** JSON with only the fields of the schema. */
export const publicJson = <S extends z.ZodType>(schema: S, value: z.input<S>): PublicBody =>
  publicBody("application/json", JSON.stringify(schema.parse(value)));

/** What an operation that answers so says of it in the API description. */
export const NOT_MODIFIED = {
  304: "The client has the answer already: its `If-None-Match` names it.",
} as const;

export function publicAnswer(
  { type, text, etag }: PublicBody,
  head: HttpHead,
  headers: Readonly<Record<string, string>> = {},
): FullAnswer<never> {
  const parts = { headers: { ...headers, etag, "cache-control": "public, max-age=60" } };
  const isKnown = names(head.header("if-none-match"), etag);
  return isKnown ? new FullAnswer<never>({ ...parts, status: 304 }, {}) : raw(type, text, parts);
}

/** Whether the header lists the entity tag; weak forms count as the same. */
const names = (header: string, etag: string): boolean =>
  header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
