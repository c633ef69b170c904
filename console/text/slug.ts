/** Slugs, as the API takes them: lower-case letters, digits and inner hyphens, at most 63. Pure. */

const MOST = 63;
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What a name becomes in an address: `Möbius & Söhne` is `mobius-sohne`; empty where nothing of it can be in one. */
export const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MOST)
    .replace(/^-+|-+$/g, "");

/** What is wrong with a slug; undefined: nothing. */
export function slugFault(slug: string): string | undefined {
  if (slug === "") return "Give it a short name.";
  return SLUG.test(slug) ? undefined : "Lower-case letters, digits and hyphens between them, at most 63.";
}
