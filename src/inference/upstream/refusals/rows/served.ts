/** Refusals of servers that run a model on the operator's own machines. */
import { answer, maximum, N, type Row, tokens } from "../row.ts";

export const SERVED_ROWS: readonly Row[] = [
  {
    id: "vllm.max_tokens",
    meaning: "context_overflow",
    source: "claude-code-best/claude-code#272",
    words: `(?:'max_tokens' or 'max_completion_tokens'|max_tokens|max_completion_tokens) is too large: ${answer}\\. ?this model's maximum context length is ${maximum} tokens and your request has ${tokens} input tokens`,
  },
  {
    id: "vllm.input_tokens",
    meaning: "context_overflow",
    source: "vllm-project/vllm#33418",
    words: `you passed ${tokens} input tokens and requested ${answer} output tokens\\. however, the model's context length is only ${maximum}`,
  },
  {
    id: "vllm.input_characters",
    meaning: "context_overflow",
    source: "vllm-project/vllm#33418",
    words: `you passed ${N} input characters and requested ${answer} output tokens\\. however, the model's context length is only ${maximum}`,
  },
  {
    id: "vllm.decoder_prompt",
    meaning: "context_overflow",
    source: "vllm-project/vllm#12600",
    words: `the (?:decoder|encoder) prompt \\(length ${tokens}\\) is longer than the maximum (?:model|encoder) length of ${maximum}`,
  },
  {
    id: "vllm.prompt_length",
    meaning: "context_overflow",
    source: "vllm-project/vllm#16140",
    words: `(?:the prompt \\(total length ${tokens}\\) is too long to fit into the model|input prompt \\(${N} tokens\\)(?: \\+ lookahead slots \\(\\d{1,9}\\))? is too long and exceeds)`,
  },
  {
    id: "vllm.no_room",
    meaning: "context_overflow",
    source: "vllm-project/vllm#9443",
    // The default is what the prompt leaves of the context.
    words: "max_tokens must be at least 1, got -\\d{1,9}",
  },
  {
    id: "vllm.unknown_model",
    meaning: "unknown_model",
    source: "vllm-project/vllm#9603",
    statuses: [400, 404],
    words: "(?:error code: 404 - )?the model [`'\"][^`'\"]{1,200}[`'\"] does not exist",
  },
  {
    id: "sglang.input_length",
    meaning: "context_overflow",
    source: "sgl-project/sglang#4048",
    words: `(?:the )?input (?:length )?\\(${tokens}(?: tokens)?\\) (?:is longer than|exceeds) (?:the )?(?:model's |maximum )?(?:maximum )?(?:context|allowed) length \\(${maximum}`,
  },
  {
    id: "sglang.requested_tokens",
    meaning: "context_overflow",
    source: "anomalyco/opencode#25230",
    words: `requested token count exceeds the model's maximum context length of ${maximum} tokens`,
  },
  {
    id: "llamacpp.context_size",
    meaning: "context_overflow",
    source: "ggml-org/llama.cpp#15780",
    codes: ["exceed_context_size_error"],
  },
  {
    id: "llamacpp.context_words",
    meaning: "context_overflow",
    source: "ggml-org/llama.cpp#15780",
    words: `(?:the )?request (?:\\(${tokens} tokens\\) )?exceeds the available context size(?: \\(${maximum} tokens\\))?`,
  },
  {
    id: "llamacpp.batch_size",
    meaning: "context_overflow",
    source: "ggml-org/llama.cpp#12295",
    words: `input (?:\\(${tokens} tokens\\) )?is too large to process\\. increase the physical batch size(?: \\(current batch size: ${maximum}\\))?`,
  },
  {
    id: "llamacpp.context_window",
    meaning: "context_overflow",
    source: "rllm-team/rllm#55",
    words: `requested tokens \\(${tokens}\\) exceed context window of ${maximum}`,
  },
  {
    id: "llamacpp.loading",
    meaning: "overloaded",
    source: "https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
    statuses: [503],
    words: "loading model",
  },
  {
    id: "ollama.prompt_too_long",
    meaning: "context_overflow",
    source: "earendil-works/pi#2626",
    words: `prompt too long[;:,] exceeded (?:max )?context length(?: by ${N} tokens)?`,
  },
  {
    id: "ollama.input_length",
    meaning: "context_overflow",
    source: "ollama/ollama#12757",
    words: "(?:the )?input (?:length )?exceeds (?:the )?(?:maximum )?context length",
  },
  {
    id: "ollama.unknown_model",
    meaning: "unknown_model",
    source: "ollama/ollama#2203",
    statuses: [400, 404],
    words: "model [\"'][^\"']{1,200}[\"'] not found",
  },
  {
    id: "ollama.no_tools",
    meaning: "unsupported_parameter",
    source: "ollama/ollama#8517",
    statuses: [400],
    words: "(?:registry\\.ollama\\.ai/)?\\S{1,200} does not support (?:tools|thinking|chat|generate)",
  },
  {
    id: "tgi.total_tokens",
    meaning: "context_overflow",
    source: "huggingface/text-generation-inference#1504",
    words: `(?:input validation error: )?\`inputs\` tokens \\+ \`max_new_tokens\` must be <= ${maximum}\\. given: ${tokens} \`inputs\` tokens and ${answer}`,
  },
  {
    id: "tgi.inputs",
    meaning: "context_overflow",
    source: "huggingface/text-generation-inference#1504",
    words: `(?:input validation error: )?\`inputs\` must have less than ${maximum} tokens\\. given: ${tokens}`,
  },
  {
    id: "tgi.overloaded",
    meaning: "overloaded",
    source: "https://huggingface.co/docs/text-generation-inference/reference/api_reference",
    statuses: [424, 429, 503],
    codes: ["overloaded"],
  },
  {
    id: "lmstudio.tokens_to_keep",
    meaning: "context_overflow",
    source: "lmstudio-ai/lmstudio-bug-tracker#237",
    words: `(?:trying to keep the first ${tokens} tokens when context (?:the )?overflows|the number of tokens to keep from the initial prompt is greater than the context length)`,
  },
];
