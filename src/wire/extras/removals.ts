/** Edits that take asks out of a body that passes as bytes, and with them what only refers to them. */
import { append } from "../json/append.ts";
import { type Edit, isAscii, type Member, memberOf, moved, removeMembers, skim } from "../json/json.ts";
import { removeSpans, spansOf } from "../json/spans.ts";
import { type Ask, pointerOf } from "../neutral/asked-extras.ts";
import { isObject, listOf, objectOf } from "../neutral/reader.ts";

export interface Removals {
  readonly edits: readonly Edit[];
  /** Whole members. No edit touches them. */
  readonly remove: readonly string[];
  /** JSON pointers of all that goes, also of what only referred to it. */
  readonly pointers: readonly string[];
}

export const NO_REMOVALS: Removals = Object.freeze({ edits: [], remove: [], pointers: [] });

interface Branch {
  isGone: boolean;
  readonly inner: Map<string | number, Branch>;
}

/** @param dropped asks of this body */
export function removalsOf(bytes: Buffer, members: readonly Member[], dropped: readonly Ask[]): Removals {
  const remove = new Set<string>();
  const pointers = dropped.map((ask) => pointerOf(ask));
  const edits: Edit[] = [];
  const textOf = ({ valueStart, valueEnd }: Member) => bytes.toString("latin1", valueStart, valueEnd);
  const refer = (name: string, gone: (text: string) => "all" | readonly Edit[]) => {
    const member = memberOf(members, name);
    if (member === undefined || remove.has(name)) return;
    const found = gone(textOf(member));
    if (found !== "all" && found.length === 0) return;
    pointers.push(`/${name}`);
    if (found === "all") remove.add(name);
    else append(edits, moved(found, member.valueStart));
  };
  for (const [name, branch] of treeOf(dropped).inner) {
    const member = memberOf(members, name as string);
    if (member === undefined) continue;
    const text = textOf(member);
    if (branch.isGone || isAllOf(text, branch)) remove.add(name as string);
    else append(edits, moved(editsIn(text, branch), member.valueStart));
  }
  const tools = dropped.filter(({ called }) => called !== undefined);
  if (tools.length === 0) return { edits, remove: [...remove], pointers };
  if (remove.has("tools")) {
    refer("tool_choice", (text) => (isPlainChoice(text) ? [] : "all"));
    if (remove.has("tool_choice")) refer("parallel_tool_calls", () => "all");
    else
      for (const name of ["tool_choice", "parallel_tool_calls"])
        if (memberOf(members, name)) remove.add(name);
  } else {
    refer("tool_choice", (text) => choiceEdits(text, tools));
    if (tools.some(({ said }) => CALLERS.test(said))) append(edits, callerEdits(bytes, members, tools));
  }
  refer("include", (text) => includeEdits(text, tools));
  return { edits, remove: [...remove], pointers };
}

function treeOf(asks: readonly Ask[]): Branch {
  const root: Branch = { isGone: false, inner: new Map() };
  for (const { path } of asks) {
    let branch = root;
    for (const step of path) {
      const next = branch.inner.get(step) ?? { isGone: false, inner: new Map() };
      branch.inner.set(step, next);
      branch = next;
    }
    branch.isGone = true;
  }
  return root;
}

/** Whether every element of a list goes. */
function isAllOf(text: string, { inner }: Branch): boolean {
  if (!text.startsWith("[")) return false;
  return spansOf(text).every((_, index) => inner.get(index)?.isGone === true);
}

/** @param text JSON of a list or an object */
function editsIn(text: string, { inner }: Branch): Edit[] {
  const edits: Edit[] = [];
  const isGone = (key: string | number) => inner.get(key)?.isGone === true;
  const within = (key: string | number, start: number, end: number) => {
    const branch = inner.get(key);
    if (branch === undefined || branch.isGone) return;
    append(edits, moved(editsIn(text.slice(start, end), branch), start));
  };
  if (text.startsWith("[")) {
    const spans = spansOf(text);
    const goes = spans.map((_, index) => isGone(index));
    append(edits, removeSpans(spans, goes));
    for (const [index, { start, end }] of spans.entries()) within(index, start, end);
  } else if (text.startsWith("{")) {
    const { members } = skim(text);
    const gone = members.filter((member) => isGone(parsedName(text, member))).map(({ key }) => key);
    append(edits, removeMembers(members, gone));
    for (const member of members) within(parsedName(text, member), member.valueStart, member.valueEnd);
  }
  return edits;
}

/** The member's name as a path has it: a name with escapes beyond ASCII is parsed to other characters than its bytes are. */
const parsedName = (text: string, { key, start, keyEnd }: Member): string =>
  isAscii(key) ? key : (JSON.parse(text.slice(start, keyEnd)) as string);

/** A choice that has no effect without tools. */
const isPlainChoice = (text: string): boolean =>
  ['"auto"', '"none"', '{"type":"auto"}', '{"type":"none"}'].includes(text.replace(/\s/g, ""));

/** What a choice may call a tool: its type with or without its version, or its name. */
const callsOf = (tools: readonly Ask[]): ReadonlySet<string> =>
  new Set(tools.flatMap(({ called = [] }) => called.flatMap((word) => [word, unversioned(word)])));

const unversioned = (type: string): string => type.replace(/_(?:\d{8}|\d{4}_\d{2}_\d{2})$/, "");

function choiceEdits(text: string, tools: readonly Ask[]): "all" | readonly Edit[] {
  const choice: unknown = JSON.parse(text);
  if (!isObject(choice)) return [];
  const calls = callsOf(tools);
  const isGone = (value: unknown): boolean => {
    const { type, name, server_label: label } = objectOf(value);
    if (typeof type === "string" && calls.has(unversioned(type)) && type !== "function" && type !== "custom")
      return label === undefined || (typeof label === "string" && calls.has(label));
    return type === "tool" && typeof name === "string" && calls.has(name);
  };
  const at = isObject(choice.allowed_tools) ? ["allowed_tools", "tools"] : ["tools"];
  const allowed = listOf(isObject(choice.allowed_tools) ? choice.allowed_tools.tools : choice.tools);
  if (choice.type !== "allowed_tools") return isGone(choice) ? "all" : [];
  const gone = allowed.flatMap((value, index) => (isGone(value) ? [index] : []));
  if (gone.length === 0) return [];
  if (gone.length === allowed.length) return "all";
  return editsIn(text, treeOf(gone.map((index) => ({ path: [...at, index] }) as unknown as Ask)));
}

/** Output that only a tool of these gives: `web_search_call.action.sources`. */
function includeEdits(text: string, tools: readonly Ask[]): "all" | readonly Edit[] {
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) return [];
  const calls = new Set([...callsOf(tools)].map((word) => `${word.replace(/_preview$/, "")}_call`));
  const goes = entries.map((entry) => typeof entry === "string" && calls.has(entry.split(".")[0] ?? ""));
  if (!goes.includes(true)) return [];
  return goes.includes(false) ? removeSpans(spansOf(text), goes) : "all";
}

/** Tools in which code of the provider's calls the client's tools. */
const CALLERS = /^(?:code_execution|programmatic_tool_calling)/;

/** Client tools name those that may call them: without these the provider would refuse them. */
function callerEdits(bytes: Buffer, members: readonly Member[], tools: readonly Ask[]): Edit[] {
  const member = memberOf(members, "tools");
  if (member === undefined) return [];
  const gone = new Set(tools.map(({ path }) => path[1]));
  const text = bytes.toString("latin1", member.valueStart, member.valueEnd);
  const edits = spansOf(text).flatMap(({ start, end }, index) => {
    const tool = text.slice(start, end);
    if (gone.has(index) || !tool.includes('"allowed_callers"')) return [];
    return moved(removeMembers(skim(tool).members, ["allowed_callers"]), start);
  });
  return moved(edits, member.valueStart);
}
