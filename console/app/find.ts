/** What the palette finds: pages by their words, a request by its id, keys and models by their names. */
import { call } from "../api/call.ts";
import { PAGES } from "./pages.ts";
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
  const [keys, models] = await Promise.all([keysOf(wanted, signal), modelsOf(wanted, signal)]);
  show([...near, ...models, ...keys]);
}

const pagesOf = (wanted: string): Found[] =>
  PAGES.filter(({ needs, title, words }) => needs.every(mayCall) && has(`${title} ${words}`, wanted)).map(
    ({ path, title }) => ({ title, kind: "page", address: pageAddress(orgSlug.value, [path]) }),
  );

const has = (text: string, wanted: string): boolean => text.toLowerCase().includes(wanted.toLowerCase());

function requestOf(wanted: string): Found[] {
  const [, id] = REQUEST.exec(wanted) ?? [];
  if (id === undefined || !mayCall("listRequests")) return [];
  return [{ title: id, kind: "request", address: pageAddress(orgSlug.value, ["requests", id]) }];
}

async function keysOf(wanted: string, signal: AbortSignal): Promise<Found[]> {
  if (!mayCall("listKeys")) return [];
  const query = { q: wanted.slice(0, MOST_CHARACTERS), limit: MOST };
  const page = await call("listKeys", { query }, signal).catch(() => undefined);
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
