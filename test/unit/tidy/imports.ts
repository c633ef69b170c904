/** Rules over imports: which room may know which, which folder alone knows a library, no cycles of files. */
import { posix } from "node:path";
import * as ast from "typescript/unstable/ast";
import { EXCLUSIVE, MAY_IMPORT, WINGS } from "./house.ts";
import { type Finding, nodeRule, type Rule } from "./rule.ts";
import { inConsole, inSrc, readText, type Source, textOf } from "./tree.ts";

const KINDS: Readonly<Record<string, RegExp>> = {
  operations: /^src\/([a-z-]+\/)+([a-z-]+-)?operations\.ts$/,
  /** Each wing's part of the configuration, and how Redis is addressed. */
  settings: /^src\/([a-z-]+\/)+(([a-z-]+-)?settings|redis\/address)\.ts$/,
};

/** `host/gateway` opens all rooms and fills their ports. */
const GATEWAY = "host/gateway";

const ROOMS = [...Object.keys(MAY_IMPORT), GATEWAY].sort((a, b) => b.length - a.length);

/** The deepest room that a file is in, such as `store/jobs`; its folder, where the table lacks it. */
function roomOf(path: string): string | undefined {
  if (path.startsWith("simulator/")) return "simulator";
  if (!path.startsWith("src/")) return undefined;
  const inside = path.slice("src/".length);
  return ROOMS.find((room) => inside === room || inside.startsWith(`${room}/`)) ?? posix.dirname(inside);
}

const isAllowed = (entry: string, target: string): boolean =>
  entry === roomOf(target) || entry === target || KINDS[entry]?.test(target) === true;

const rooms: Rule = {
  name: "a room imports only what lies below it",
  cure: "declare what you need as an interface in your own room, and let src/host/gateway pass it in; or move the code to the room that owns it",
  find: (tree) => tree.sources.flatMap(forbiddenImports),
};

function forbiddenImports(source: Source): Finding[] {
  const room = roomOf(source.path);
  if (room === undefined || room === GATEWAY) return [];
  const allowed = MAY_IMPORT[room];
  if (allowed === undefined) {
    const what = `the room "${room}" is not in the table of test/unit/tidy/house.ts`;
    return [{ file: source.path, line: 1, what }];
  }
  return source.imports.flatMap(({ file, line }) => {
    if (file === undefined || roomOf(file) === room || roomOf(file) === "base") return [];
    if (allowed.some((entry) => isAllowed(entry, file))) return [];
    const what = `imports ${file}, but ${room} may import only ${["base", ...allowed].join(", ")}`;
    return [{ file: source.path, line, what }];
  });
}

const wings: Rule = {
  name: "an import between wings never goes up",
  cure: "declare what you need as an interface in your own wing, and let src/host/gateway pass it in; or move the code to the wing that owns it",
  find: (tree) =>
    tree.sources.flatMap(({ path, imports }) => {
      const from = wingOf(path);
      if (from === undefined) return [];
      if (!WINGS.includes(from)) return [{ file: path, line: 1, what: `is in "${from}", which is no wing` }];
      return imports.flatMap(({ file = "", line }) => {
        const to = wingOf(file);
        if (to === undefined || WINGS.indexOf(to) <= WINGS.indexOf(from)) return [];
        return [{ file: path, line, what: `imports ${file}: ${to} is above ${from}` }];
      });
    }),
};

export const wingOf = (path: string): string | undefined => /^src\/([^/]+)/.exec(path)?.[1];

const libraries: Rule = {
  name: "a library with an owner is imported by its owner only",
  cure: "call the owner's functions, or have src/host/gateway pass them in",
  find: (tree) =>
    tree.sources.filter(inSrc).flatMap(({ path, imports }) =>
      imports.flatMap(({ library = "", line }) => {
        const owner = EXCLUSIVE[library];
        if (owner === undefined || path.startsWith(owner)) return [];
        return [{ file: path, line, what: `imports ${library}, which belongs to ${owner}` }];
      }),
    ),
};

const nodeHttp = nodeRule(
  "node:http is imported for its types alone",
  "take it from src/base/network/node-http.ts, which says why",
  inSrc,
  // `import { type Server }` is an import of the module without its members when the types are taken away.
  (node) =>
    ast.isImportDeclaration(node) &&
    textOf(node.moduleSpecifier) === "node:http" &&
    node.importClause?.phaseModifier !== ast.SyntaxKind.TypeKeyword
      ? "imports node:http, which loads all of Node's fetch"
      : undefined,
);

const dependencies: Rule = {
  name: "src loads only packages that an install without development packages has",
  cure: 'move the package to "dependencies" of package.json, or import only its types',
  find(tree) {
    const declared = Object.keys(JSON.parse(readText(tree, "package.json")).dependencies ?? {});
    return tree.sources
      .filter(inSrc)
      .flatMap(({ path, imports }) =>
        imports
          .filter((i) => i.library !== undefined && !i.typeOnly && !declared.includes(i.library))
          .map(({ library, line }) => ({ file: path, line, what: `imports ${library}` })),
      );
  },
};

/** What the console's bundles hold beside its own sources. */
const IN_BUNDLES = new Set(["preact", "@preact/signals", "uplot"]);

const consoleAlone: Rule = {
  name: "the console imports itself and what is bundled with it",
  cure: "ask the API for it: the console knows nothing that its public routes do not say",
  find: (tree) =>
    tree.sources
      .filter(inConsole)
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ file, library }) =>
            file === undefined ? !IN_BUNDLES.has(library ?? "") : !file.startsWith("console/"),
          )
          .map(({ file, library, line }) => ({ file: path, line, what: `imports ${file ?? library}` })),
      ),
};

const cycles: Rule = {
  name: "no file reaches itself through imports, those of types included",
  cure: "move what both files need into a file below them, often the type alone",
  find: (tree) => cyclesOf(tree.sources.filter((source) => inSrc(source) || inConsole(source))),
};

/** At least one finding for every knot of files, at the alphabetically first of the cycle; depth first. */
function cyclesOf(sources: readonly Source[]): Finding[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const findings = new Map<string, Finding>();
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const from = trail.indexOf(path);
    if (from >= 0) {
      const found = cycleFinding(trail.slice(from), byPath);
      findings.set(found.what, found);
      return;
    }
    if (done.has(path)) return;
    for (const { file } of byPath.get(path)?.imports ?? [])
      if (file !== undefined) visit(file, [...trail, path]);
    done.add(path);
  };
  for (const path of byPath.keys()) visit(path, []);
  return [...findings.values()];
}

function cycleFinding(cycle: readonly string[], byPath: ReadonlyMap<string, Source>): Finding {
  const start = cycle.indexOf([...cycle].sort()[0] ?? "");
  const turned = [...cycle.slice(start), ...cycle.slice(0, start)];
  const [file = "", next = file] = turned;
  const line = byPath.get(file)?.imports.find((i) => i.file === next)?.line ?? 1;
  return { file, line, what: `is in a cycle: ${[...turned, file].join(" → ")}` };
}

export const importRules: readonly Rule[] = [
  wings,
  rooms,
  libraries,
  nodeHttp,
  dependencies,
  consoleAlone,
  cycles,
];
