/**
 * Serves the web console: one page for every address below `/console`, and the bundles that it names, which browsers keep for good. The
 * page may run scripts of this gateway alone, and none that stand in it; it may ask this gateway alone.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onFile } from "../../base/file-errors.ts";
import { html, pageText } from "../../base/html.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import type { Page, PageAnswer, PageRequest } from "../server.ts";
import { readStaticFiles, type StaticFiles } from "../static-files.ts";

export interface Console {
  readonly pages: readonly Page[];
  readonly assets: readonly StaticFiles[];
}

/** Where the bundles are served; `scripts/console.ts` writes this address into the page. */
const PREFIX = "/assets/console/";

/** Charts and previews of pictures are drawn from data of the page. Styles are set by scripts through the CSSOM, which needs no leave. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = ["content-security-policy", POLICY, "cache-control", "no-cache"];

export interface ConsolePorts {
  /** Whether the browser has a live session. */
  readonly isSignedIn: (head: HttpHead) => boolean;
}

/**
 * A browser without a session is sent to the sign-in, which leads back.
 * @param folder of what `scripts/console.ts` made; a gateway that was started without it says so at `/console`
 */
export function openConsole(folder: string, { isSignedIn }: ConsolePorts): Console {
  const page = join(folder, "index.html");
  if (!existsSync(page)) return { pages: pagesOf(() => NOT_BUILT), assets: [] };
  const body = onFile(page, () => readFileSync(page));
  const files = readStaticFiles(PREFIX, join(folder, "assets"));
  const shown = { status: 200, contentType: HTML, body, headers: HEADERS };
  return {
    pages: pagesOf(({ path, head }) => (isSignedIn(head) ? shown : signInFirst(path))),
    assets: [{ ...files, isImmutable: true }],
  };
}

const signInFirst = (path: string): PageAnswer => ({
  status: 303,
  contentType: HTML,
  body: "",
  headers: [
    "location",
    `/auth/login?${new URLSearchParams({ return_to: path })}`,
    "cache-control",
    "no-cache",
  ],
});

const HTML = "text/html; charset=utf-8";

const NOT_BUILT: PageAnswer = {
  status: 503,
  contentType: HTML,
  body: pageText({
    title: "Weir",
    body: html`<main><h1>The console is not bundled yet</h1>
<p>Start the gateway by <code>npm start</code>, or run <code>node scripts/console.ts</code> and start it again.</p></main>`,
  }),
};

const pagesOf = (answer: (request: PageRequest) => PageAnswer): Page[] =>
  ["/console", "/console/*"].map((path) => ({ path, read: async (request) => answer(request) }));
