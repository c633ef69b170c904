/**
 * Slugs: short names of orgs and projects in addresses. An org's slug stands where its id may stand (`/v1/orgs/{org}`),
 * so no slug may look like an id: ids contain an underscore, which slugs never do.
 */
import { z } from "zod";

/** 1 to 63 characters, as in a label of a host name (RFC 1123, section 2.1). */
const SLUG = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export const slugField = z.string().regex(SLUG, "lower-case letters, digits and inner hyphens, at most 63");

/** Words that have, or may get, a meaning of their own in an address of the service. */
const RESERVED: ReadonlySet<string> = new Set([
  "admin",
  "api",
  "assets",
  "auth",
  "billing",
  "console",
  "docs",
  "healthz",
  "help",
  "hooks",
  "internal",
  "localhost",
  "login",
  "logout",
  "me",
  "metrics",
  "new",
  "null",
  "openapi",
  "operator",
  "orgs",
  "readyz",
  "scim",
  "settings",
  "static",
  "status",
  "support",
  "svc",
  "undefined",
  "v1",
  "webhooks",
  "www",
]);

/** The slug of an org: unlike a project's, it must not be a reserved word. */
export const orgSlugField = slugField.refine((slug) => !RESERVED.has(slug), {
  error: "this word is reserved; choose another slug",
});
