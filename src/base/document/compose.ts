/**
 * Composes YAML text within bounds that are checked before any node is made: the parser's time grows with what a text
 * holds and how deep, not with its length alone, and 64 KB of brackets kept a thread for seconds. First the text's tokens
 * are counted, then its depth is watched while they are put together; either stops at the first that is too many. What
 * aliases add up to is counted once more over the nodes, each only once.
 */
import {
  Composer,
  CST,
  type Document,
  isAlias,
  isCollection,
  isNode,
  isPair,
  Lexer,
  Parser,
  YAMLParseError,
} from "yaml";

export interface DocumentBounds {
  /** Lists and mappings within one another. */
  readonly depth: number;
  /** Words, and signs that have a meaning, such as a dash, a colon or a bracket. */
  readonly tokens: number;
  /** Runs of spaces, ends of lines, and comments. */
  readonly blanks: number;
  readonly anchorsAndAliases: number;
  /** Values, those that stand behind an alias counted at each alias. */
  readonly values: number;
}

/**
 * What tenants send: whatever is read within these takes a processor less than 50 ms. 64 KB of block style with the shortest
 * names that catalogs have, one a line, hold three quarters of it.
 */
export const TENANT_BOUNDS: DocumentBounds = {
  depth: 32,
  tokens: 16_384,
  blanks: 24_576,
  anchorsAndAliases: 1_000,
  values: 32_768,
};

/** The operator's own files, such as a catalog of thousands of models. */
export const OPERATOR_BOUNDS: DocumentBounds = {
  depth: 64,
  tokens: 2_000_000,
  blanks: 2_000_000,
  anchorsAndAliases: 1_000,
  values: 2_000_000,
};

/** Where a text breaks a bound, or what is wrong with it. */
export interface Fault {
  readonly offset: number;
  readonly message: string;
}

export type Composed =
  | { readonly ok: true; readonly doc: Document }
  | { readonly ok: false; readonly faults: readonly Fault[] };

export function composeWithin(text: string, bounds: DocumentBounds): Composed {
  const { tokens, fault: surplus } = tokensOf(text, bounds);
  const tree = treeOf(tokens, bounds);
  if (!Array.isArray(tree)) return { ok: false, faults: [tree] };
  if (surplus !== undefined) return { ok: false, faults: [surplus] };
  const doc = composed(tree, text.length);
  if (doc.errors.length > 0) return { ok: false, faults: syntaxFaults(doc.errors) };
  const fault = aliasFault(doc, bounds);
  return fault === undefined ? { ok: true, doc } : { ok: false, faults: [fault] };
}

/** Stand for no text. */
const MARKS: ReadonlySet<string> = new Set([CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]);
const BLANKS: ReadonlySet<string> = new Set([" ", "\t", "\n", "\r", "#"]);

/** The tokens up to the first that is too many. The lexer takes time in proportion to the length, whatever the text is. */
function tokensOf(text: string, bounds: DocumentBounds): { tokens: string[]; fault?: Fault } {
  const tokens: string[] = [];
  let [counted, blanks, named, offset] = [0, 0, 0, 0];
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    tokens.push(token);
    if (MARKS.has(token) && !isScalar) {
      isScalar = token === CST.SCALAR;
      continue;
    }
    const first = token[0] ?? "";
    if (!isScalar && BLANKS.has(first)) blanks++;
    else counted++;
    if (!isScalar && (first === "*" || first === "&")) named++;
    isScalar = false;
    const surplus =
      counted > bounds.tokens
        ? `${bounds.tokens} words and signs`
        : blanks > bounds.blanks
          ? `${bounds.blanks} gaps, line ends and comments`
          : named > bounds.anchorsAndAliases
            ? `${bounds.anchorsAndAliases} anchors and aliases`
            : undefined;
    if (surplus !== undefined) return { tokens, fault: { offset, message: `holds more than ${surplus}` } };
    offset += token.length;
  }
  return { tokens };
}

/** The syntax tree's roots: the document, and what stands around it. */
function treeOf(tokens: readonly string[], { depth }: DocumentBounds): CST.Token[] | Fault {
  const parser = new Parser();
  const roots: CST.Token[] = [];
  for (const token of tokens) {
    const { offset } = parser;
    for (const root of parser.next(token)) roots.push(root);
    // Below the collections is the document, above them may be a scalar.
    const levels = parser.stack.length - 1;
    if (levels > depth && (levels > depth + 1 || CST.isCollection(parser.stack.at(-1)))) {
      return { offset, message: `is nested too deeply: at most ${depth} levels are read` };
    }
  }
  for (const root of parser.end()) roots.push(root);
  return roots;
}

/** The first document; a second one is an error of it. */
function composed(tree: readonly CST.Token[], length: number): Document {
  // Text of which each character is wrong causes as many errors, and what costs is where in the program they were made.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    let doc: Document | undefined;
    for (const next of new Composer(PARSING).compose(tree, true, length)) {
      if (doc === undefined) doc = next;
      else {
        const [from, to] = next.range;
        doc.errors.push(new YAMLParseError([from, to], "MULTIPLE_DOCS", "holds more than one document"));
        break;
      }
    }
    if (doc === undefined) throw new Error("the composer always makes a document");
    return doc;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Duplicate keys are searched by the caller: the composer compares each with each, and would print warnings about user input. */
const PARSING = { prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
/** One mistake may cause a thousand errors. */
const MAX_SYNTAX_ERRORS = 20;

function syntaxFaults(errors: readonly YAMLParseError[]): Fault[] {
  const second = errors.find(({ code }) => code === "MULTIPLE_DOCS");
  return (second === undefined ? errors.slice(0, MAX_SYNTAX_ERRORS) : [second]).map(({ pos, message }) => ({
    offset: pos[0],
    message,
  }));
}

/** An alias of nothing, of what it stands in, or aliases of aliases, whose sum doubles at every step. */
function aliasFault(doc: Document, bounds: DocumentBounds): Fault | undefined {
  /** Values behind each anchor, by the last node of that name; undefined while it is read. */
  const sizes = new Map<string, number | undefined>();
  let fault: Fault | undefined;
  const sizeOf = (node: unknown): number => {
    if (fault !== undefined) return 0;
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value);
    if (!isNode(node)) return 0;
    if (isAlias(node)) {
      const size = sizes.get(node.source);
      if (size !== undefined) return size;
      const message = sizes.has(node.source)
        ? `*${node.source} is inside the value that &${node.source} names`
        : `nothing before *${node.source} has the anchor &${node.source}`;
      fault = { offset: node.range?.[0] ?? 0, message };
      return 0;
    }
    if (node.anchor !== undefined) sizes.set(node.anchor, undefined);
    let size = 1;
    if (isCollection(node)) for (const item of node.items) size += sizeOf(item);
    if (node.anchor !== undefined) sizes.set(node.anchor, size);
    return size;
  };
  const size = sizeOf(doc.contents);
  if (fault === undefined && size > bounds.values) {
    fault = { offset: 0, message: "its aliases multiply too far" };
  }
  return fault;
}
