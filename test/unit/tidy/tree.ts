/**
 * The repository as the tidy rules see it: every source file parsed once, with its imports resolved to files or packages.
 * The parser is the TypeScript compiler's own, so what the rules read is what `tsc` reads.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, relative, sep } from "node:path";
import * as ast from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

export interface Import {
  readonly line: number;
  /** Path of the imported file in the repository; undefined for a package or a built-in module. */
  readonly file: string | undefined;
  /** Name of the imported package, such as `@clickhouse/client`. */
  readonly library: string | undefined;
  /** Only types pass, so nothing is loaded at run time. */
  readonly typeOnly: boolean;
}

export interface Source {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly root: ast.SourceFile;
  /** The root and everything below it, in the order of the text: listed once, since most rules look at all of them. */
  readonly nodes: readonly ast.Node[];
  readonly imports: readonly Import[];
}

export interface Tree {
  readonly dir: string;
  readonly sources: readonly Source[];
  /** Every file that people write, sources included; paths as in {@link Source}. */
  readonly paths: readonly string[];
}

const WRITTEN = ["src", "simulator", "test", "bench", "scripts", "console", "docs", "config", ".ci"];
/** What Node runs, and what browsers run, which has other globals. */
const PROJECTS = ["tsconfig.json", "console/tsconfig.json"];

/** Reads the TypeScript projects at `dir`: each `tsconfig.json` says which files are its sources. */
export function readTree(dir: string): Tree {
  const api = new API({ cwd: dir });
  const folder = mkdtempSync(join(tmpdir(), "weir-tidy-project-"));
  try {
    const projects = PROJECTS.map((path) => join(dir, path)).filter(existsSync);
    const sources = projects.flatMap((path, i) => sourcesOf(api, dir, path, join(folder, `${i}.json`)));
    return { dir, sources, paths: writtenFiles(dir) };
  } finally {
    api.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param config where to write the same project without the libraries that it imports: those would be read and parsed too */
function sourcesOf(api: API, dir: string, extended: string, config: string): Source[] {
  const alone = { noLib: true, types: [], noResolve: true };
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions: alone }));
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (project === undefined) throw new Error(`${extended} is no TypeScript project`);
  return project.rootFiles.map((file): Source => {
    const root = project.program.getSourceFile(file);
    if (root === undefined) throw new Error(`${file} cannot be parsed`);
    const path = slashed(relative(dir, file));
    const nodes = nodesIn(root);
    return { path, text: root.text, root, nodes, imports: importsOf(root, nodes, path) };
  });
}

export const readText = (tree: Tree, path: string): string => readFileSync(join(tree.dir, path), "utf8");

export const lineAt = (source: Source, position: number): number =>
  source.root.getLineAndCharacterOfPosition(position).line + 1;

export const lineOf = (source: Source, node: ast.Node): number => lineAt(source, node.getStart(source.root));

/** What runs without development packages: `src`, and the simulator, which is the default upstream. */
export const inSrc = ({ path }: Source): boolean => path.startsWith("src/") || path.startsWith("simulator/");

/** What browsers run. */
export const inConsole = ({ path }: Source): boolean => path.startsWith("console/");

function nodesIn(root: ast.Node): ast.Node[] {
  const found: ast.Node[] = [];
  const visit = (node: ast.Node): void => {
    found.push(node);
    node.forEachChild(visit);
  };
  visit(root);
  return found;
}

/** The text of a string literal or of a template's fixed parts; undefined for other nodes. */
export function textOf(node: ast.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ast.isStringLiteral(node) || ast.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ast.isTemplateExpression(node)) return node.getText();
  return undefined;
}

const slashed = (path: string): string => path.split(sep).join("/");

function writtenFiles(dir: string): string[] {
  const atRoot = readdirSync(dir).filter((name) => /\.(md|ts)$/.test(name));
  return [...atRoot, ...WRITTEN.flatMap((folder) => filesUnder(dir, folder))].sort();
}

function filesUnder(dir: string, folder: string): string[] {
  if (!existsSync(join(dir, folder))) return [];
  return readdirSync(join(dir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => slashed(relative(dir, join(entry.parentPath, entry.name))))
    .filter((path) => !path.startsWith("console/dist/"));
}

function importsOf(root: ast.SourceFile, nodes: readonly ast.Node[], path: string): Import[] {
  const found: Import[] = [];
  for (const node of nodes) {
    const specifier = specifierOf(node);
    const name = textOf(specifier);
    if (specifier === undefined || name === undefined || name.startsWith("node:")) continue;
    const line = root.getLineAndCharacterOfPosition(specifier.getStart(root)).line + 1;
    const file = name.startsWith(".") ? posix.join(posix.dirname(path), name) : undefined;
    const library = file === undefined ? libraryOf(name) : undefined;
    found.push({ line, file, library, typeOnly: isTypeOnly(node) });
  }
  return found;
}

const libraryOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

/** What a node imports: statements, `import()` as value or type, and `new URL("./x.ts", import.meta.url)` of a thread or child. */
function specifierOf(node: ast.Node): ast.Node | undefined {
  if (ast.isImportDeclaration(node) || ast.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ast.isImportTypeNode(node))
    return ast.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  if (ast.isCallExpression(node) && node.expression.kind === ast.SyntaxKind.ImportKeyword)
    return node.arguments[0];
  if (ast.isNewExpression(node) && node.expression.getText() === "URL") {
    const [first, base] = node.arguments ?? [];
    return base?.getText() === "import.meta.url" && textOf(first)?.endsWith(".ts") ? first : undefined;
  }
  return undefined;
}

function isTypeOnly(node: ast.Node): boolean {
  if (ast.isImportTypeNode(node)) return true;
  if (ast.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ast.isImportDeclaration(node) || node.importClause === undefined) return false;
  if (node.importClause.phaseModifier === ast.SyntaxKind.TypeKeyword) return true;
  const named = node.importClause.namedBindings;
  return (
    node.importClause.name === undefined &&
    named !== undefined &&
    ast.isNamedImports(named) &&
    named.elements.every((element) => element.isTypeOnly)
  );
}
