/**
 * Names by which endpoints price what providers bill beside tokens at the standard price. The table of `wire/extras` says which
 * members of a body ask for each; a price under another name would never be charged, so the catalog refuses it.
 */

/** Tiers by what they change. Prices of several at once are listed in this order: `fast+us`. */
export const TIER_NAMES = {
  /** How soon an answer begins. */
  tier: ["priority", "flex", "scale", "ultrafast", "performance"],
  /** How fast it is written. */
  speed: ["fast"],
  /** Where it is computed. */
  geo: ["us"],
  latency: ["optimized"],
} as const;

/** Tools that a provider runs, and charges by the use. */
export const SERVER_TOOL_NAMES: readonly string[] = [
  "web_search",
  "web_search_preview",
  "web_search_options",
  "web_fetch",
  "live_search",
  "x_search",
  "browser_search",
  "google_search",
  "google_maps",
  "enterprise_web_search",
  "url_context",
  "code_execution",
  "code_interpreter",
  "shell",
  "file_search",
  "collections_search",
  "image_generation",
  "mcp",
  "advisor",
  "system_tool",
];

const ORDER: ReadonlyMap<string, number> = new Map(
  Object.values(TIER_NAMES).flatMap((names, place) => names.map((name) => [name, place] as const)),
);

/** All names of single tiers. */
export const SINGLE_TIERS: readonly string[] = [...ORDER.keys()];

/** Why a tier's name is none; undefined if it is one. */
export function tierNameFault(name: string): string | undefined {
  const places = name.split("+").map((part) => ORDER.get(part));
  if (places.includes(undefined)) return `is no tier; tiers are ${SINGLE_TIERS.join(", ")}`;
  const isInOrder = places.every((place, at) => at === 0 || (place ?? 0) > (places[at - 1] ?? 0));
  return isInOrder ? undefined : "write tiers that come together in this order: priority+fast+us";
}
