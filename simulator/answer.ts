/**
 * The simulated model's output: a list of tokens per choice, the same for the same prompt and instruction. Streamed and
 * non-streamed answers are built from this one list, so they cannot differ, and the tokens reported are the tokens
 * sent.
 */
import { hash } from "node:crypto";
import { type Random, seededRandom } from "../src/base/clock.ts";
import { fail } from "../src/base/errors.ts";
import type { Instruction } from "./instruction.ts";
import { documentFor } from "./schema.ts";
import { SENTENCE_WORDS, sentences } from "./sentences.ts";
import type { SimulatedRequest, Tool } from "./simulated-request.ts";

/** One output token. A tool call begins with the token that carries its `id` and `name`. */
export type Token =
  | { readonly kind: "text" | "reasoning" | "refusal"; readonly text: string }
  | {
      readonly kind: "call";
      /** Position in the message's `tool_calls`, from 0. */
      readonly call: number;
      readonly id?: string;
      readonly name?: string;
      readonly text: string;
    };

export interface Choice {
  readonly tokens: readonly Token[];
  readonly finish: "stop" | "length" | "tool_calls";
  /** The request's stop sequence that ended the answer. */
  readonly stopSequence?: string;
}

export interface Answer {
  /** 24 hexadecimal digits derived from the prompt: equal prompts get equal ids. */
  readonly digest: string;
  readonly choices: readonly Choice[];
}

/** Tokens of an answer whose characters are instructed, and their number is not: as many as sentences have. */
const DEFAULT_TOKENS = SENTENCE_WORDS;
/** Documents, arguments and echoes are cut into pieces of about this many characters. */
const PIECE = 5;

const SYLLABLES = [
  "ba",
  "do",
  "fe",
  "gi",
  "ho",
  "ku",
  "la",
  "me",
  "ni",
  "po",
  "ra",
  "se",
  "ti",
  "vo",
  "wu",
  "za",
];
/** Characters of 2, 3 and 4 bytes in UTF-8, a joined emoji and a combining mark among them. */
const UNICODE = ["é", "ß", "Ж", "ñ", "€", "水", "नि", "한", "🌊", "🦦", "👩‍🚀", "e\u0301"];

export function answer(request: SimulatedRequest, instruction: Instruction): Answer {
  const digest = hash("sha256", request.prompt, "hex").slice(0, 24);
  const seed = Number.parseInt(digest.slice(0, 8), 16);
  const stopSequence = stopSequenceTold(request, instruction);
  const choices: Choice[] = [];
  for (let index = 0; index < request.n; index++) {
    const wanted = wantedTokens(request, instruction, seed + index, `${digest}${index}`);
    const room = Math.max(0, request.maxTokens - (instruction.reasoning_tokens ?? 0));
    const cut = wanted.length > room;
    const called = wanted.some((token) => token.kind === "call");
    choices.push({
      tokens: cut ? wanted.slice(0, room) : wanted,
      finish: cut ? "length" : called ? "tool_calls" : "stop",
      ...(cut || called || stopSequence === undefined ? {} : { stopSequence }),
    });
  }
  return { digest, choices };
}

/** @throws WeirError `invalid_value` for a sequence that the request does not contain: the gateway lost it */
function stopSequenceTold(request: SimulatedRequest, instruction: Instruction): string | undefined {
  const told = instruction.stop_sequence;
  if (told === undefined || request.stopSequences?.includes(told)) return told;
  throw fail("invalid_value", `The request has no stop sequence ${JSON.stringify(told)}.`, {
    param: "/simulator/stop_sequence",
  });
}

function wantedTokens(
  request: SimulatedRequest,
  instruction: Instruction,
  seed: number,
  digest: string,
): Token[] {
  const random = seededRandom(seed);
  const tokens: Token[] = [];
  for (let i = 0; i < (instruction.reasoning ?? 0); i++)
    tokens.push({ kind: "reasoning", text: word(i, random, false) });
  const calls = callsWanted(request, instruction);
  if (instruction.refuse !== undefined) {
    for (const text of pieces(instruction.refuse)) tokens.push({ kind: "refusal", text });
    return tokens;
  }
  if (request.format !== "text" && calls.length === 0) {
    const document = documentFor(request.format.schema, () => bareWord(random));
    for (const text of pieces(JSON.stringify(document))) tokens.push({ kind: "text", text });
    return tokens;
  }
  if (instruction.echo === true) {
    for (const text of pieces(request.lastUserText).slice(0, instruction.tokens))
      tokens.push({ kind: "text", text });
  } else if (calls.length === 0 || instruction.tokens !== undefined) {
    for (const text of said(request, instruction, seed, random)) tokens.push({ kind: "text", text });
  }
  calls.forEach((tool, call) => {
    tokens.push({ kind: "call", call, id: `call_${digest}${call}`, name: tool.name, text: "" });
    const args = JSON.stringify(documentFor(tool.parameters, () => bareWord(random)));
    for (const text of pieces(args)) tokens.push({ kind: "call", call, text });
  });
  return tokens;
}

/** Words without a meaning, of a known size, where an instruction is about their number or characters; else sentences. */
function said(request: SimulatedRequest, instruction: Instruction, seed: number, random: Random): string[] {
  const { tokens, unicode = false } = instruction;
  if (tokens === undefined && !unicode) return sentences(request.lastUserText, seed);
  return Array.from({ length: tokens ?? DEFAULT_TOKENS }, (_, index) => word(index, random, unicode));
}

/**
 * The reasoning of an answer, divided into `thinking_blocks` parts, one by default. If there are fewer tokens than
 * parts, the remaining parts are empty.
 */
export function reasoningParts(choice: Choice, instruction: Instruction): (readonly string[])[] {
  const tokens = choice.tokens.flatMap(({ kind, text }) => (kind === "reasoning" ? [text] : []));
  const parts = instruction.thinking_blocks ?? (tokens.length > 0 ? 1 : 0);
  const size = Math.ceil(tokens.length / Math.max(1, parts));
  return Array.from({ length: parts }, (_, i) => tokens.slice(i * size, (i + 1) * size));
}

/** A tool call of an answer, with its arguments in the pieces in which they are streamed. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly pieces: readonly string[];
}

export function callsOf(choice: Choice): ToolCall[] {
  const calls: { id: string; name: string; pieces: string[] }[] = [];
  for (const token of choice.tokens) {
    if (token.kind !== "call") continue;
    if (token.id !== undefined) calls.push({ id: token.id, name: token.name ?? "", pieces: [] });
    else calls[token.call]?.pieces.push(token.text);
  }
  return calls;
}

/** The tools to call: those the request forces, or as many as the instruction says, in rotation. */
function callsWanted(request: SimulatedRequest, instruction: Instruction): Tool[] {
  const { tools, toolChoice } = request;
  if (tools.length === 0 || toolChoice === "none") return [];
  const forced =
    typeof toolChoice === "object" ? tools.filter((tool) => tool.name === toolChoice.name) : tools;
  const wanted = instruction.tool_calls ?? (toolChoice === "auto" ? 0 : 1);
  return Array.from(
    { length: forced.length === 0 ? 0 : wanted },
    (_, i) => forced[i % forced.length] as Tool,
  );
}

const pick = (from: readonly string[], random: Random): string =>
  from[Math.floor(random() * from.length)] as string;

const bareWord = (random: Random): string => pick(SYLLABLES, random) + pick(SYLLABLES, random);

/** Five bytes, the first token four; with `unicode`, the characters of {@link UNICODE} take turns. */
function word(index: number, random: Random, unicode: boolean): string {
  const text = unicode ? pick(SYLLABLES, random) + UNICODE[index % UNICODE.length] : bareWord(random);
  return index === 0 ? text : ` ${text}`;
}

/** Cuts between code points, never inside one. */
function pieces(text: string): string[] {
  const points = Array.from(text);
  const cut: string[] = [];
  for (let i = 0; i < points.length; i += PIECE) cut.push(points.slice(i, i + PIECE).join(""));
  return cut;
}
