/** Headers by which a client says what it takes, and how gladly: `Accept`, `Accept-Encoding` (RFC 9110, 12.4.2). */

/** Clients send less than a hundred. */
const MAX_CHARS = 1000;
const WEIGHT = "q=";

/**
 * What a header lists, in its order, in small letters, since case does not count. A weight is between 0, which refuses, and 1; one that
 * is no such number counts as 0.
 */
export function weightedItems(header: string): readonly (readonly [item: string, weight: number])[] {
  return header
    .slice(0, MAX_CHARS)
    .toLowerCase()
    .split(",")
    .map((each) => {
      const [item = "", ...params] = each.split(";").map((part) => part.trim());
      return [item, weightOf(params)];
    });
}

function weightOf(params: readonly string[]): number {
  const given = params.find((param) => param.startsWith(WEIGHT))?.slice(WEIGHT.length);
  if (given === undefined) return 1;
  const weight = given === "" ? Number.NaN : Number(given);
  return weight >= 0 && weight <= 1 ? weight : 0;
}
