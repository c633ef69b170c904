/**
 * Which test files a mutant may be caught by: those that run the code in their own process, where coverage is counted and a fault is
 * put in. Tests of other processes, several cells behind a proxy, ClickHouse, browsers, killed processes, memory and time are not
 * run; nor are those of other rooms, which call a model only to have a call to show.
 */
import type { Source, Tree } from "../../test/unit/tidy/tree.ts";

const UNIT =
  /^test\/(?:unit|cells)\/(?:exchange|credits|limits|wire|fuzz|routing|policies|account|billing|cells|upstream)\//;
const GATEWAY_FOLDERS =
  /^test\/gateway\/(?:chat|conformance|edge|exchange|extras|faults|inquire|kept|money|policies|routing|sdk|settle|shapes|upstream)\//;
/** Directly in the lane. */
const GATEWAY_FILES =
  /^test\/gateway\/(?:built-in|byok|context|disconnect|hedge|idempotency|keep-alive|key-report|limits|multimodal|other-provider|plans|privacy|request-limits|responses\.history|shadow|tail)[\w.]*$/;
/** Of time or memory. */
const TIMED = /\.(?:speed|memory)\.test\.ts$/;
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
  if (GATEWAY_FOLDERS.test(path) || GATEWAY_FILES.test(path)) return !TIMED.test(path);
  return UNIT.test(path) && !TIMED.test(path) && !DEAR.test(path);
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
