/**
 * Which folders reach each other: those side by side form a house in which one can walk down, and never in a ring.
 */
import type { Finding, Rule } from "./rule.ts";
import type { Source } from "./tree.ts";

export const folderCycles: Rule = {
  name: "no two folders side by side reach each other through imports",
  cure: "move what both need to the folder above, or to one of its own below them; or turn one arrow round with an interface",
  find: (tree) => {
    const arrows = arrowsBetweenFolders(tree.sources.filter(({ path }) => path.startsWith("src/")));
    return [...arrows].flatMap(([from, targets]) =>
      [...targets]
        .filter(([to]) => reaches(arrows, to, from))
        .map(([to, finding]) => ({ ...finding, what: `${finding.what}, and ${to} reaches ${from}` })),
    );
  },
};

/** Folder → the folders beside it that its files import, with the first import of each. Files of the folder above are not in one. */
function arrowsBetweenFolders(sources: readonly Source[]): Map<string, Map<string, Finding>> {
  const arrows = new Map<string, Map<string, Finding>>();
  for (const { path, imports } of sources) {
    for (const { file, line } of imports) {
      const [from, to] = file?.startsWith("src/") ? whereTheyPart(path, file) : [];
      if (from === undefined || to === undefined) continue;
      const targets = arrows.get(from) ?? new Map<string, Finding>();
      if (!targets.has(to)) targets.set(to, { file: path, line, what: `imports ${file}` });
      arrows.set(from, targets);
    }
  }
  return arrows;
}

/** The two sibling folders that paths are in: `src/a/x` and `src/a/y` for `src/a/x/1.ts` and `src/a/y/z/2.ts`. */
function whereTheyPart(one: string, other: string): [string, string] | [] {
  const [a, b] = [one.split("/"), other.split("/")];
  const at = a.findIndex((name, i) => name !== b[i]);
  if (at >= a.length - 1 || at >= b.length - 1) return [];
  return [a.slice(0, at + 1).join("/"), b.slice(0, at + 1).join("/")];
}

function reaches(
  arrows: ReadonlyMap<string, ReadonlyMap<string, Finding>>,
  from: string,
  goal: string,
): boolean {
  const seen = new Set([from]);
  for (const folder of seen) for (const next of arrows.get(folder)?.keys() ?? []) seen.add(next);
  return seen.has(goal);
}
