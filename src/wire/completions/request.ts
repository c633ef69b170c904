/** Reads from a completions request what the gateway must know. */
import { type BodyRules, promptTextsOf, readBody, SVC_MEMBER } from "../body.ts";
import { usageSwitchOf } from "../chat/request.ts";
import { sizesOf } from "../embed/request.ts";
import { longStringsIn } from "../embed/task.ts";
import { BYTES_PER_TOKEN, estimatePromptTokens } from "../estimate.ts";
import { bodyTable } from "../extras/tables.ts";
import type { ClientRequest, PromptText } from "../format.ts";
import { type Edit, type Member, memberOf } from "../json/json.ts";
import type { RequestFacts } from "../neutral/contract.ts";
import { echoBytesOf, type Making } from "./echo.ts";
import { type CompletionsBody, completionsRequestSchema } from "./schema.ts";

export interface CompletionsRequest extends ClientRequest, Making {
  /** False: the client asked for no usage in its stream. */
  readonly includeUsage: boolean;
  /** The edit that asks the upstream for its usage; undefined if the client asks for it, or for no stream. */
  readonly usageSwitch: Edit | undefined;
}

/** Members that no model gets to read. */
const NO_PROMPT: readonly string[] = ["model", "svc", "stream", "stream_options", "user", "logit_bias"];

const RULES: BodyRules<CompletionsBody> = {
  ...SVC_MEMBER,
  schema: completionsRequestSchema,
  noPrompt: NO_PROMPT,
  extras: bodyTable("completions"),
  media: [],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readCompletionsRequest(bytes: Buffer): CompletionsRequest {
  const { read, text, value, proseBytes } = readBody(bytes, RULES);
  const stream = value.stream ?? false;
  const asked = value.stream_options?.include_usage;
  const { prompts, isTokens, tokens, longest } = promptOf(value, proseBytes, read);
  const kept = value.n ?? 1;
  // All that are made are billed, though only the best are kept.
  const made = Math.max(kept, value.best_of ?? 1);
  return {
    ...read,
    // Token ids are counted already, and no tokenizer can count them again.
    hasOpaque: isTokens || read.hasOpaque,
    includeUsage: asked !== false,
    usageSwitch: stream && asked !== true ? usageSwitchOf(text, read.members) : undefined,
    echoedBytes: value.echo === true ? promptBytes(bytes, value, read) * kept : 0,
    // Servers that choose the best of several stream none of them.
    madeForEach: stream ? 1 : made / kept,
    facts: {
      model: value.model,
      stream,
      // Each prompt has its own answers.
      choices: prompts * made,
      maxTokens: leastOne(value.max_tokens),
      promptTokens: tokens,
      ...(prompts > 1 && { longestTokens: longest }),
      ...NOTHING_ELSE,
    },
  };
}

const NOTHING_ELSE: Omit<RequestFacts, "model" | "stream" | "choices" | "maxTokens" | "promptTokens"> = {
  hasTools: false,
  parallelTools: false,
  hasImages: false,
  imageCount: 0,
  hasAudio: false,
  hasSchema: false,
  hasUncounted: false,
  searchUnits: 0,
};

/** A server that is asked for no token to measure a prompt (`echo`) may make one (vLLM), and bills it. */
const leastOne = (maxTokens: number | null | undefined): number | undefined =>
  maxTokens == null ? undefined : Math.max(1, maxTokens);

interface PromptSizes {
  readonly prompts: number;
  readonly isTokens: boolean;
  /** Tokens of all that a model reads: token ids are counted, texts estimated. */
  readonly tokens: number;
  /** The same of the longest prompt, with all that stands beside the prompts. */
  readonly longest: number;
}

/** Models begin each text with a mark, and it is billed. */
const MARK_TOKENS = 1;

/** A suffix is read with each prompt. */
function promptOf(
  { prompt }: CompletionsBody,
  proseBytes: number,
  { members, elided }: Pick<ClientRequest, "members" | "elided">,
): PromptSizes {
  const member = memberOf(members, "prompt") as Member;
  const { kind, inputs: prompts, longest, total } = sizesOf(prompt);
  const memberBytes = member.valueEnd - member.valueStart;
  const besides = estimatePromptTokens(proseBytes - memberBytes, 0);
  if (kind === "tokens") {
    return { prompts, isTokens: true, tokens: besides * prompts + total, longest: besides + longest };
  }
  const longestBytes = Math.max(longest, ...longStringsIn(elided, member));
  return {
    prompts,
    isTokens: false,
    tokens: estimatePromptTokens(proseBytes, 0) + (prompts - 1) * (besides + MARK_TOKENS),
    longest: besides + estimatePromptTokens(longestBytes, 0),
  };
}

/** Bytes of all prompts as an answer repeats them; an estimate for token ids. */
function promptBytes(
  bytes: Buffer,
  { prompt }: CompletionsBody,
  { members }: Pick<ClientRequest, "members">,
): number {
  const { kind, total } = sizesOf(prompt);
  if (kind === "tokens") return total * BYTES_PER_TOKEN;
  const { valueStart, valueEnd } = memberOf(members, "prompt") as Member;
  return echoBytesOf(bytes.toString("utf8", valueStart, valueEnd));
}

/** See {@link promptTextsOf}. */
export const promptTexts = (request: ClientRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);
