/**
 * Rules over docs/architecture.md and its pictures: what they show is so, and stays so.
 */
import { readGraph } from "../../../scripts/pictures.ts";
import { WINGS } from "./house.ts";
import { wingOf } from "./imports.ts";
import type { Finding, Rule } from "./rule.ts";
import { readText, type Tree } from "./tree.ts";

const PAGE = "docs/architecture.md";
const PICTURE_OF_WINGS = "docs/pictures/wings.dot";
const PICTURE_OF_CALL = "docs/pictures/call.dot";

/** Wing → the wings that its files import. */
type Imports = ReadonlyMap<string, ReadonlySet<string>>;

const wings: Rule = {
  name: "the picture of the wings has every wing, and the arrows from which all others follow",
  cure: "write into docs/pictures/wings.dot what is missing, take out what is wrong, and run `npm run pictures`",
  find(tree) {
    const { boxes, arrows } = readGraph(readText(tree, PICTURE_OF_WINGS));
    const drawn = arrows.map(({ from, to }) => `${from} -> ${to}`);
    const wanted = WINGS.filter((wing) => wing !== "main.ts");
    return [
      ...differences("the wing", wanted, boxes),
      ...differences("the arrow", shortestArrows(importsOfWings(tree)), drawn),
    ].map((what) => ({ file: PICTURE_OF_WINGS, line: 1, what }));
  },
};

const differences = (what: string, wanted: readonly string[], drawn: readonly string[]): string[] => [
  ...wanted.filter((name) => !drawn.includes(name)).map((name) => `lacks ${what} ${name}`),
  ...drawn.filter((name) => !wanted.includes(name)).map((name) => `has ${what} ${name}, which is not so`),
  ...drawn.filter((name, at) => drawn.indexOf(name) < at).map((name) => `has ${what} ${name} more than once`),
];

function importsOfWings(tree: Tree): Imports {
  const found = new Map(WINGS.map((wing) => [wing, new Set<string>()]));
  for (const { path, imports } of tree.sources) {
    const from = wingOf(path);
    for (const { file = "" } of imports) {
      const to = wingOf(file);
      if (from !== undefined && from !== "main.ts" && to !== undefined && to !== from)
        found.get(from)?.add(to);
    }
  }
  return found;
}

/** Arrows between wings without those that lead where a longer way leads, too. */
function shortestArrows(imports: Imports): string[] {
  const arrows: string[] = [];
  for (const [from, targets] of imports) {
    for (const to of targets) {
      const others = [...targets].filter((other) => other !== to);
      if (!others.some((other) => reached(imports, other).has(to))) arrows.push(`${from} -> ${to}`);
    }
  }
  return arrows;
}

function reached(imports: Imports, from: string): ReadonlySet<string> {
  const seen = new Set(imports.get(from));
  for (const wing of seen) for (const next of imports.get(wing) ?? []) seen.add(next);
  return seen;
}

const call: Rule = {
  name: "a dashed arrow in the picture of a call leads from a file to a folder from which it imports",
  cure: "write into docs/pictures/call.dot what the step asks today, and run `npm run pictures`",
  find: (tree) =>
    readGraph(readText(tree, PICTURE_OF_CALL))
      .arrows.filter(({ isDashed }) => isDashed)
      .flatMap(({ from, to }) => {
        const source = tree.sources.find(({ path }) => path === from);
        if (source?.imports.some(({ file }) => file?.startsWith(`${to}/`)) === true) return [];
        return [{ file: PICTURE_OF_CALL, line: 1, what: `has the arrow ${from} -> ${to}, which is not so` }];
      }),
};

const places: Rule = {
  name: "docs/architecture.md and its pictures name what exists, and no file twice in a walk",
  cure: "name the file by its path of today, at the step of the walk at which it is first met",
  find: (tree) => [
    ...[PICTURE_OF_WINGS, PICTURE_OF_CALL].flatMap((path) =>
      readGraph(readText(tree, path))
        .boxes.filter((name) => name.includes("/") && !exists(tree, name))
        .map((name) => ({ file: path, line: 1, what: `names ${name}` })),
    ),
    ...placesOfPage(tree),
  ],
};

/** Each walk is a section of its own. */
function placesOfPage(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  let named = new Set<string>();
  for (const [at, text] of readText(tree, PAGE).split("\n").entries()) {
    if (text.startsWith("#")) named = new Set();
    for (const [, name = ""] of text.matchAll(/`((?:src|simulator|test|config|scripts)\/[^`\s]*)`/g)) {
      if (!exists(tree, name)) findings.push({ file: PAGE, line: at + 1, what: `names ${name}` });
      else if (named.has(name)) findings.push({ file: PAGE, line: at + 1, what: `names ${name} again` });
      named.add(name);
    }
  }
  return findings;
}

const exists = (tree: Tree, name: string): boolean =>
  tree.paths.some((path) => path === name || path.startsWith(`${name.replace(/\/$/, "")}/`));

export const pictureRules: readonly Rule[] = [wings, call, places];
