/**
 * The address of the page as signals: `/console/{org}/{page}/…?filters`. A filter in the address is a link that can be sent, and the
 * back button undoes it.
 */
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";

export const ROOT = "/console";

const path = signal(location.pathname);
const search = signal(location.search);

/** What follows `/console`, decoded: the org, the page, and what the page has of its own. */
export const segments = computed<readonly string[]>(() =>
  path.value
    .slice(ROOT.length)
    .split("/")
    .filter((segment) => segment !== "")
    .map(decoded),
);
export const query = computed(() => new URLSearchParams(search.value));

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function follow(): void {
  batch(() => {
    path.value = location.pathname;
    search.value = location.search;
  });
}
addEventListener("popstate", follow);

/** @param how `replace`: the back button leads past this address */
export function go(to: string, how: "push" | "replace" = "push"): void {
  if (to === location.pathname + location.search) return;
  if (how === "push") history.pushState(null, "", to);
  else history.replaceState(null, "", to);
  const isOtherPage = location.pathname !== path.value;
  follow();
  if (isOtherPage) scrollTo(0, 0);
}

/** The address of a page of an org. @param filters those that are undefined or empty are left out */
export function pageAddress(
  org: string,
  page: readonly string[],
  filters: Readonly<Record<string, string | undefined>> = {},
): string {
  const at = [ROOT, encodeURIComponent(org), ...page.map(encodeURIComponent)].join("/");
  const set = Object.entries(filters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
  );
  return set.length === 0 ? at : `${at}?${new URLSearchParams(set)}`;
}

/**
 * Changes filters in the address, and leaves the others as they are. Undefined or empty takes one out.
 * @param how as `go`
 */
export function setFilters(
  changes: Readonly<Record<string, string | undefined>>,
  how: "push" | "replace" = "replace",
): void {
  const next = new URLSearchParams(search.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  go(next.size === 0 ? path.value : `${path.value}?${next}`, how);
}

/** A filter of the address; empty where it is not set. */
export const filter = (name: string): ReadonlySignal<string> => computed(() => query.value.get(name) ?? "");
