/**
 * Rules over what files are called, how they open, and what may not stand in them.
 */
import * as ast from "typescript/unstable/ast";
import { type Finding, nodeRule, type Rule, wordRule } from "./rule.ts";
import { inConsole, inSrc, lineOf, readText, type Source, textOf } from "./tree.ts";

/** The traps of docs/traps.md that the call path must answer for. */
const TRAPS = [[1, 11], [15, 29], [35], [40, 43], [54, 57], [61], [63, 66]].flatMap(([from = 0, to = from]) =>
  Array.from({ length: to - from + 1 }, (_, i) => `T${from + i}`),
);

/** What fell when the gateway was tried from outside: docs/findings.md. */
const FINDINGS = Array.from({ length: 31 }, (_, i) => `O${i + 1}`);

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

const TIMES = /^(?:SECOND|MINUTE|HOUR|DAY)_MS$/;

const times = nodeRule(
  "spans of time have their names in src/base/time.ts",
  "import the constant from src/base/time.ts",
  (source) => source.path !== "src/base/time.ts",
  (node) =>
    ast.isVariableDeclaration(node) && TIMES.test(node.name.getText())
      ? `declares ${node.name.getText()}`
      : undefined,
);

const literalSpreads = nodeRule(
  "no literal is spread",
  "write its members where they are: the formatter may use as many lines as it likes, and what only declares may be long",
  () => true,
  (node) => {
    if (!ast.isSpreadAssignment(node) && !ast.isSpreadElement(node)) return undefined;
    let { expression } = node;
    while (ast.isParenthesizedExpression(expression) || ast.isAsExpression(expression))
      expression = expression.expression;
    const isLiteral = ast.isObjectLiteralExpression(expression) || ast.isArrayLiteralExpression(expression);
    return isLiteral ? "spreads a literal" : undefined;
  },
);

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

const openings: Rule = {
  name: "a file of src opens with a comment",
  cure: "say in two or three lines what the file owns and what must stay true",
  find: (tree) =>
    tree.sources
      .filter((source) => (inSrc(source) || inConsole(source)) && !/^(#!.*\n)?\s*\/[/*]/.test(source.text))
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
  restating: /Restating$/,
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
const SHARED = ["json", "neutral", "relay", "schema"];

/** What every folder has whose `dialect.ts` or `format.ts` these lists import. */
const REQUIRED = {
  "src/wire/dialects.ts": [
    "write-request",
    "write-messages",
    "read-reply",
    "reader",
    "restating",
    "stop",
    "citations",
    "usage",
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
  clock,
  anyType,
  defaultExports,
  enums,
  literalSpreads,
  times,
  barrels,
  openings,
  names,
  slots,
  markers,
  suppressions,
  subjects,
  namedTests,
  traps,
  explained,
];
