/** Ids and names as JSON text. They stand in each answer, so they are not looked through anew each time. */
import { latin1Json } from "./json.ts";

/** More names than a catalog has; those beyond are quoted each time. */
const MOST = 10_000;
const quoted = new Map<string, string>();

/** A name of the catalog (a model, a provider, an endpoint, a version of prices) as JSON for latin1 text. */
export function quotedName(name: string): string {
  let json = quoted.get(name);
  if (json === undefined) {
    json = latin1Json(name);
    if (quoted.size < MOST) quoted.set(name, json);
  }
  return json;
}

/** An id of our own as JSON. @param id letters, digits, underscores and hyphens: nothing that JSON escapes */
export const quotedId = (id: string): string => `"${id}"`;
