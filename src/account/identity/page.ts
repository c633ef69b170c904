/**
 * What the pages around a sign-in have in common: the look of the gateway's other pages, a policy that allows what the page itself holds
 * and nothing else, and no frame, so that no other site's page can make the person click. Their addresses are never told as referrers.
 */
import { hash } from "node:crypto";

const sourceOf = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`;

export interface PageNeeds {
  /** The only script that runs. */
  readonly script?: string;
  /** The script sends requests to this origin. */
  readonly connect?: boolean;
  /** A form is sent to this origin. */
  readonly form?: boolean;
}

export const pageHeaders = ({ script, connect, form }: PageNeeds): Readonly<Record<string, string>> => ({
  "content-security-policy": [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${sourceOf(script)}`]),
    "style-src 'self'",
    // The empty icon of a page is data.
    "img-src data:",
    ...(connect ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    `form-action ${form ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
});
