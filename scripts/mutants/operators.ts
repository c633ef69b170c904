/**
 * The small faults that a programmer makes, each as a change of the source's text. Only code within functions is changed: what runs
 * when a module is loaded runs once for all test files of a process, so no coverage says which of them would notice.
 */
import * as ast from "typescript/unstable/ast";
import type { Source } from "../../test/unit/tidy/tree.ts";

export interface Change {
  /** The kind of fault, such as `comparison`. */
  readonly operator: string;
  /** Offsets into the source's text, as V8 counts them; equal where something is put in. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const COMPARISONS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
};
const LOGIC: Readonly<Record<string, string>> = { "&&": "||", "||": "&&" };
const ARITHMETIC: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "+=": "-=",
  "-=": "+=",
};
const BOUNDS: Readonly<Record<string, string>> = { "Math.min": "Math.max", "Math.max": "Math.min" };

/** What is said to people only. */
const LOGGED = /\blog(?:ger)?\??\.\w+$/;
/** A word of a format or a kind. Texts with spaces are for people. */
const WORD = /^[\w./:-]+$/;

/** Every change that these operators make of a source, in the order of its text. */
export function changesOf({ root, nodes }: Pick<Source, "root" | "nodes">): Change[] {
  const found: Change[] = [];
  for (const node of nodes) {
    const replace = (operator: string, at: ast.Node, replacement: string): void => {
      found.push({ operator, start: at.getStart(root), end: at.getEnd(), replacement });
    };
    if (!isInFunction(node)) continue;
    ofBinary(node, replace);
    ofValues(node, replace);
    ofConditions(node, replace);
    if (isDroppable(node)) replace("dropped statement", node, ";");
    const start = startOfVoid(node);
    if (start !== undefined) {
      found.push({ operator: "early return", start, end: start, replacement: " return;" });
    }
  }
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

type Replace = (operator: string, at: ast.Node, replacement: string) => void;

function ofBinary(node: ast.Node, replace: Replace): void {
  if (!ast.isBinaryExpression(node)) return;
  const { operatorToken, left, right } = node;
  const token = operatorToken.getText();
  const comparison = COMPARISONS[token];
  if (comparison !== undefined) replace("comparison", operatorToken, comparison);
  const logic = LOGIC[token];
  if (logic !== undefined) replace("and/or", operatorToken, logic);
  const arithmetic = ARITHMETIC[token];
  if (arithmetic !== undefined && !isText(left) && !isText(right)) {
    replace("arithmetic", operatorToken, arithmetic);
  }
}

function ofValues(node: ast.Node, replace: Replace): void {
  if (isOfTypes(node)) return;
  if (ast.isNumericLiteral(node)) {
    replace("off by one", node, `${Number(node.getText().replaceAll("_", "")) + 1}`);
  } else if (node.kind === ast.SyntaxKind.TrueKeyword) {
    replace("constant", node, "false");
  } else if (node.kind === ast.SyntaxKind.FalseKeyword) {
    replace("constant", node, "true");
  } else if (ast.isStringLiteral(node) && WORD.test(node.text) && !isName(node)) {
    replace("constant", node, '"other"');
  } else if (ast.isPropertyAccessExpression(node)) {
    const bound = BOUNDS[node.getText()];
    if (bound !== undefined) replace("bound", node, bound);
  }
}

function ofConditions(node: ast.Node, replace: Replace): void {
  if (ast.isIfStatement(node)) {
    replace("negated condition", node.expression, `!(${node.expression.getText()})`);
    replace("condition never true", node.expression, "false");
  } else if (ast.isConditionalExpression(node)) {
    replace("negated condition", node.condition, `!(${node.condition.getText()})`);
  } else if (ast.isPrefixUnaryExpression(node) && node.operator === ast.SyntaxKind.ExclamationToken) {
    replace("negation left out", node, node.operand.getText());
  }
}

/** A call or an assignment whose value is not used. */
function isDroppable(node: ast.Node): boolean {
  if (!ast.isExpressionStatement(node)) return false;
  const called = ast.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
  if (!ast.isCallExpression(called)) return true;
  return called.expression.kind !== ast.SyntaxKind.SuperKeyword && !LOGGED.test(called.expression.getText());
}

/** Where the body of a function begins that returns nothing, behind its brace; undefined for other nodes. */
function startOfVoid(node: ast.Node): number | undefined {
  if (!ast.isBlock(node) || !ast.isFunctionLikeDeclaration(node.parent)) return undefined;
  if (ast.isConstructorDeclaration(node.parent) || node.statements.length === 0) return undefined;
  return returnsValue(node) ? undefined : node.getStart() + 1;
}

function returnsValue(node: ast.Node): boolean {
  let found = false;
  node.forEachChild((child) => {
    if (ast.isReturnStatement(child)) found ||= child.expression !== undefined;
    else if (!ast.isFunctionLikeDeclaration(child)) found ||= returnsValue(child);
  });
  return found;
}

/** Within the body of a function: values that parameters have by themselves are not. */
function isInFunction(node: ast.Node): boolean {
  for (let at = node; at.parent !== undefined; at = at.parent) {
    if (ast.isFunctionLikeDeclaration(at.parent) && "body" in at.parent && at.parent.body === at) return true;
  }
  return false;
}

/** Texts, and what is put together with them. */
function isText(node: ast.Node): boolean {
  if (ast.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  return (
    ast.isStringLiteral(node) || ast.isNoSubstitutionTemplateLiteral(node) || ast.isTemplateExpression(node)
  );
}

/** A literal that is a type, as in `kind: "text" | "image"`. */
const isOfTypes = (node: ast.Node): boolean => ast.isLiteralTypeNode(node.parent);

/** The name of a member, or of a module. */
const isName = (node: ast.Node): boolean =>
  ("name" in node.parent && node.parent.name === node) || ast.isImportDeclaration(node.parent);
