/**
 * Which test files a mutant may be caught by: those that run the code in their own process, where coverage is counted and a fault is
 * put in. Tests of other processes, browsers, killed processes, memory and time are not run; nor are those of other rooms, which
 * call a model only to have a call to show.
 */
import type { Source, Tree } from "../../test/unit/tidy/tree.ts";

const LANES = /^test\/(?:unit|gateway|engine|cells|process\/inference)\//;
const ROOMS = new Set([
  "inference",
  "credits",
  "wire",
  "fuzz",
  "routing",
  "account",
  "billing",
  "cluster",
  "edge",
  "chat",
  "conformance",
  "extras",
  "faults",
  "inquire",
  "kept",
  "money",
  "sdk",
  "settle",
  "shapes",
]);
/** Each takes longer than a hundred others: many rounds at random, or the whole life of several processes. */
const DEAR =
  /\/(?:limits\.windows|limits\.random|acts|faults|leaving|replicas|failover|serial|cuts|absence\.jobs|clock|once[\w.]*|auto-topup\.property)\.test\.ts$/;

/** The test files that may run, and that load a source of these rooms, in the order of their names. */
export function testFiles(tree: Tree, rooms: readonly string[]): string[] {
  const sources = new Map(tree.sources.map((source) => [source.path, source]));
  const isMutated = (path: string): boolean => rooms.some((room) => path.startsWith(`src/${room}/`));
  return tree.sources
    .filter(({ path }) => path.endsWith(".test.ts") && isInProcess(path))
    .filter((source) => loadedBy(source, sources).some(isMutated))
    .map(({ path }) => path)
    .sort();
}

function isInProcess(path: string): boolean {
  const [, , room = ""] = path.split("/");
  // A test with a whole gateway is dear anyway: none of them is left out for it.
  return LANES.test(path) && ROOMS.has(room) && (path.startsWith("test/gateway/") || !DEAR.test(path));
}

/** The paths of all that is loaded with a source, itself included. */
function loadedBy(source: Source, sources: ReadonlyMap<string, Source>): string[] {
  const loaded = new Set<string>();
  const visit = ({ path, imports }: Source): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { file, typeOnly } of imports) {
      const next = typeOnly || file === undefined ? undefined : sources.get(file);
      if (next !== undefined) visit(next);
    }
  };
  visit(source);
  return [...loaded];
}
