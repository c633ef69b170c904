/**
 * Rules over how long files and functions are, and how much a folder holds.
 */
import * as ast from "typescript/unstable/ast";
import { nodeRule, type Rule } from "./rule.ts";
import { inConsole, inSrc, lineAt, lineOf, readText, type Source } from "./tree.ts";

const FILE_LINES = 400;
const FUNCTION_LINES = 70;
const DECLARING_LINES = 140;
const FOLDER_FILES = 25;
const README_LINES = 40;

/** Folders that may hold more. */
const WHOLE = new Set([
  // Every format and dialect has the same slots, each a file of its folder.
  "src/wire/chat",
  "src/wire/messages",
  "src/wire/responses",
]);

const linesIn = (text: string): number => text.trimEnd().split("\n").length;

const functionLengths = nodeRule(
  `functions to ${FUNCTION_LINES} lines, those that only declare to ${DECLARING_LINES}`,
  "give a part of it a name",
  (source) => inSrc(source) || inConsole(source),
  (node, source) => {
    if (!ast.isFunctionLikeDeclaration(node)) return undefined;
    const lines = lineAt(source, node.getEnd()) - lineOf(source, node) + 1;
    if (lines <= FUNCTION_LINES) return undefined;
    const most = onlyDeclares(node) ? DECLARING_LINES : FUNCTION_LINES;
    return lines > most ? `${functionName(node)} has ${lines} lines` : undefined;
  },
);

/** Nothing but names and what they are made of: a table, a record, the wiring of a room. Functions inside are judged alone. */
function onlyDeclares(node: ast.FunctionLikeDeclaration): boolean {
  const isPlain = (part: ast.Node): boolean =>
    ast.isFunctionLikeDeclaration(part) ||
    (!decides(part) && part.forEachChild((child) => !isPlain(child)) !== true);
  return node.forEachChild((part) => !isPlain(part)) !== true;
}

/** Statements by which a function does one thing or another, or one thing many times. */
const decides = (node: ast.Node): boolean =>
  ast.isIfStatement(node) ||
  ast.isForStatement(node) ||
  ast.isForOfStatement(node) ||
  ast.isForInStatement(node) ||
  ast.isWhileStatement(node) ||
  ast.isDoStatement(node) ||
  ast.isSwitchStatement(node) ||
  ast.isTryStatement(node);

/** Arrow functions are called by what they are assigned to. */
function functionName(node: ast.FunctionLikeDeclaration): string {
  const { parent } = node;
  if (ast.isVariableDeclaration(parent) || ast.isPropertyAssignment(parent)) return parent.name.getText();
  return ("name" in node && node.name?.getText()) || "a function";
}

/** By people: types of answers are made from the API's description. */
const isWritten = ({ path }: Source): boolean => path !== "console/api/operations.ts";

const fileLengths: Rule = {
  name: `files to ${FILE_LINES} lines, better 120`,
  cure: "split it by what its parts are about",
  find: (tree) =>
    tree.sources.filter(isWritten).flatMap(({ path, text }) => {
      const lines = linesIn(text);
      return lines > FILE_LINES ? [{ file: path, line: FILE_LINES + 1, what: `has ${lines} lines` }] : [];
    }),
};

const folderSizes: Rule = {
  name: `a folder of src or of the console holds up to ${FOLDER_FILES} files`,
  cure: "give what belongs together a folder named by its noun; the folder of a format or a dialect keeps its slots together",
  find: (tree) => {
    const files = Map.groupBy(
      tree.paths.filter((path) => /^(?:src|console)\/.*\.tsx?$/.test(path) && !path.endsWith(".d.ts")),
      (path) => path.slice(0, path.lastIndexOf("/")),
    );
    return [...files]
      .filter(([folder, inside]) => inside.length > FOLDER_FILES && !WHOLE.has(folder))
      .map(([folder, inside]) => ({
        file: inside[0] as string,
        line: 1,
        what: `is in ${folder}, which holds ${inside.length} files`,
      }));
  },
};

const readmes: Rule = {
  name: `a room's README to ${README_LINES} lines`,
  cure: "keep the rules worth knowing; the rest belongs in docs/ or beside the code",
  find: (tree) =>
    tree.paths
      .filter((path) => /^(src\/.+|bench|console)\/README\.md$/.test(path))
      .flatMap((path) => {
        const lines = linesIn(readText(tree, path));
        return lines > README_LINES
          ? [{ file: path, line: README_LINES + 1, what: `has ${lines} lines` }]
          : [];
      }),
};

export const lengthRules: readonly Rule[] = [functionLengths, fileLengths, folderSizes, readmes];
