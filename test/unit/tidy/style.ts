/**
 * Rules over what files are called, how long they are, how they open, and what may not stand in them.
 */
import * as ast from "typescript/unstable/ast";
import type { Finding, Rule } from "./imports.ts";
import { inSrc, lineAt, lineOf, readText, type Source, type Tree, textOf } from "./tree.ts";

const FILE_LINES = 400;
const FUNCTION_LINES = 70;
const FOLDER_FILES = 25;
const README_LINES = 40;

/** Folders that may hold more. */
const WHOLE = new Set([
  // Every format and dialect has the same slots, each a file of its folder.
  ...["src/wire/chat", "src/wire/responses"],
  // What opens the rooms goes to the rooms, one after the other.
  "src/host/gateway",
]);

/** The traps of docs/traps.md that the call path must answer for. */
const TRAPS = [[1, 11], [15, 29], [35], [40, 43], [54, 57], [61], [63, 66]].flatMap(([from = 0, to = from]) =>
  Array.from({ length: to - from + 1 }, (_, i) => `T${from + i}`),
);

/** What fell when the gateway was tried from outside: docs/findings.md. */
const FINDINGS = Array.from({ length: 31 }, (_, i) => `O${i + 1}`);

/** A rule that looks at one source at a time and names the nodes it dislikes. */
function nodeRule(
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
function wordRule(name: string, cure: string, applies: (path: string) => boolean, words: RegExp): Rule {
  const find = (tree: Tree, path: string): Finding[] =>
    readText(tree, path)
      .split("\n")
      .flatMap((text, i) => {
        const word = words.exec(text)?.[0];
        return word === undefined ? [] : [{ file: path, line: i + 1, what: `says ${word}` }];
      });
  return { name, cure, find: (tree) => tree.paths.filter(applies).flatMap((path) => find(tree, path)) };
}

const linesIn = (text: string): number => text.trimEnd().split("\n").length;

const CLOCKS = new Set(["Date.now", "Math.random", "performance.now", "process.hrtime"]);

const clock = nodeRule(
  "time and randomness come from src/base/clock.ts",
  "take a Clock or a Random from src/base/clock.ts as a parameter",
  (source) => inSrc(source) && source.path !== "src/base/clock.ts",
  (node) => {
    if (ast.isPropertyAccessExpression(node)) return CLOCKS.has(node.getText()) ? node.getText() : undefined;
    if (!ast.isNewExpression(node) && !ast.isCallExpression(node)) return undefined;
    const readsNow = node.expression.getText() === "Date" && (node.arguments ?? []).length === 0;
    return readsNow ? node.getText() : undefined;
  },
);

const anyType = nodeRule(
  "no any",
  "name the type, or take `unknown` and narrow it",
  // Tests read answers of every shape through its one type.
  (source) => source.path !== "test/support/gateway.ts",
  (node) => (node.kind === ast.SyntaxKind.AnyKeyword ? "says any" : undefined),
);

const defaultExports = nodeRule(
  "no default exports",
  "export by name, so that one thing has one name everywhere",
  () => true,
  (node) => {
    if (ast.isExportAssignment(node)) return node.isExportEquals ? undefined : "has a default export";
    if (ast.isExportSpecifier(node)) return node.name.text === "default" ? "has a default export" : undefined;
    return node.kind === ast.SyntaxKind.DefaultKeyword && !ast.isDefaultClause(node.parent)
      ? "has a default export"
      : undefined;
  },
);

const enums = nodeRule(
  "no enums",
  "write a union of string literals, which Node can run as it is",
  () => true,
  (node) => (ast.isEnumDeclaration(node) ? `declares enum ${node.name.text}` : undefined),
);

const functionLengths = nodeRule(
  `functions to ${FUNCTION_LINES} lines`,
  "give a part of it a name",
  inSrc,
  (node, source) => {
    if (!ast.isFunctionLikeDeclaration(node)) return undefined;
    const lines = lineAt(source, node.getEnd()) - lineOf(source, node) + 1;
    return lines > FUNCTION_LINES ? `${functionName(node)} has ${lines} lines` : undefined;
  },
);

/** Arrow functions are called by what they are assigned to. */
function functionName(node: ast.FunctionLikeDeclaration): string {
  const { parent } = node;
  if (ast.isVariableDeclaration(parent) || ast.isPropertyAssignment(parent)) return parent.name.getText();
  return ("name" in node && node.name?.getText()) || "a function";
}

const barrels: Rule = {
  name: "no barrel files",
  cure: "import from the file that holds the thing, and delete this one",
  find: (tree) =>
    tree.sources.flatMap(({ path, root }) => {
      const { statements } = root;
      const onlyPasses = statements.every((s) => ast.isExportDeclaration(s) || ast.isImportDeclaration(s));
      const passes = statements.some(ast.isExportDeclaration);
      return onlyPasses && passes
        ? [{ file: path, line: 1, what: "only passes on what other files export" }]
        : [];
    }),
};

const fileLengths: Rule = {
  name: `files to ${FILE_LINES} lines, better 120`,
  cure: "split it by what its parts are about",
  find: (tree) =>
    tree.sources.flatMap(({ path, text }) => {
      const lines = linesIn(text);
      return lines > FILE_LINES ? [{ file: path, line: FILE_LINES + 1, what: `has ${lines} lines` }] : [];
    }),
};

const folderSizes: Rule = {
  name: `a folder of src holds up to ${FOLDER_FILES} files`,
  cure: "give what belongs together a folder named by its noun; the folder of a format or a dialect keeps its slots together",
  find: (tree) => {
    const files = Map.groupBy(
      tree.paths.filter((path) => /^src\/.*\.ts$/.test(path) && !path.endsWith(".d.ts")),
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

const openings: Rule = {
  name: "a file of src opens with a comment",
  cure: "say in two or three lines what the file owns and what must stay true",
  find: (tree) =>
    tree.sources
      .filter((source) => inSrc(source) && !/^(#!.*\n)?\s*\/[/*]/.test(source.text))
      .map(({ path }) => ({ file: path, line: 1, what: "opens without a comment" })),
};

const names: Rule = {
  name: "no file or folder is called utils, helpers, common or manager",
  cure: "name it by what it is, in the words of the field",
  find: (tree) =>
    tree.paths
      .filter((path) => path.split(/[/._-]/).some((word) => /^(util|helper|common|manager)s?$/i.test(word)))
      .map((path) => ({ file: path, line: 1, what: "has a name that says nothing" })),
};

/** Slots of the folders of src/wire: a file of this name, and no other there, exports values of such names. */
const SLOTS: Readonly<Record<string, RegExp>> = {
  format: /Format$/,
  schema: /Schema$/,
  request: /^read\w+Request$/,
  "neutral-request": /Neutral$/,
  "neutral-messages": /^readMessages$/,
  "neutral-tools": /^readTools$/,
  "neutral-options": /^readOptions$/,
  "write-reply": /^write\w+Reply$/,
  writer: /StreamWriter$/,
  errors: /^(?!is)\w+Error(?:Body|Event)$/,
  splice: /Splice$/,
  "splice-stream": /SpliceStream$/,
  dialect: /Dialect$/,
  "write-request": /^write\w+Request$/,
  "write-messages": /^writeMessages$/,
  "write-media": /^writeMedia$/,
  "write-reasoning": /^writeReasoning$/,
  "read-reply": /^read\w+Reply$/,
  reader: /StreamReader$/,
  stop: /^(?:read|write)(?:Stop|\w+Reason)$/,
  citations: /^(?:read|write)\w*Citations?$/,
  usage: /^(?:read|write)\w*Usage$/,
  seals: /^(?:un)?pack\w+$|^seal(?:Of|Text)/,
  foreign: /^withoutForeign$/,
};

/** Folders of what formats and dialects share. */
const SHARED = ["json", "neutral", "relay"];

/** What every folder has whose `dialect.ts` or `format.ts` these lists import. */
const REQUIRED = {
  "src/wire/dialects.ts": [
    ...["write-request", "write-messages", "read-reply", "reader", "stop", "citations", "usage"],
  ],
  "src/wire/formats.ts": ["schema", "request", "neutral-request", "write-reply"],
} as const;

const slots: Rule = {
  name: "the same slot has the same name in every folder of src/wire",
  cure: "name the file as src/wire/README.md names its slot, or move the function to the file of its slot",
  find(tree) {
    const paths = new Set(tree.paths);
    const missing = tree.sources.flatMap(({ path, imports }) => {
      const required = REQUIRED[path as keyof typeof REQUIRED] ?? [];
      return imports.flatMap(({ file = "", line }) => {
        const folder = /^(src\/wire\/\w+)\/(?:dialect|format)\.ts$/.exec(file)?.[1];
        return required
          .map((slot) => `${folder}/${slot}.ts`)
          .filter((needed) => folder !== undefined && !paths.has(needed))
          .map((needed) => ({ file: path, line, what: `lists a folder that has no ${needed}` }));
      });
    });
    return [...missing, ...tree.sources.flatMap(misplaced)];
  },
};

/** Exported functions, classes and constants of a slot that are in a file of another name. */
function misplaced(source: Source): Finding[] {
  const [, folder = "", file] = /^src\/wire\/(\w+)\/([\w-]+)\.ts$/.exec(source.path) ?? [];
  if (file === undefined || SHARED.includes(folder)) return [];
  return source.root.statements.flatMap((statement) => {
    const names = exportedValues(statement);
    return Object.entries(SLOTS).flatMap(([slot, pattern]) =>
      names
        .filter((name) => slot !== file && pattern.test(name))
        .map((name) => ({
          file: source.path,
          line: lineOf(source, statement),
          what: `${name} belongs in ${slot}.ts`,
        })),
    );
  });
}

function exportedValues(statement: ast.Node): string[] {
  if (!statement.getText().startsWith("export ")) return [];
  if (ast.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  const isNamed = ast.isFunctionDeclaration(statement) || ast.isClassDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

const readmes: Rule = {
  name: `a room's README to ${README_LINES} lines`,
  cure: "keep the rules worth knowing; the rest belongs in docs/ or beside the code",
  find: (tree) =>
    tree.paths
      .filter((path) => /^(src\/.+|bench)\/README\.md$/.test(path))
      .flatMap((path) => {
        const lines = linesIn(readText(tree, path));
        return lines > README_LINES
          ? [{ file: path, line: README_LINES + 1, what: `has ${lines} lines` }]
          : [];
      }),
};

const markers = wordRule(
  "no notes of unfinished work",
  "do it now, or write in docs/decisions.md why not",
  () => true,
  /\b(?:TO(?:DO)|FIX(?:ME)|X(?:XX)|HA(?:CK))\b/,
);

const suppressions = wordRule(
  "the type-checker is not silenced",
  "make the types right",
  (path) => path.endsWith(".ts"),
  /@ts-(?:ignore|nocheck)/,
);

const subjects = wordRule(
  "no sentence begins with Of",
  'name the subject first, as in "Bytes of one org" for "Of one org: bytes"',
  // The tidy tests write down what others must not.
  (path) => /\.(?:ts|mjs|md)$/.test(path) && !path.startsWith("test/unit/tidy/"),
  /(?:^\s*(?:\/\*\*?|\*|\/\/|-)?|\/\/|[.:?!])\s*\bOf [a-z]+/,
);

/** A path, or the end of one. */
const NAMED_TEST = /[\w./-]*\w\.test\.ts\b/g;

const namedTests: Rule = {
  name: "a test that is named exists",
  cure: "name it as it is called now, with its lane",
  find: (tree) => {
    const tests = tree.paths.filter((path) => path.endsWith(".test.ts")).map((path) => `/${path}`);
    const isThere = (name: string) =>
      tests.some((path) => path.endsWith(`/${name.replace(/^(?:\.*\/)+/, "")}`));
    // Tests of these make up names.
    const applies = (path: string) =>
      /\.(?:ts|mjs|md)$/.test(path) &&
      !/^test\/(?:unit\/(?:tidy|docs|scripts)|process\/scripts)\//.test(path);
    return tree.paths.filter(applies).flatMap((path) =>
      readText(tree, path)
        .split("\n")
        .flatMap((text, i) =>
          (text.match(NAMED_TEST) ?? [])
            .filter((name) => !isThere(name))
            .map((name) => ({ file: path, line: i + 1, what: `names ${name}` })),
        ),
    );
  },
};

const traps: Rule = {
  name: "every trap and finding has a test that names it, or a line in docs/decisions.md that says why not",
  cure: 'open a test\'s title with the trap ("T24: ...") or the finding ("O8: ...")',
  find(tree) {
    const decisions = tree.paths.includes("docs/decisions.md") ? readText(tree, "docs/decisions.md") : "";
    const said = [
      ...tree.sources.filter(({ path }) => path.endsWith(".test.ts")).flatMap(titlesOf),
      decisions,
    ];
    const named = new Set(said.flatMap((text) => text.match(/\b[TO]\d+\b/g) ?? []));
    const missing = [...TRAPS, ...FINDINGS].filter((claim) => !named.has(claim));
    return missing.map((claim) => ({
      file: "docs/decisions.md",
      line: 1,
      what: `${claim} is named in no test title and not here`,
    }));
  },
};

const explained: Rule = {
  name: "a number in a test's title is explained in docs/traps.md or docs/findings.md",
  cure: "add the trap or finding there, as a statement that holds",
  find(tree) {
    const lists = ["docs/traps.md", "docs/findings.md"].filter((path) => tree.paths.includes(path));
    const known = new Set(
      lists.flatMap((path) => readText(tree, path).match(/(?<=\*\*)[TO]\d+(?=\*\*)/g) ?? []),
    );
    return tree.sources
      .filter(({ path }) => path.endsWith(".test.ts"))
      .flatMap((source) => {
        const numbers = new Set(titlesOf(source).flatMap((title) => title.match(/\b[TO]\d+\b/g) ?? []));
        const what = [...numbers].filter((number) => !known.has(number));
        return what.length === 0 ? [] : [{ file: source.path, line: 1, what: `names ${what.join(", ")}` }];
      });
  },
};

/** First arguments of `test(...)`, `describe(...)`, `test.each(...)(...)` and the like. */
function titlesOf(source: Source): string[] {
  return source.nodes.flatMap((node) => {
    if (!ast.isCallExpression(node)) return [];
    let callee: ast.Node = node.expression;
    while (ast.isCallExpression(callee) || ast.isPropertyAccessExpression(callee)) callee = callee.expression;
    const title = textOf(node.arguments[0]);
    return title !== undefined && /^(test|it|describe)$/.test(callee.getText()) ? [title] : [];
  });
}

export const styleRules: readonly Rule[] = [
  ...[clock, anyType, defaultExports, enums, functionLengths, barrels, fileLengths, folderSizes, openings],
  ...[names, slots, readmes, markers, suppressions, subjects, namedTests, traps, explained],
];
