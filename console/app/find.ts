/** What the palette finds: pages by their words, a request by its id, keys and models by their names. */
import { call } from "../api/call.ts";
import { openPages } from "./open-pages.ts";
import { pageAddress } from "./router.ts";
import { mayCall, orgSlug } from "./session.ts";

export interface Found {
  readonly title: string;
  /** What it is: `page`, `key`, … */
  readonly kind: string;
  readonly address: string;
}

/** As `REQUEST_ID` of the API: Crockford's base 32. Ids of compatible formats have a prefix. */
const REQUEST = /^(?:chatcmpl-|cmpl-|msg_|resp_)?([0-9A-HJKMNP-TV-Z]{26})$/;
const MOST = 8;
/** Keys are looked for on so many pages, of 10,000 each, until one has any. */
const MOST_PAGES = 100;
/** Characters of a search for keys. */
const MOST_CHARACTERS = 100;

/** Shows what is known at once, then again with what the API found. */
export async function find(
  text: string,
  signal: AbortSignal,
  show: (rows: readonly Found[]) => void,
): Promise<void> {
  const wanted = text.trim();
  const near = [...pagesOf(wanted), ...requestOf(wanted)];
  show(near);
  if (wanted.length < 2) return;
  const keys = keysOf(wanted, signal);
  const models = await modelsOf(wanted, signal);
  show([...near, ...models]);
  show([...near, ...models, ...(await keys)]);
}

const pagesOf = (wanted: string): Found[] =>
  openPages.value
    .filter(({ title, words }) => has(`${title} ${words}`, wanted))
    .map(({ path, title }) => ({
      title,
      kind: "page",
      address: pageAddress(orgSlug.value, [path]),
    }));

const has = (text: string, wanted: string): boolean => text.toLowerCase().includes(wanted.toLowerCase());

function requestOf(wanted: string): Found[] {
  const [, id] = REQUEST.exec(wanted) ?? [];
  if (id === undefined || !mayCall("listRequests")) return [];
  return [{ title: id, kind: "request", address: pageAddress(orgSlug.value, ["requests", id]) }];
}

async function keysOf(wanted: string, signal: AbortSignal): Promise<Found[]> {
  if (!mayCall("listKeys")) return [];
  const query = { q: wanted.slice(0, MOST_CHARACTERS), limit: MOST };
  const ask = (cursor: string) =>
    call("listKeys", { query: { ...query, cursor } }, signal).catch(() => undefined);
  let page = await ask("");
  // A search looks at a bounded number of keys for each page.
  for (let pages = 1; pages < MOST_PAGES && page?.data.length === 0 && page.next_cursor !== ""; pages++)
    page = await ask(page.next_cursor);
  return (page?.data ?? []).map(({ id, name }) => ({
    title: name,
    kind: "key",
    address: pageAddress(orgSlug.value, ["keys", id]),
  }));
}

async function modelsOf(wanted: string, signal: AbortSignal): Promise<Found[]> {
  if (!mayCall("listModels")) return [];
  const list = await call("listModels", {}, signal).catch(() => undefined);
  return (list?.data ?? [])
    .filter(({ id }) => has(id, wanted))
    .slice(0, MOST)
    .map(({ id }) => ({ title: id, kind: "model", address: pageAddress(orgSlug.value, ["models", id]) }));
}
