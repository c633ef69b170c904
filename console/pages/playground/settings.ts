/**
 * What is asked beside the messages: how it is typed, what is wrong with it, and what of a request it is. Pure: a text that is no good is
 * told of at its field, and nothing is sent meanwhile.
 */
import { type Fields, isFields, textOf } from "./message.ts";

/** As typed. */
export interface Settings {
  readonly system: string;
  readonly maxTokens: string;
  readonly temperature: string;
  /** Empty: as the model does by itself. */
  readonly effort: string;
  /** JSON: a list of tools. */
  readonly tools: string;
  /** JSON: an object with members that have no field of their own. */
  readonly more: string;
}

export const NO_SETTINGS: Settings = {
  system: "",
  maxTokens: "",
  temperature: "",
  effort: "",
  tools: "",
  more: "",
};

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** What is wrong, by the field. */
export type Faults = Partial<Record<keyof Settings, string>>;

export interface ReadSettings {
  readonly faults: Faults;
  /** Members of the body beside model and messages; those whose text is no good are left out. */
  readonly members: Fields;
}

export const MOST_TOOLS = 128;
/** Members of a body that the page has fields for. */
const OWN = ["model", "messages", "stream", "tools"];

export function readSettings(typed: Settings): ReadSettings {
  const faults: Faults = {};
  const read = <T>(field: keyof Settings, reader: (text: string) => T): T | undefined => {
    const text = typed[field].trim();
    if (text === "") return undefined;
    try {
      return reader(text);
    } catch (error) {
      faults[field] = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  };
  const maxTokens = read("maxTokens", wholeNumber);
  const temperature = read("temperature", degree);
  const tools = read("tools", toolsOf);
  const more = read("more", moreOf) ?? {};
  const { reasoning, ...others } = isFields(more.generation) ? more.generation : {};
  const generation = defined({
    ...others,
    max_tokens: maxTokens,
    temperature,
    reasoning:
      typed.effort === ""
        ? reasoning
        : { ...(isFields(reasoning) ? reasoning : { show: true }), effort: typed.effort },
  });
  const members = defined({
    ...more,
    generation: Object.keys(generation).length === 0 ? undefined : generation,
    tools: tools?.length === 0 ? undefined : tools,
  });
  return { faults, members };
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new Error("A whole number from 1.");
}

function degree(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0 && value <= 2) return value;
  throw new Error("A number from 0 to 2.");
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}

/** Tools as the native format has them; those of chat completions are taken, too. */
function toolsOf(text: string): readonly Fields[] {
  const list = json(text);
  if (!Array.isArray(list)) throw new Error('A list is wanted: [{ "name": …, "parameters": { … } }].');
  if (list.length > MOST_TOOLS) throw new Error(`At most ${MOST_TOOLS} tools.`);
  const names = new Set<string>();
  return list.map((each, at) => {
    const place = `Tool ${at + 1}`;
    if (!isFields(each)) throw new Error(`${place} is no object.`);
    const tool = each.type === "function" && isFields(each.function) ? each.function : each;
    const name = textOf(tool.name);
    if (name === "") throw new Error(`${place} has no "name".`);
    if (names.has(name)) throw new Error(`${place}: there is another tool "${name}".`);
    names.add(name);
    if (tool.description !== undefined && typeof tool.description !== "string")
      throw new Error(`${name}: "description" is no text.`);
    if (tool.parameters !== undefined && !isFields(tool.parameters))
      throw new Error(`${name}: "parameters" is no JSON Schema of an object.`);
    const strange = Object.keys(tool).find(
      (key) => !["name", "description", "parameters", "strict", "cache"].includes(key),
    );
    if (strange !== undefined) throw new Error(`${name}: "${strange}" is no member of a tool.`);
    return tool;
  });
}

function moreOf(text: string): Fields {
  const value = json(text);
  if (!isFields(value)) throw new Error("An object is wanted: { … }.");
  const own = OWN.find((member) => member in value);
  if (own !== undefined) throw new Error(`"${own}" has a field of its own on this page.`);
  if (value.generation !== undefined && !isFields(value.generation))
    throw new Error('"generation" is no object.');
  const candidates = isFields(value.generation) ? value.generation.candidates : undefined;
  if (candidates !== undefined && candidates !== 1)
    throw new Error('This page shows one answer: take "candidates" out.');
  return value;
}

/** Settings as typed, from the members of a request. */
export function typedSettings(request: Fields, system: string): Settings {
  const { model: _model, messages: _messages, stream: _stream, tools, generation = {}, ...more } = request;
  const {
    max_tokens: maxTokens,
    temperature,
    reasoning,
    candidates: _,
    ...others
  } = isFields(generation) ? generation : {};
  const effort = isFields(reasoning) ? textOf(reasoning.effort) : "";
  const rest = isFields(reasoning) ? defined({ ...reasoning, effort: undefined }) : {};
  const generationRest = defined({
    ...others,
    reasoning: Object.keys(rest).length === 0 ? undefined : rest,
  });
  const left = defined({
    ...more,
    generation: Object.keys(generationRest).length === 0 ? undefined : generationRest,
  });
  return {
    system,
    maxTokens: typeof maxTokens === "number" ? String(maxTokens) : "",
    temperature: typeof temperature === "number" ? String(temperature) : "",
    effort: EFFORTS.some((each) => each === effort) ? effort : "",
    tools: Array.isArray(tools) && tools.length > 0 ? JSON.stringify(tools, null, 2) : "",
    more: Object.keys(left).length === 0 ? "" : JSON.stringify(left, null, 2),
  };
}

const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
