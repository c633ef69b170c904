/**
 * What a tidy rule is: it looks at the whole repository and names what breaks it, with the cure.
 */
import type * as ast from "typescript/unstable/ast";
import { lineOf, readText, type Source, type Tree } from "./tree.ts";

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface Rule {
  readonly name: string;
  /** What to do about a finding. */
  readonly cure: string;
  find(tree: Tree): Finding[];
}

/** A rule that looks at one source at a time and names the nodes it dislikes. */
export function nodeRule(
  name: string,
  cure: string,
  applies: (source: Source) => boolean,
  complaint: (node: ast.Node, source: Source) => string | undefined,
): Rule {
  const find = (source: Source): Finding[] =>
    source.nodes.flatMap((node) => {
      const what = complaint(node, source);
      return what === undefined ? [] : [{ file: source.path, line: lineOf(source, node), what }];
    });
  return { name, cure, find: (tree) => tree.sources.filter(applies).flatMap(find) };
}

/** A rule that looks for words in every file that people write. */
export function wordRule(
  name: string,
  cure: string,
  applies: (path: string) => boolean,
  words: RegExp,
): Rule {
  const find = (tree: Tree, path: string): Finding[] =>
    readText(tree, path)
      .split("\n")
      .flatMap((text, i) => {
        const word = words.exec(text)?.[0];
        return word === undefined ? [] : [{ file: path, line: i + 1, what: `says ${word}` }];
      });
  return { name, cure, find: (tree) => tree.paths.filter(applies).flatMap((path) => find(tree, path)) };
}
