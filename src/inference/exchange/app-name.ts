/**
 * The name of an app from the headers by which OpenRouter's clients give it. They come from outside, and the name is kept in
 * records and shown to the org: it is bounded and holds no control characters.
 */

/** As long as `svc.metadata.app` may be. */
const MAX_CHARACTERS = 128;
/** A longer address is not read. */
const MAX_URL = 2048;

/**
 * The host of the address (with its port, if it is not the usual one), else the title; empty where neither names an app.
 * @param url value of `HTTP-Referer` @param title value of `X-Title`, as the socket gives it
 */
export function appOfHeaders(url: string, title: string): string {
  return hostOf(url) || titleOf(title);
}

function hostOf(url: string): string {
  if (url === "" || url.length > MAX_URL) return "";
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return "";
  return parsed.host.length > MAX_CHARACTERS ? "" : parsed.host;
}

const titleOf = (title: string): string =>
  title
    .slice(0, 4 * MAX_CHARACTERS)
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, MAX_CHARACTERS)
    .toWellFormed();
