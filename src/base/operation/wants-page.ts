/** Tells readers from programs: a browser that opens an address asks for HTML first. */
import { weightedItems } from "./weights.ts";

const PAGES = ["text/html", "application/xhtml+xml"];

/**
 * Whether HTML is what a client likes best (RFC 9110, 12.5.1): of what it likes equally, the first counts. A client that takes
 * anything is a program.
 * @param accept the header `Accept`; empty where it is missing
 */
export function wantsPage(accept: string): boolean {
  let best = "";
  let most = 0;
  for (const [type, weight] of weightedItems(accept)) {
    if (weight <= most) continue;
    best = type;
    most = weight;
  }
  return PAGES.includes(best);
}
