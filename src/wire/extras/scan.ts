/** Finds in a body, by the table's rows, what changes a provider's bill. A body without any costs a look-up a member. */
import type { Dialect } from "../../base/endpoint.ts";
import { fail } from "../../base/errors.ts";
import { isAscii, type Member, utf8Of } from "../json/json.ts";
import { type Ask, type Extras, NO_EXTRAS, pointerOf, saidOf } from "../neutral/asked-extras.ts";
import { isObject, type JsonObject, objectOf } from "../neutral/reader.ts";
import { FREE_ANTHROPIC_BETAS, TIER_BETAS } from "./anthropic-rows.ts";
import { SERVICE_TIER } from "./openai-rows.ts";
import { type MemberRow, type PricedTool, type ToolRow, USUAL_MEMORY } from "./rows.ts";
import { bodyTable, laxName, type Table } from "./tables.ts";

type Path = Ask["path"];

/** Larger bounds are none: no provider allows so many uses. */
const MOST_USES = 1_000_000;
/** Names of unlisted members that are kept of one request: they are only counted. */
const MOST_UNLISTED = 16;
/** More than any request needs. Each is sought, held and taken out by itself. */
const MOST_ASKS = 1_000;
const BETAS: ReadonlySet<string> = new Set(FREE_ANTHROPIC_BETAS);

/**
 * @param value the body, checked
 * @param parsed the body as it was parsed, with every member of its text. Its names have been met before, so that a look-up
 *   finds their hashes made
 * @param text of the body, latin1
 */
export function extrasOf(
  table: Table,
  value: JsonObject,
  parsed: object,
  members: readonly Member[],
  text: string,
): Extras {
  let scan: Scan | undefined;
  let isBeyondAscii = false;
  for (const key in parsed) {
    const row = table.members.get(key);
    if (row?.is === "free") continue;
    scan ??= new Scan(table, value);
    if (row !== undefined || isAscii(key)) scan.named(row, key, value[key], [key]);
    else isBeyondAscii = true;
  }
  if (isBeyondAscii) scan?.beyondAscii(members, text);
  return scan?.extras() ?? NO_EXTRAS;
}

/** The same of a provider's own options. */
export function optionExtras(table: Table, options: JsonObject): Extras {
  const scan = new Scan(table, options);
  for (const [key, value] of Object.entries(options)) {
    scan.named(table.members.get(laxName(key)), key, value, [key]);
  }
  return scan.extras();
}

/** Members by which translation asks for a tier. */
const TIER_MEMBERS: readonly string[] = ["service_tier", "serviceTier"];

/** The tier that a translated body asks for. */
export function tierAsks(dialect: Dialect, body: JsonObject): readonly Ask[] {
  const name = TIER_MEMBERS.find((member) => body[member] !== undefined);
  if (name === undefined) return [];
  const table = bodyTable(dialect);
  const scan = new Scan(table, body);
  const row = table.members.get(name);
  if (row !== undefined) scan.member(row, body[name], [name]);
  return scan.extras().asks;
}

/** The extras of a native request. @param tier as it names it */
export function nativeExtras(tier: string): Extras {
  const scan = new Scan(bodyTable("chat"), {});
  if (tier !== "standard_only") scan.member(SERVICE_TIER, tier, ["generation", "service_tier"]);
  return scan.extras();
}

class Scan {
  readonly #table: Table;
  readonly #asks: Ask[] = [];
  readonly #unlisted: string[] = [];
  readonly #uses: { uses?: number };

  constructor(table: Table, body: JsonObject) {
    this.#table = table;
    const { usesAt } = table.rows;
    this.#uses = usesAt === undefined ? {} : usesOf(body[usesAt]);
  }

  extras(): Extras {
    if (this.#asks.length === 0 && this.#unlisted.length === 0) return NO_EXTRAS;
    return { asks: this.#asks, unlisted: this.#unlisted };
  }

  /** @param row of a member that is listed as it is spelled */
  named(row: MemberRow | undefined, key: string, value: unknown, path: Path): void {
    const likely = row ?? this.#table.likely.get(laxName(utf8Of(key)));
    if (row === undefined && this.#unlisted.length < MOST_UNLISTED) this.#unlisted.push(key);
    if (likely !== undefined) this.member(likely, value, path);
  }

  /**
   * Members whose names are beyond ASCII. Parsed as latin1 such a name depends on how it was written, as bytes or with escapes, and
   * two of them may be taken for one: so they go by their place in the text.
   */
  beyondAscii(members: readonly Member[], text: string): void {
    for (const { key, valueStart, valueEnd } of members) {
      if (isAscii(key)) continue;
      this.named(undefined, key, JSON.parse(text.slice(valueStart, valueEnd)), [key]);
    }
  }

  #ask(ask: Ask): void {
    if (this.#asks.length >= MOST_ASKS) {
      const message = `The request asks for more than ${MOST_ASKS} tiers, tools and betas of a provider.`;
      throw fail("invalid_value", message, { param: pointerOf({ path: [ask.path[0]] }) });
    }
    this.#asks.push(ask);
  }

  member(row: MemberRow, value: unknown, path: Path): void {
    if (value === null || value === undefined) return;
    switch (row.is) {
      case "free":
        return;
      case "tier":
        this.#tier(row, value, path);
        return;
      case "tool":
        if (row.always !== true && isOff(value)) return;
        if (row.ids !== undefined && !isListOf(row.ids, value)) {
          this.#unpriced(path, String(path.at(-1)));
          return;
        }
        this.#ask({
          kind: "tool",
          name: row.name,
          path,
          said: saidOf(String(path.at(-1))),
          ...(row.isRead && { isRead: true }),
          ...(row.isPart && { uses: 0 }),
          ...(row.assumed !== undefined && { assumed: row.assumed }),
        });
        return;
      case "tokens":
        this.#ask({
          kind: "tokens",
          name: "tokens",
          path,
          said: saidOf(String(path.at(-1))),
          isRead: true,
        });
        return;
      case "unpriced":
        if (!isOff(value)) this.#unpriced(path, String(path.at(-1)));
        return;
      case "tools":
        this.#tools(value, path);
        return;
      case "betas":
        this.#betas(value, path);
        return;
      case "words":
        if (!Array.isArray(value) || value.some((word) => !row.free.includes(word as string)))
          this.#unpriced(path, `${path.at(-1)}=${sayable(value)}`);
        return;
      case "object":
        this.#object(row.rows, value, path);
        return;
      case "typed":
        this.#typed(row.rows, value, path);
        return;
      case "items":
        if (Array.isArray(value)) this.#items(value, path);
        return;
      case "body":
        this.#body(value, path);
        return;
    }
  }

  #unpriced(path: Path, said: string): void {
    this.#ask({ kind: "tool", name: "", path, said: saidOf(said) });
  }

  #tier(row: Extract<MemberRow, { is: "tier" }>, value: unknown, path: Path): void {
    const { at, aspect, words } = row;
    const word = at === undefined ? value : isObject(value) ? value[at] : value;
    if (word === undefined || word === null) return;
    const isWord = typeof word === "string";
    const name = isWord && Object.hasOwn(words, word) ? words[word] : undefined;
    if (name === "") return;
    const said = saidOf(`${path.at(-1)}=${isWord ? word : typeof word}`);
    this.#ask({ kind: "tier", name: name ?? "", aspect, path, said });
  }

  #object(rows: Readonly<Record<string, MemberRow>>, value: unknown, path: Path): void {
    if (!isObject(value)) {
      this.#unpriced(path, String(path.at(-1)));
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      const row = this.#rowIn(rows, key);
      if (row !== undefined) this.member(row, inner, [...path, key]);
    }
  }

  #body(value: unknown, path: Path): void {
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      const row = laxName(key) === "model" ? ANOTHER_MODEL : this.#table.members.get(key);
      this.named(row, key, inner, [...path, key]);
    }
  }

  #rowIn(rows: Readonly<Record<string, MemberRow>>, key: string): MemberRow | undefined {
    if (Object.hasOwn(rows, key)) return rows[key];
    const found = Object.keys(rows).find((name) => laxName(name) === laxName(key));
    return found === undefined ? undefined : rows[found];
  }

  #typed(rows: Readonly<Record<string, MemberRow>>, value: unknown, path: Path): void {
    if (!Array.isArray(value)) {
      this.#unpriced(path, String(path.at(-1)));
      return;
    }
    for (const [index, element] of value.entries()) {
      const { type } = objectOf(element);
      const row = typeof type === "string" && Object.hasOwn(rows, type) ? rows[type] : undefined;
      if (row === undefined) this.#unpriced([...path, index], `${path.at(-1)}: ${sayable(type)}`);
      else this.member(row, element, [...path, index]);
    }
  }

  /** Scans those items of a conversation that hold tools. The tools of an MCP server are a listing, which offers none. */
  #items(items: readonly unknown[], path: Path): void {
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      if (!isObject(item) || item.tools === undefined || item.type === "mcp_list_tools") continue;
      if (item.tools !== null) this.#tools(item.tools, [...path, index, "tools"]);
    }
  }

  #betas(value: unknown, path: Path): void {
    if (!Array.isArray(value)) {
      this.#unpriced(path, String(path.at(-1)));
      return;
    }
    for (const [index, beta] of value.entries()) {
      const ask = betaAsk(beta, [...path, index]);
      if (ask !== undefined) this.#ask(ask);
    }
  }

  #tools(value: unknown, path: Path): void {
    if (!Array.isArray(value)) {
      this.#unpriced(path, "tools");
      return;
    }
    for (let index = 0; index < value.length; index++) {
      const tool: unknown = value[index];
      const found = this.#rowOf(tool);
      if (found === FREE_TOOL) continue;
      const { type, name, server_label: label } = objectOf(tool);
      const called = [type, name, label].filter((word) => typeof word === "string");
      this.#ask({
        kind: "tool",
        name: found.name,
        path: [...path, index],
        called,
        said: saidOf(saidTool(tool)),
        ...this.#uses,
        ...usesOf(objectOf(tool).max_uses),
        ...(found.isRead && { isRead: true }),
        ...(found.assumed !== undefined && { assumed: found.assumed }),
      });
    }
  }

  #rowOf(tool: unknown): FoundTool {
    if (!isObject(tool)) return UNKNOWN_TOOL;
    if (this.#table.rows.areToolsNamed === true) return this.#namedRow(tool);
    const { type } = tool;
    if (type === "function" || type === "custom")
      return this.#table.tools.has(type) ? FREE_TOOL : UNKNOWN_TOOL;
    if (type === undefined || type === null) return isFunction(tool) ? FREE_TOOL : UNKNOWN_TOOL;
    if (typeof type !== "string") return UNKNOWN_TOOL;
    const { tools, rows } = this.#table;
    const row = tools.get(type) ?? (rows.toolVersion && tools.get(type.replace(rows.toolVersion, "")));
    return row === undefined ? UNKNOWN_TOOL : this.#found(row, tool);
  }

  #found(row: ToolRow, tool: JsonObject): FoundTool {
    switch (row.is) {
      case "free":
        return FREE_TOOL;
      case "tool":
        return isUsualMachine(tool, row.machineAt) ? row : UNKNOWN_TOOL;
      case "group": {
        const held = tool[row.at];
        const isFree = Array.isArray(held) && held.every((inner) => isClientTool(inner));
        return isFree ? FREE_TOOL : UNKNOWN_TOOL;
      }
      case "environment":
        if (objectOf(tool.environment).type === "local") return FREE_TOOL;
        return isUsualMachine(tool, "environment") ? row : UNKNOWN_TOOL;
    }
  }

  /** The first member that is not free counts. */
  #namedRow(tool: JsonObject): FoundTool {
    for (const key of Object.keys(tool)) {
      const row = this.#table.tools.get(laxName(key));
      if (row === undefined) return UNKNOWN_TOOL;
      const found = this.#found(row, tool);
      if (found !== FREE_TOOL) return found;
    }
    return FREE_TOOL;
  }
}

type FoundTool = Omit<PricedTool, "is">;

/** Only the gateway names the model that answers. */
const ANOTHER_MODEL: MemberRow = { is: "unpriced" };
const FREE_TOOL: FoundTool = { name: "free" };
const UNKNOWN_TOOL: FoundTool = { name: "" };

/** A tool without a type is a function if it contains or is one: clients of Mistral and Anthropic send no type. */
const isFunction = ({ function: fn, name }: JsonObject): boolean => isObject(fn) || typeof name === "string";

/** Whether the tool runs on a machine at its price. A named container was made by somebody else, of any size. */
function isUsualMachine(tool: JsonObject, at: string | undefined): boolean {
  const machine = at === undefined ? undefined : tool[at];
  if (machine === undefined || machine === null) return true;
  const memory = objectOf(machine).memory_limit;
  return isObject(machine) && (memory === undefined || memory === null || memory === USUAL_MEMORY);
}

const isListOf = (ids: readonly string[], value: unknown): boolean =>
  Array.isArray(value) && value.every((element) => ids.includes(objectOf(element).id as string));

const isClientTool = (tool: unknown): boolean =>
  isObject(tool) && (tool.type === "function" || tool.type === "custom");

/** Elements of a list that a warning shows. */
const MOST_WORDS = 8;

/** A value as words of a warning. An object may have a `toString` that is no function, and a list a million elements. */
function sayable(value: unknown): string {
  if (Array.isArray(value)) return value.slice(0, MOST_WORDS).map(wordOf).join();
  return wordOf(value);
}

const wordOf = (value: unknown): string => (typeof value === "object" ? "object" : String(value));

const saidTool = (tool: unknown): string => {
  if (!isObject(tool)) return "tool";
  return typeof tool.type === "string" ? tool.type : (Object.keys(tool)[0] ?? "tool");
};

const usesOf = (value: unknown): { uses?: number } =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0
    ? { uses: Math.min(value, MOST_USES) }
    : {};

const isOff = (value: unknown): boolean =>
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** What a beta asks for; undefined if it costs nothing. */
export function betaAsk(beta: unknown, path: Path): Ask | undefined {
  if (typeof beta !== "string") return { kind: "tool", name: "", path, said: "beta" };
  if (BETAS.has(beta)) return undefined;
  const tier = Object.hasOwn(TIER_BETAS, beta) ? TIER_BETAS[beta] : undefined;
  const said = saidOf(beta);
  return tier === undefined
    ? { kind: "tool", name: "", path, said }
    : { kind: "beta", name: tier, path, said };
}
