/**
 * What upstreams accept of names, ids and texts, by dialect, provider and model, as data. Each bound has its source beside it:
 * documentation, or the error that an upstream answers with.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";

/** Texts of bounded length and few kinds of characters. */
export interface NameBound {
  /** Matches what is taken; it includes the length, in UTF-16 units. */
  readonly taken: RegExp;
  /** The longest that is taken. */
  readonly most: number;
  /** Characters that may stand nowhere in it; global. */
  readonly foreign: RegExp;
}

/** Names of an end user. */
export interface UserBound {
  /** UTF-16 units. */
  readonly most: number;
  /** Matches what is refused whatever its length. */
  readonly refused?: RegExp;
}

export interface StopBound {
  /** Sequences at a time. */
  readonly most?: number;
  /** A sequence of white space alone is refused. */
  readonly refusesBlank?: boolean;
}

/** What an upstream accepts. An absent bound: it takes anything, or nothing is known. */
export interface Accepted {
  readonly toolName?: NameBound;
  readonly callId?: NameBound;
  /** Calls of one conversation may share an id: the upstream makes such ids itself. */
  readonly sharesCallIds?: boolean;
  /** No two calls of a conversation may share one, also in the words of a client of the same format. */
  readonly refusesSharedIds?: boolean;
  /** Ids that models of other makers give are refused, also in the words of a client of the same format. */
  readonly refusesOthersIds?: boolean;
  readonly user?: UserBound;
  /** The longest `prompt_cache_key`, UTF-16 units. */
  readonly cacheKey?: number;
  readonly stop?: StopBound;
  /** Texts of white space alone are refused, everywhere in a conversation. */
  readonly refusesBlankText?: boolean;
  /** Empty texts are refused, and left out by the dialect's writer. */
  readonly refusesEmptyText?: boolean;
  /** White space at the end of a conversation that ends with the model's own words is refused. */
  readonly refusesSpaceAtEnd?: boolean;
}

const words = (most: number): NameBound => ({
  taken: new RegExp(`^[a-zA-Z0-9_-]{1,${most}}$`),
  most,
  foreign: /[^a-zA-Z0-9_-]/g,
});

/** Any characters. */
const upTo = (most: number): NameBound => ({
  taken: new RegExp(`^[^]{1,${most}}$`),
  most,
  foreign: /(?!)/g,
});

/** Ids of calls as messages, responses and converse take them; the sources are below. */
export const CALL_ID = words(64);

const BY_DIALECT: Partial<Readonly<Record<Dialect, Accepted>>> = {
  chat: {
    // OpenAI API reference, FunctionObject.name: "a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64".
    toolName: words(64),
    // "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40": openclaw/openclaw#875. Newer
    // models take 64 (decolua/9router#3167).
    callId: upTo(40),
    // "Invalid 'user': string too long. Expected a string with maximum length 64" (looplj/axonhub#1669).
    user: { most: 64 },
    // "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64" (theopenco/llmgateway#3110).
    cacheKey: 64,
    // "Invalid 'stop': array too long. Expected an array with maximum length 4" (continuedev/continue#2461).
    stop: { most: 4 },
  },
  responses: {
    // "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'", and
    // "Expected a string with maximum length 64".
    toolName: words(64),
    // "Invalid 'input[11].call_id': string too long. Expected a string with maximum length 64" (RooCodeInc/Roo-Code#10763).
    callId: CALL_ID,
    // As chat: maximhq/bifrost#1000.
    user: { most: 64 },
    cacheKey: 64,
  },
  messages: {
    // "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'".
    toolName: words(128),
    // "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" (musistudio/claude-code-router#1808). The
    // length is that of Claude at Bedrock. "messages.43.content.2: tool_use ids must be unique" (anthropics/claude-code#28515).
    callId: CALL_ID,
    refusesSharedIds: true,
    // Anthropic API reference, Metadata.user_id: maxLength 256. It is refused where it "appears to contain an email address", at any
    // place, or is the number of a telephone (BerriAI/litellm#10106). Ids with many digits, such as Claude Code's, are taken.
    user: { most: 256, refused: /[^\s@]@[^\s@]+\.[^\s@]|^\s*\+?\d[\d\s().-]{5,18}\d\s*$/ },
    // "stop_sequences: each stop sequence must contain non-whitespace".
    stop: { refusesBlank: true },
    // "messages: text content blocks must contain non-whitespace text" (home-assistant/core#175637).
    refusesBlankText: true,
    refusesEmptyText: true,
    // "messages: final assistant content cannot end with trailing whitespace".
    refusesSpaceAtEnd: true,
  },
  gemini: {
    // "Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots
    // (.), colons (:), or dashes (-), with a maximum length of 64." (kaitranntt/ccs#25)
    toolName: { taken: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, most: 64, foreign: /[^a-zA-Z0-9_.:-]/g },
    // https://ai.google.dev/api/caching#FunctionCall, id: a result has the id of its call; no bound is told.
    callId: upTo(256),
    // https://ai.google.dev/api/generate-content#generationconfig, stopSequences: "up to 5".
    stop: { most: 5 },
    // "Requests ending with a model turn are not supported." (pipecat-ai/pipecat#5821): so an empty turn cannot be left out with its text.
    refusesEmptyText: true,
  },
  converse: {
    // Amazon Bedrock API reference, ToolSpecification.name: 1 to 64 of [a-zA-Z0-9_-]+.
    toolName: words(64),
    // The same, ToolUseBlock.toolUseId; "The toolUse blocks at messages.2.content contain duplicate Ids".
    callId: CALL_ID,
    // The same, InferenceConfiguration.stopSequences: each of 1 character or more.
    stop: {},
    // "The text field in the ContentBlock object at messages.0.content.0 is blank" (OpenHands/OpenHands#5339); the same of system.
    refusesBlankText: true,
    refusesEmptyText: true,
  },
};

/** Where one provider or model departs from its dialect. The first that fits counts. */
interface Departure {
  readonly dialect: Dialect;
  readonly providers?: readonly string[];
  /** Matches the upstream's name of the model. */
  readonly model?: RegExp;
  readonly accepted: Accepted;
}

const MISTRAL_IDS: Accepted = {
  // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9." (anomalyco/opencode#1680), also of servers with Mistral's
  // own tokenizer (vllm-project/vllm#9019).
  callId: { taken: /^[a-zA-Z0-9]{9}$/, most: 9, foreign: /[^a-zA-Z0-9]/g },
  refusesOthersIds: true,
};

const MISTRAL = /mistral|mixtral|magistral|ministral|pixtral|codestral|devstral/i;

const DEPARTURES: readonly Departure[] = [
  // Its API has no bound on the number of stop sequences (docs.mistral.ai/api).
  { dialect: "chat", providers: ["mistral"], accepted: { ...MISTRAL_IDS, stop: {} } },
  { dialect: "chat", model: MISTRAL, accepted: MISTRAL_IDS },
  // Bedrock itself makes other ids, and Mistral's models there refuse those of others (vercel/ai#11802, anomalyco/opencode#48843).
  { dialect: "converse", model: MISTRAL, accepted: MISTRAL_IDS },
  // Its templates read `functions.<name>:<index>`, which it begins anew each turn: huggingface.co/moonshotai/Kimi-K2-Instruct,
  // docs/tool_call_guidance.md.
  { dialect: "chat", model: /kimi/i, accepted: { callId: upTo(256), sharesCallIds: true } },
  { dialect: "messages", model: /kimi/i, accepted: { callId: upTo(256), sharesCallIds: true } },
  // api-docs.deepseek.com/api/create-chat-completion: "Up to 16 sequences".
  { dialect: "chat", providers: ["deepseek"], accepted: { stop: { most: 16 } } },
  // Claude refuses it wherever it is served.
  {
    dialect: "converse",
    model: /anthropic|claude/,
    accepted: { stop: { refusesBlank: true }, refusesSpaceAtEnd: true },
  },
];

interface Found {
  readonly dialect: Dialect;
  readonly accepted: Accepted;
}

/** By endpoint, which live as long as its entry of the catalog. */
const found = new WeakMap<Endpoint, Found>();

export function acceptedBy(dialect: Dialect, endpoint: Endpoint): Accepted {
  const known = found.get(endpoint);
  if (known?.dialect === dialect) return known.accepted;
  const accepted = { ...BY_DIALECT[dialect], ...departureOf(dialect, endpoint) };
  found.set(endpoint, { dialect, accepted });
  return accepted;
}

const departureOf = (dialect: Dialect, { provider, upstreamModel }: Endpoint): Accepted | undefined =>
  DEPARTURES.find(
    ({ dialect: of, providers, model }) =>
      of === dialect &&
      (providers === undefined || providers.includes(provider.id)) &&
      (model === undefined || model.test(upstreamModel)),
  )?.accepted;
