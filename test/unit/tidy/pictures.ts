/**
 * Rules over the texts and pictures that show the house, docs/architecture.md and the READMEs of rooms: what they show is so, and stays so.
 */
import { dirname, join } from "node:path";
import { readGraph } from "../../../scripts/pictures.ts";
import { WINGS } from "./house.ts";
import { wingOf } from "./imports.ts";
import type { Finding, Rule } from "./rule.ts";
import { readText, type Tree } from "./tree.ts";

const PAGE = "docs/architecture.md";
const PICTURE_OF_WINGS = "docs/pictures/wings.dot";
const PICTURE_OF_CALL = "docs/pictures/call.dot";

/** Wing → the wings that its files import → how often. */
type Imports = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** An arrow of so many imports carries part of the design, and is drawn although a longer way leads there, too. */
const THICK = 15;
/** Every wing uses the one, and the other starts them all: their arrows say nothing more. */
const KNOWN = ["base", "host"];

const wings: Rule = {
  name: "the picture of the wings has every wing, each arrow of 15 imports and more, and dashed those without which no way would lead there",
  cure: "write into docs/pictures/wings.dot what is missing, take out what is wrong, and run `npm run pictures`",
  find(tree) {
    const { boxes, arrows } = readGraph(readText(tree, PICTURE_OF_WINGS));
    const drawn = arrows.map(({ from, to, isDashed }) => arrowText(from, to, isDashed));
    const wanted = WINGS.filter((wing) => wing !== "main.ts");
    return [
      ...differences("the wing", wanted, boxes),
      ...differences("the arrow", arrowsToDraw(importsOfWings(tree)), drawn),
    ].map((what) => ({ file: PICTURE_OF_WINGS, line: 1, what }));
  },
};

const differences = (what: string, wanted: readonly string[], drawn: readonly string[]): string[] => [
  ...wanted.filter((name) => !drawn.includes(name)).map((name) => `lacks ${what} ${name}`),
  ...drawn.filter((name) => !wanted.includes(name)).map((name) => `has ${what} ${name}, which is not so`),
  ...drawn.filter((name, at) => drawn.indexOf(name) < at).map((name) => `has ${what} ${name} more than once`),
];

const arrowText = (from: string, to: string, isDashed: boolean): string =>
  `${from} -> ${to}${isDashed ? " (dashed)" : ""}`;

function importsOfWings(tree: Tree): Imports {
  const found = new Map(WINGS.map((wing) => [wing, new Map<string, number>()]));
  for (const { path, imports } of tree.sources) {
    const from = wingOf(path);
    for (const { file = "" } of imports) {
      const to = wingOf(file);
      if (from === undefined || from === "main.ts" || to === undefined || to === from) continue;
      const counts = found.get(from);
      counts?.set(to, (counts.get(to) ?? 0) + 1);
    }
  }
  return found;
}

function arrowsToDraw(imports: Imports): string[] {
  const arrows: string[] = [];
  for (const [from, counts] of imports) {
    for (const [to, count] of counts) {
      const isKnown = KNOWN.includes(from) || KNOWN.includes(to);
      if (count >= THICK && !isKnown) arrows.push(arrowText(from, to, false));
      else if (!leadsElsewhere(imports, from, to)) arrows.push(arrowText(from, to, !isKnown));
    }
  }
  return arrows;
}

/** Whether a longer way leads from a wing to another one that it imports. */
const leadsElsewhere = (imports: Imports, from: string, to: string): boolean =>
  [...(imports.get(from)?.keys() ?? [])].some((other) => other !== to && reached(imports, other).has(to));

function reached(imports: Imports, from: string): ReadonlySet<string> {
  const seen = new Set(imports.get(from)?.keys());
  for (const wing of seen) for (const next of imports.get(wing)?.keys() ?? []) seen.add(next);
  return seen;
}

const call: Rule = {
  name: "a dashed arrow in the picture of a call leads from a file or folder to a folder from which it imports",
  cure: "write into docs/pictures/call.dot what the step asks today, and run `npm run pictures`",
  find: (tree) =>
    readGraph(readText(tree, PICTURE_OF_CALL))
      .arrows.filter(({ isDashed }) => isDashed)
      .flatMap(({ from, to }) => {
        const sources = tree.sources.filter(({ path }) => path === from || path.startsWith(`${from}/`));
        if (sources.some(({ imports }) => imports.some(({ file }) => file?.startsWith(`${to}/`)))) return [];
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

/** Simple names of other things, such as a setting's file, have no folder of sources. */
const NAME_OF_SOURCE = /`([\w./-]+\.(?:ts|lua|sql))`/g;

const readmes: Rule = {
  name: "a README of src names files that exist, by their path from its folder or from the root",
  cure: "write the path of today: the README's reader looks for the file",
  find: (tree) =>
    tree.paths
      .filter((path) => /^src\/.*README\.md$/.test(path))
      .flatMap((file) =>
        readText(tree, file)
          .split("\n")
          .flatMap((text, at) =>
            [...text.matchAll(NAME_OF_SOURCE)]
              .filter(([, name = ""]) => !exists(tree, name) && !exists(tree, join(dirname(file), name)))
              .map(([, name]) => ({ file, line: at + 1, what: `names ${name}` })),
          ),
      ),
};

export const pictureRules: readonly Rule[] = [wings, call, places, readmes];
