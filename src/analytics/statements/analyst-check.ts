/**
 * Checks the tree of an analyst's statement against what is allowed: nodes, functions, tables, types. What is not known is
 * refused with its name. Nothing here asks what a statement may do; a part that no rule knows cannot be run.
 */
import {
  isAggregate,
  isFunction,
  NAMES_AGGREGATE,
  OF_ROWS,
  ROW_SOURCES,
  TAKES_TABLE,
  TYPE_ARGUMENT,
} from "./analyst-functions.ts";
import { isAddedColumn, isDatabase, readableTable } from "./analyst-tables.ts";
import { aliasOf, membersOf, type TreeNode, textOf } from "./analyst-tree.ts";
import { forbiddenInType } from "./analyst-types.ts";
import { refusal } from "./engine-error.ts";

/** Parts of a node in which a name is that of a table. */
const TABLE_PARTS = new Set([
  "JOIN TREE",
  "TABLE EXPRESSION",
  "LEFT TABLE EXPRESSION",
  "RIGHT TABLE EXPRESSION",
]);

interface Scope {
  /** Names of WITH that may be read as tables. */
  readonly subqueries: ReadonlySet<string>;
  /** Names that the SELECT itself gives. */
  readonly aliases: ReadonlySet<string>;
}

export class TreeCheck {
  readonly #functions: ReadonlySet<string>;
  /** Columns that may not be read, of the tables that are read. */
  readonly #hidden = new Set<string>();
  readonly #columns: string[] = [];
  #takesAllColumns = false;

  /** @param functions all of the engine's, by their names in lower case: one may be given to another by its name alone */
  constructor(functions: ReadonlySet<string>) {
    this.#functions = functions;
  }

  /** @throws EngineError where something in the tree is not allowed */
  check(tree: TreeNode): void {
    this.#node(tree, { subqueries: new Set(), aliases: new Set() });
    this.#checkColumns();
  }

  #node(node: TreeNode, scope: Scope): void {
    const inner = node.kind === "QUERY" ? this.#query(node, scope) : scope;
    if (node.kind === "IDENTIFIER") this.#identifier(node, scope);
    else if (node.kind === "FUNCTION") this.#function(node, scope);
    else if (node.kind === "TABLE_FUNCTION") this.#tableFunction(node);
    else if (node.kind === "UNION" || node.kind === "QUERY") membersOf(node);
    else if (node.kind === "MATCHER") this.#matcher(node);
    if (isCountOfAll(node)) return;
    for (const child of node.nodes) if (child.part !== "WITH") this.#node(child, inner);
  }

  /** Checks what WITH names, each with the names before it: a name within its own subquery is that of a table. */
  #query(node: TreeNode, scope: Scope): Scope {
    const subqueries = new Set(scope.subqueries);
    const own = { aliases: new Set(aliasesIn(node)) };
    for (const list of node.nodes.filter(({ part }) => part === "WITH")) {
      for (const named of list.nodes) {
        const members = /^(?:QUERY|UNION)$/.test(named.kind) ? membersOf(named) : undefined;
        const name = members?.get("cte_name");
        const isRecursive = members?.get("is_recursive_cte") === "1";
        if (isPlain(name) && isRecursive) subqueries.add(name);
        this.#node(named, { ...own, subqueries: new Set(subqueries) });
        if (isPlain(name)) subqueries.add(name);
      }
    }
    return { ...own, subqueries };
  }

  #identifier(node: TreeNode, { subqueries }: Scope): void {
    const name = membersOf(node).get("identifier") ?? "";
    if (TABLE_PARTS.has(node.part)) {
      if (!subqueries.has(name)) this.#table(name);
      return;
    }
    // In the place of a column a function may stand by its name alone, without brackets: `arrayMap(file, …)`.
    if (this.#functions.has(name.toLowerCase()) && !(isFunction(name) && isCalledFreely(name)))
      throw notAllowed(name);
    refuseAddedColumns(name.split("."));
    this.#columns.push(name);
  }

  /** A list in COLUMNS may name what `*` and patterns leave out. */
  #matcher({ rest }: TreeNode): void {
    this.#takesAllColumns = true;
    refuseAddedColumns(/, column_identifiers: (.*)$/s.exec(rest)?.[1]?.split(/, |\./) ?? []);
  }

  #table(name: string): void {
    const readable = readableTable(name);
    if (readable === undefined) throw refusal(497, `the table ${name} cannot be read`);
    for (const column of readable.hidden) this.#hidden.add(column);
  }

  #function(node: TreeNode, scope: Scope): void {
    const name = membersOf(node).get("function_name") ?? "";
    if (!isFunction(name)) throw notAllowed(name);
    const lower = name.toLowerCase();
    const given = node.nodes.find(({ part }) => part === "ARGUMENTS")?.nodes ?? [];
    const place = TYPE_ARGUMENT.get(lower);
    if (place !== undefined) checkTypeArgument(name, given, place);
    if (NAMES_AGGREGATE.has(lower)) checkAggregateArgument(name, given);
    if (TAKES_TABLE.has(lower) && given[1]?.kind === "IDENTIFIER") this.#rightOfIn(given[1], scope);
  }

  /** A table of its own, a name of WITH, or a name of the same SELECT; else the engine would look for a table. */
  #rightOfIn(node: TreeNode, { subqueries, aliases }: Scope): void {
    const name = membersOf(node).get("identifier") ?? "";
    if (subqueries.has(name) || aliases.has(name)) return;
    const readable = readableTable(name);
    if (readable?.hidden.length === 0) return;
    const [first = "", ...rest] = name.split(".");
    if (readable !== undefined || rest.length === 0 || isDatabase(first))
      throw refusal(
        497,
        `the table ${name} cannot be read by IN: give it a subquery, or use has() for an array`,
      );
  }

  #tableFunction(node: TreeNode): void {
    const name = membersOf(node).get("table_function_name") ?? "";
    const lower = name.toLowerCase();
    if (OF_ROWS.has(lower)) {
      if (!node.nodes.flatMap(({ nodes }) => nodes).every(isTuple))
        throw refusal(497, `the table function ${name} takes rows in brackets only`);
    } else if (!ROW_SOURCES.has(lower)) throw refusal(497, `the table function ${name} is not allowed`);
    for (const part of descendants(node)) {
      if (!/^(?:LIST|CONSTANT|FUNCTION)$/.test(part.kind))
        throw refusal(497, `the table function ${name} takes constants only`);
    }
  }

  #checkColumns(): void {
    if (this.#hidden.size === 0) return;
    const why = "of tables that describe tables, name the columns; those of sizes cannot be read";
    if (this.#takesAllColumns) throw refusal(497, `* and COLUMNS: ${why}`);
    for (const column of this.#columns) {
      const hidden = column
        .toLowerCase()
        .split(".")
        .find((part) => this.#hidden.has(part));
      if (hidden !== undefined) throw refusal(497, `the column ${hidden}: ${why}`);
    }
  }
}

/** One with a dot looks like that of a table of another database, and does not stand for it. */
const isPlain = (name: string | undefined): name is string => name !== undefined && !name.includes(".");

const notAllowed = (name: string) => refusal(497, `the function ${name} is not allowed`);

/** Whether it may be given its arguments by others, unseen: no text among them is read as a type or a function. */
const isCalledFreely = (name: string): boolean =>
  !TYPE_ARGUMENT.has(name.toLowerCase()) && !NAMES_AGGREGATE.has(name.toLowerCase());

function refuseAddedColumns(names: readonly string[]): void {
  const added = names.find(isAddedColumn);
  if (added !== undefined) throw refusal(497, `the column ${added} tells of the rows of all orgs`);
}

function* descendants(node: TreeNode): Generator<TreeNode> {
  for (const child of node.nodes) {
    yield child;
    yield* descendants(child);
  }
}

const isTuple = (node: TreeNode): boolean =>
  node.kind === "FUNCTION"
    ? membersOf(node).get("function_name") === "tuple"
    : /^(?:, alias: .*)?, constant_value: Tuple_\(/s.test(node.rest) && node.kind === "CONSTANT";

/** Names that the SELECT gives to its own expressions, and to what its lambdas take; not those of its subqueries. */
function* aliasesIn(node: TreeNode): Generator<string> {
  for (const child of node.nodes) {
    const alias = aliasOf(child);
    if (isPlain(alias)) yield alias;
    if (child.kind !== "QUERY" && child.kind !== "UNION") yield* aliasesIn(child);
  }
}

/** `count(*)` reads no column. */
function isCountOfAll(node: TreeNode): boolean {
  if (node.kind !== "FUNCTION" || membersOf(node).get("function_name")?.toLowerCase() !== "count")
    return false;
  const given = node.nodes.flatMap(({ nodes }) => nodes);
  return given.length === 1 && given[0]?.kind === "MATCHER" && given[0].nodes.length === 0;
}

/** One that stands for any number of arguments, so that those behind it have other places than they seem to have. */
const isSpread = (node: TreeNode): boolean =>
  node.kind === "MATCHER" ||
  (node.kind === "FUNCTION" && membersOf(node).get("function_name")?.toLowerCase() === "untuple");

function checkTypeArgument(name: string, given: readonly TreeNode[], place: number): void {
  const at = place < 0 ? given.length + place : place;
  const text = textOf(given[at]);
  if (text === undefined || (place >= 0 && given.slice(0, at).some(isSpread)))
    throw refusal(497, `the type that ${name} takes must be a text of its own`);
  const word = forbiddenInType(text);
  if (word !== undefined) throw refusal(497, `the type ${word} is not allowed`);
}

/** A name, perhaps with numbers and texts as parameters: an expression there would be evaluated. */
const AGGREGATE = /^(\w+)(?:\(\s*(?:-?\d[\d.]*|'[^'\\]*')(?:\s*,\s*(?:-?\d[\d.]*|'[^'\\]*'))*\s*\))?$/;

function checkAggregateArgument(name: string, given: readonly TreeNode[]): void {
  const text = textOf(given[0]);
  const aggregate = AGGREGATE.exec(text ?? "")?.[1];
  if (aggregate === undefined || !isAggregate(aggregate))
    throw refusal(
      497,
      `the aggregate function ${text ?? "without a text of its own"} of ${name} is not allowed`,
    );
}
