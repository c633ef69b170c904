/**
 * Which calls are an app's: those of its own org that carry its slug, its name, or the host of its address. No call counts for
 * two apps, and nobody can count for the app of another org.
 */
import type { AppRow } from "./app.ts";

/**
 * Name that calls carry → slug of the app that they count for. Where two apps of the org want the same name, that whose slug it
 * is has it, then that whose name it is, then that whose host it is; of two equals the older. Apps that are not public take part, so
 * that no call moves to another app when one is published.
 * @param apps all of one org
 */
export function claimsOf(apps: readonly AppRow[]): ReadonlyMap<string, string> {
  const oldestFirst = apps.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.slug < b.slug ? -1 : 1));
  const claims = new Map<string, string>();
  for (const wanted of [({ slug }: AppRow) => slug, ({ name }: AppRow) => name, hostText]) {
    for (const app of oldestFirst) {
      const text = wanted(app);
      if (text !== "" && !claims.has(text)) claims.set(text, app.slug);
    }
  }
  return claims;
}

const hostText = ({ url }: AppRow): string => (url === "" ? "" : (URL.parse(url)?.host ?? ""));
