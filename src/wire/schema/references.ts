/** Where the references (`$ref`) of a schema lead: to schemas of the same text, in circles, or elsewhere. */
import { keywordOf, type NamedSchema, type SchemaMember, type SchemaNode } from "./schema-tree.ts";

/** Up to so many, looking through a list costs less than an index. */
const FEW = 16;

/** The targets of references in one schema's text. */
export class References {
  readonly #text: string;
  readonly #root: SchemaNode;
  readonly #indexes = new Map<readonly unknown[], ReadonlyMap<string, unknown>>();

  constructor(text: string, root: SchemaNode) {
    this.#text = text;
    this.#root = root;
  }

  /** The reference of a schema, decoded. Undefined where it has none, or one that is no string. */
  of(node: SchemaNode): string | undefined {
    const member = keywordOf(node, "$ref");
    if (member === undefined || this.#text[member.valueStart] !== '"') return undefined;
    return JSON.parse(this.#text.slice(member.valueStart, member.end)) as string;
  }

  /**
   * The schema that a pointer of this text leads to (RFC 6901 in a URI's fragment). Undefined where it leads to none, or the
   * reference is another URI.
   * @param pass hears of each keyword on the way: the schema that has it, and the index of its word
   */
  target(
    reference: string,
    pass?: (node: SchemaNode, key: string, at: number) => void,
  ): SchemaNode | undefined {
    if (reference === "#") return this.#root;
    if (!reference.startsWith("#/")) return undefined;
    const words = reference.slice(2).split("/").map(wordOf);
    let node: SchemaNode | undefined = this.#root;
    for (let at = 0; node !== undefined && at < words.length; ) {
      const keyword: SchemaMember | undefined = this.#find(node.members, words[at], keyOf);
      if (keyword !== undefined) pass?.(node, keyword.key, at);
      at++;
      const schemas: readonly NamedSchema[] = keyword?.schemas ?? [];
      const isValue: boolean = schemas.length === 1 && schemas[0]?.name === "" && words[at] !== "";
      node = (isValue ? schemas[0] : this.#find(schemas, words[at++], nameOf))?.node;
    }
    return node;
  }

  /** The last of that name. */
  #find<T>(list: readonly T[], name: string | undefined, nameOfItem: (item: T) => string): T | undefined {
    if (name === undefined) return undefined;
    if (list.length <= FEW) return list.findLast((item) => nameOfItem(item) === name);
    let index = this.#indexes.get(list) as ReadonlyMap<string, T> | undefined;
    if (index === undefined) {
      index = new Map(list.map((item) => [nameOfItem(item), item]));
      this.#indexes.set(list, index);
    }
    return index.get(name);
  }
}

const keyOf = ({ key }: SchemaMember): string => key;
const nameOf = ({ name }: NamedSchema): string => name;

/** One word of a pointer. */
function wordOf(word: string): string {
  const plain = word.replaceAll("~1", "/").replaceAll("~0", "~");
  if (!plain.includes("%")) return plain;
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/**
 * Whether a schema contains itself, directly or through others: its values may nest without end.
 * @param left keywords that do not count
 */
export function isRecursive(root: SchemaNode, references: References, left: ReadonlySet<string>): boolean {
  const done = new Set<SchemaNode>();
  const open = new Set<SchemaNode>();
  // No recursion: a chain of references may be as long as the schema.
  const stack: { readonly node: SchemaNode; readonly next: SchemaNode[] }[] = [];
  const enter = (node: SchemaNode) => {
    open.add(node);
    stack.push({ node, next: within(node, references, left) });
  };
  enter(root);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const node = top.next.pop();
    if (node === undefined) {
      stack.pop();
      open.delete(top.node);
      done.add(top.node);
    } else if (open.has(node)) return true;
    else if (!done.has(node)) enter(node);
  }
  return false;
}

/** The schemas within a schema, and the one that it refers to. */
function within(node: SchemaNode, references: References, left: ReadonlySet<string>): SchemaNode[] {
  const nodes: SchemaNode[] = [];
  for (const { key, schemas } of node.members) {
    if (left.has(key)) continue;
    for (const schema of schemas) if (schema.node !== undefined) nodes.push(schema.node);
  }
  const reference = references.of(node);
  const target = reference === undefined ? undefined : references.target(reference);
  if (target !== undefined) nodes.push(target);
  return nodes;
}
