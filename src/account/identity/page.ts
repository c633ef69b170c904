/**
 * What the pages around a sign-in have in common: one style, a policy that allows what the page itself holds and nothing else, and
 * no frame, so that no other site's page can make the person click. Their addresses are never told as referrers.
 */
import { hash } from "node:crypto";
import { Html, html } from "../../base/html.ts";

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:32rem;padding:0 1rem;color:#1b1f24}h1{font-size:1.6rem;margin:0 0 .5rem}p{margin:.4rem 0}small{color:#57606a}button{font:inherit;padding:.4rem 1rem;margin:.6rem .6rem .6rem 0}bdi{font-weight:600;overflow-wrap:anywhere}output{display:block}";

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
    `style-src ${sourceOf(STYLE)}`,
    ...(connect ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    `form-action ${form ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
});

export const pageOf = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${new Html(STYLE)}</style></head>
<body>${body}</body></html>`.text;
