/**
 * Tools of a responses request in neutral terms: functions, tools with input in free form, those in named groups, and those of
 * OpenAI's that the client runs. They stand in `tools`, and in items of the input by which a conversation gets more of them.
 */

import { fail } from "../../base/errors.ts";
import { wrong } from "../neutral/fields.ts";
import type { Grammar, NeutralTool, OwnKind } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { NO_PARAMETERS } from "../neutral/tool-arguments.ts";
import { parametersOfInput } from "../tool-kinds/input.ts";
import { ToolList } from "../tool-kinds/tool-list.ts";
import { OWN_FUNCTIONS, ownKindOf } from "./own-tools.ts";

/** A tool while it is read: set member by member, since a request may have hundreds of tools. */
type Offered = { -readonly [K in keyof NeutralTool]: NeutralTool[K] };

/** Reads tools wherever they stand. */
export class ToolReader {
  readonly #source: Source;
  readonly #dropped: string[];
  /** By the name that every dialect is told. */
  readonly #tools: ToolList;
  /** Made for the first tool: most requests have none. */
  #given: ToolNames | undefined;

  constructor(source: Source, dropped: string[]) {
    this.#source = source;
    this.#dropped = dropped;
    this.#tools = new ToolList(dropped);
  }

  get #names(): ToolNames {
    this.#given ??= new ToolNames();
    return this.#given;
  }

  get tools(): NeutralTool[] {
    return this.#tools.tools;
  }

  get isEmpty(): boolean {
    return this.#tools.size === 0;
  }

  /** @param at JSON pointer of the list */
  read(tools: unknown, at: string): void {
    for (const [index, tool] of listOf(tools).entries()) this.#tool(objectOf(tool), `${at}/${index}`, "");
  }

  /** The names of tools in a list, as the model knows them. */
  namesOf(tools: unknown): string[] {
    return listOf(tools).flatMap((tool) => {
      const { type, name, tools: within } = flat(objectOf(tool));
      if (typeof name !== "string") return [];
      if (type !== "namespace") return [this.nameOf("", name)];
      return listOf(within).flatMap((one) => {
        const inner = flat(objectOf(one)).name;
        return typeof inner === "string" ? [this.nameOf(name, inner)] : [];
      });
    });
  }

  /** The one name that stands for a group's and a tool's within, as every other dialect has one. */
  nameOf(namespace: unknown, name: string): string {
    const own = this.#source.whole(name);
    if (typeof namespace !== "string" || namespace === "") return this.#names.ofPlain(own);
    const group = this.#source.whole(namespace);
    return this.#names.of(`${group}\0${own}`, `${group}__${own}`);
  }

  /** The name of a tool that the client runs, of which there is one. */
  nameOfKind(kind: OwnKind): string {
    return this.#names.of(kind, kind);
  }

  #tool(given: JsonObject, at: string, namespace: string): void {
    const tool = flat(given);
    const { type } = tool;
    if (type === "namespace" && namespace === "") this.#group(tool, at);
    else if (isFunction(tool)) this.#add(tool, at, namespace, this.#functionOf(tool));
    else if (type === "custom") this.#add(tool, at, namespace, this.#customOf(tool));
    else this.#own(tool, at);
  }

  #own(tool: JsonObject, at: string): void {
    const kind = ownKindOf(tool);
    // A search that the provider runs finds tools that are not offered yet; here all are offered.
    if (kind === undefined) this.#dropped.push(at);
    else if (kind === "tool_search") this.#search(tool, at);
    else this.#offer(at, { name: this.nameOfKind(kind), kind, ...OWN_FUNCTIONS[kind] });
  }

  #group(group: JsonObject, at: string): void {
    const { name, tools } = group;
    if (typeof name !== "string") throw wrong(`${at}/name`, "a string");
    for (const [index, tool] of listOf(tools).entries())
      this.#tool(objectOf(tool), `${at}/tools/${index}`, name);
  }

  #add(tool: JsonObject, at: string, namespace: string, rest: Omit<NeutralTool, "name">): void {
    const { name: given, description } = tool;
    if (typeof given !== "string") throw wrong(`${at}/name`, "a string");
    const own = this.#source.whole(given);
    const name = this.nameOf(namespace, own);
    const offered: Offered = { name, parameters: rest.parameters };
    if (typeof description === "string") offered.description = description;
    if (rest.strict !== undefined) offered.strict = rest.strict;
    if (rest.kind !== undefined) offered.kind = rest.kind;
    if (rest.grammar !== undefined) offered.grammar = rest.grammar;
    if (name !== own) {
      const group = this.#source.whole(namespace) || undefined;
      offered.within = { name: own, namespace: group };
    }
    this.#offer(at, offered);
  }

  /** @throws WeirError `invalid_value` beyond the number that a list of tools may have */
  #offer(at: string, tool: NeutralTool): void {
    if (at.startsWith("/tools/")) this.#tools.add(tool, at);
    else this.#tools.renew(tool, at);
    if (this.#tools.size <= MAX_TOOLS) return;
    throw fail("invalid_value", `The request has more than ${MAX_TOOLS} tools.`, { param: at });
  }

  #functionOf({ parameters, input_schema: other, strict }: JsonObject): Omit<NeutralTool, "name"> {
    const schema = this.#source.json(parameters ?? other) ?? NO_PARAMETERS;
    return typeof strict === "boolean" ? { parameters: schema, strict } : { parameters: schema };
  }

  #customOf({ format }: JsonObject): Omit<NeutralTool, "name"> {
    const grammar = this.#grammarOf(objectOf(format));
    return { kind: "custom", parameters: parametersOfInput(grammar), ...(grammar && { grammar }) };
  }

  /** Whole, since it goes into the text of a schema. The chat format has it in a member of its own. */
  #grammarOf({ type, grammar, ...rest }: JsonObject): Grammar | undefined {
    const { syntax, definition } = isObject(grammar) ? grammar : rest;
    if (type !== "grammar" || typeof syntax !== "string" || typeof definition !== "string") return undefined;
    return { syntax: this.#source.whole(syntax), definition: this.#source.whole(definition) };
  }

  #search({ description: given, parameters }: JsonObject, at: string): void {
    const kind = "tool_search";
    const schema = this.#source.json(parameters) ?? NO_PARAMETERS;
    const description = typeof given === "string" ? given : SEARCH;
    this.#offer(at, { name: this.nameOfKind(kind), kind, description, parameters: schema });
  }
}

/** The tool itself of one in the shape of the chat format, where it stands in a member (Wei-Shaw/sub2api#5861). */
function flat(tool: JsonObject): JsonObject {
  const { type = "function" } = tool;
  const nested = type === "function" || type === "custom" ? tool[type] : undefined;
  return isObject(nested) ? { type, ...nested, ...tool } : tool;
}

/** A tool of Anthropic's `custom` type has a schema. */
const isFunction = ({ type, name, input_schema: schema }: JsonObject): boolean =>
  type === "function" || (type == null && typeof name === "string") || (type === "custom" && schema != null);

/** Gives each tool a name that no other has: two groups and their tools may join to the same one, and to that of a function. */
class ToolNames {
  /** By what the client names the tool; those in no group apart, since a group and a name may read like one. */
  readonly #known = new Map<string, string>();
  readonly #plain = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** How often a name was wanted by another tool than its own. */
  readonly #tries = new Map<string, number>();

  /** That of a tool in no group. */
  ofPlain(name: string): string {
    return this.#of(name, name, this.#plain);
  }

  /** @param key what the client names the tool, the same at every call of it */
  of(key: string, wanted: string): string {
    return this.#of(key, wanted, this.#known);
  }

  #of(key: string, wanted: string, names: Map<string, string>): string {
    const known = names.get(key);
    if (known !== undefined) return known;
    let name = wanted;
    while (this.#taken.has(name)) {
      const count = (this.#tries.get(wanted) ?? 1) + 1;
      this.#tries.set(wanted, count);
      name = `${wanted}_${count}`;
    }
    names.set(key, name);
    this.#taken.add(name);
    return name;
  }
}

/** As many as a list of tools may have at the top. */
const MAX_TOOLS = 1000;

const SEARCH = "Finds further tools, which can be called from then on.";
