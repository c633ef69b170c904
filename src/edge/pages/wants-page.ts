/** Tells readers from programs: a browser that opens an address asks for HTML first. */

/** Browsers send less than a hundred. */
const MAX_CHARS = 1000;
const PAGES = ["text/html", "application/xhtml+xml"];

/**
 * Whether HTML is what a client likes best (RFC 9110, 12.5.1): of what it likes equally, the first counts. A client that takes
 * anything is a program.
 * @param accept the header `Accept`; empty where it is missing
 */
export function wantsPage(accept: string): boolean {
  let best = "";
  let most = 0;
  for (const each of accept.slice(0, MAX_CHARS).toLowerCase().split(",")) {
    const [type = "", ...params] = each.split(";").map((part) => part.trim());
    const weight = weightOf(params);
    if (weight <= most) continue;
    best = type;
    most = weight;
  }
  return PAGES.includes(best);
}

function weightOf(params: readonly string[]): number {
  const given = params.find((param) => param.startsWith("q="));
  if (given === undefined) return 1;
  const weight = Number(given.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
