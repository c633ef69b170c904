/**
 * Reads what `EXPLAIN QUERY TREE run_passes = 0` prints: the engine's own tree of a statement before any name is looked up and
 * anything is computed. A line is a node (`FUNCTION id: 5, function_name: plus, …`) or the heading of a part of the node above
 * it (`ARGUMENTS`). Nodes are numbered from 0 in the order of their lines: a line that a name forged would break the order.
 */
import { refusal } from "./engine-error.ts";

export interface TreeNode {
  readonly kind: string;
  /** The rest of the line, after the number. */
  readonly rest: string;
  /** The heading above it, without what some of them repeat of the statement. */
  readonly part: string;
  readonly nodes: TreeNode[];
}

const KINDS = new Set([
  "QUERY",
  "UNION",
  "LIST",
  "FUNCTION",
  "CONSTANT",
  "IDENTIFIER",
  "LAMBDA",
  "MATCHER",
  "TABLE_FUNCTION",
  "JOIN",
  "CROSS JOIN",
  "ARRAY_JOIN",
  "SORT",
  "WINDOW",
  "INTERPOLATE",
  "APPLY COLUMN TRANSFORMER",
  "EXCEPT COLUMN TRANSFORMER",
  "REPLACE COLUMN TRANSFORMER",
]);

/** Headings as they are printed; after those of the second list a part of the statement follows. */
const HEADINGS = new Set([
  "WITH",
  "PROJECTION",
  "JOIN TREE",
  "PREWHERE",
  "WHERE",
  "GROUP BY",
  "HAVING",
  "WINDOW",
  "QUALIFY",
  "ORDER BY",
  "INTERPOLATE",
  "LIMIT BY LIMIT",
  "LIMIT BY OFFSET",
  "LIMIT BY",
  "LIMIT",
  "OFFSET",
  "QUERIES",
  "ARGUMENTS",
  "PARAMETERS",
  "EXPRESSION",
  "PARTITION BY",
  "INTERPOLATE_EXPRESSION",
  "TABLE EXPRESSION",
  "LEFT TABLE EXPRESSION",
  "RIGHT TABLE EXPRESSION",
  "JOIN EXPRESSION",
  "JOIN EXPRESSIONS",
  "FRAME BEGIN OFFSET",
  "FRAME END OFFSET",
  "FILL FROM",
  "FILL TO",
  "FILL STEP",
  "FILL STALENESS",
]);
const WITH_TEXT = /^(EXPRESSION|REPLACEMENTS|REPLACEMENT NAME) ./;

const NODE = /^([A-Z_]+(?: [A-Z]+)*) id: (\d+)(.*)$/s;

interface Open {
  readonly indent: number;
  readonly node: TreeNode | undefined;
  readonly part: string;
}

/**
 * @param lines as the engine prints them
 * @throws EngineError where a line is neither a known node nor a known heading
 */
export function readTree(lines: readonly string[]): TreeNode {
  const root: TreeNode = { kind: "", rest: "", part: "", nodes: [] };
  const open: Open[] = [{ indent: -1, node: root, part: "" }];
  let next = 0;
  for (const line of lines) {
    const text = line.trimStart();
    if (text === "") continue;
    const indent = line.length - text.length;
    while (open.length > 1 && (open.at(-1)?.indent ?? 0) >= indent) open.pop();
    const part = open.at(-1)?.part ?? "";
    const found = NODE.exec(text);
    const kind = found?.[1] ?? "";
    if (!KINDS.has(kind)) {
      open.push({ indent, node: undefined, part: headingOf(text.trimEnd()) });
      continue;
    }
    if (Number(found?.[2]) !== next++) throw refusal(164, `a name that looks like ${text.slice(0, 40)}`);
    const node: TreeNode = { kind, rest: found?.[3] ?? "", part, nodes: [] };
    open.findLast((above) => above.node !== undefined)?.node?.nodes.push(node);
    open.push({ indent, node, part: "" });
  }
  const [top] = root.nodes;
  if (top === undefined || root.nodes.length !== 1 || !/^(?:QUERY|UNION)$/.test(top.kind))
    throw refusal(164, "only SELECT");
  return top;
}

function headingOf(text: string): string {
  const heading = WITH_TEXT.exec(text)?.[1] ?? text;
  if (HEADINGS.has(heading) || /^REPLACEMENTS?/.test(heading)) return heading;
  const clause = /^[A-Z_]+(?: [A-Z_]+)*/.exec(text)?.[0] ?? text.slice(0, 20);
  throw refusal(164, `the clause ${clause} is not allowed`);
}

/** Those of a SELECT and of a union. */
const OF_QUERIES = ["alias", "is_subquery", "is_cte", "is_recursive_cte", "is_materialized", "cte_name"];

/** Members that lines may have. What is not among them may change what is read, as `stream` of a table. */
const MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  QUERY: new Set([
    ...OF_QUERIES,
    "is_distinct",
    "is_limit_with_ties",
    "is_group_by_with_totals",
    "is_group_by_all",
    "is_order_by_all",
    "is_limit_by_all",
    "group_by_type",
    "is_recursive_with",
    "constant_value",
  ]),
  UNION: new Set([...OF_QUERIES, "union_mode"]),
  IDENTIFIER: new Set(["alias", "identifier", "final", "sample_size", "sample_offset"]),
  TABLE_FUNCTION: new Set(["alias", "table_function_name", "final"]),
  FUNCTION: new Set(["alias", "function_name", "function_type", "nulls_action"]),
};

/**
 * The members of a node's line. No name contains `, x:` (`analyst-text.ts`), so that they can be told apart.
 * @throws EngineError where one is unknown
 */
export function membersOf(node: TreeNode): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  if (node.rest === "") return members;
  for (const member of node.rest.slice(2).split(/, (?=\w+ ?: )/)) {
    const [, name = member, value = ""] = /^(\w+) ?: (.*)$/s.exec(member) ?? [];
    const isKnown = MEMBERS[node.kind]?.has(name) === true && !members.has(name);
    if (!isKnown || (name === "final" && !/^[01]$/.test(value)))
      throw refusal(164, `"${member}" of ${node.kind} is not allowed`);
    members.set(name, value);
  }
  return members;
}

/** The name that the statement gives to the node, also to a constant, a lambda or a subquery; undefined without one. */
export const aliasOf = ({ rest }: TreeNode): string | undefined =>
  /^, alias: (.*?)(?=, \w+ ?: |$)/s.exec(rest)?.[1];

/** The text that the node is, if it is a constant text. */
export function textOf(node: TreeNode | undefined): string | undefined {
  if (node?.kind !== "CONSTANT") return undefined;
  const found = /, constant_value: '((?:[^'\\]|\\.)*)', constant_value_type: String$/s.exec(node.rest)?.[1];
  return found?.replace(/\\(.)/gs, (_, letter: string) => ESCAPED[letter] ?? letter);
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", 0: "\0" };
