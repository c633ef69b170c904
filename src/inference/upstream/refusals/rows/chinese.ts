/** Refusals of providers in China, whose words are often Chinese, and whose kinds of failure have numbers. */
import { maximum, N, type Row, tokens } from "../row.ts";

const MOONSHOT_PAGE = "https://platform.kimi.ai/docs/api/errors";
const MINIMAX_PAGE = "https://platform.minimaxi.com/docs/api-reference/errorcode.md";
const ZHIPU_PAGE = "https://docs.bigmodel.cn/cn/faq/api-code";
const DASHSCOPE_PAGE = "https://help.aliyun.com/en/model-studio/error-code-start";
const ARK_PAGE = "https://www.volcengine.com/docs/82379/1299023";

export const CHINESE_ROWS: readonly Row[] = [
  {
    id: "siliconflow.prompt_tokens",
    meaning: "context_overflow",
    source: "leookun/cursor-byok#129",
    words: `number of input tokens \\(${tokens}\\) has exceeded max_prompt_tokens \\(${maximum}\\)`,
    unread: true,
  },
  {
    id: "siliconflow.unknown_model",
    meaning: "unknown_model",
    source: "ErlichLiu/DeepClaude#111",
    statuses: [400],
    words: "model does not exist\\. please check it carefully",
  },
  {
    id: "siliconflow.paid_model",
    meaning: "unknown_model",
    source: "FoundationAgents/OpenManus#438",
    statuses: [403],
    // The account's other models are served.
    words: "the selected model requires paid balance\\.",
  },
  {
    id: "moonshot.token_limit",
    meaning: "context_overflow",
    source: `MoonshotAI/kimi-cli#2011, ${MOONSHOT_PAGE}`,
    words: `(?:invalid request: )?(?:input token length too long|your request exceeded model token limit ?: ${maximum}(?: \\(requested: ${tokens}\\))?)`,
  },
  {
    id: "moonshot.unknown_model",
    meaning: "unknown_model",
    source: "langgenius/dify#39778",
    statuses: [403, 404],
    words: "not found the model ",
  },
  {
    id: "moonshot.overloaded",
    meaning: "overloaded",
    source: "MoonshotAI/kimi-cli#2571",
    codes: ["engine_overloaded_error"],
  },
  {
    id: "moonshot.suspended",
    meaning: "quota",
    source: "anomalyco/opencode#24462",
    statuses: [429],
    words: "your account .{1,200} is suspended due to insufficient balance",
  },
  {
    id: "minimax.context_window",
    meaning: "context_overflow",
    source: "MiniMax-AI/MiniMax-M2#119",
    words: "(?:invalid params, )?context window exceeds limit",
  },
  {
    id: "minimax.funds",
    meaning: "quota",
    source: "modelscope/modelscope#1691, MiniMax-AI/MiniMax-M2#62",
    statuses: [429, 500],
    words: "insufficient balance \\(1008\\)$",
  },
  {
    id: "minimax.funds_code",
    meaning: "quota",
    source: MINIMAX_PAGE,
    statuses: [402, 429, 500],
    codes: ["1008"],
    words: "insufficient balance",
  },
  {
    id: "minimax.credential",
    meaning: "credential",
    source: "nearai/ironclaw#1742",
    statuses: [401],
    codes: ["authorized_error"],
  },
  {
    id: "minimax.login",
    meaning: "credential",
    source: "nearai/ironclaw#1742",
    // As `base_resp` with status 200.
    statuses: [401],
    codes: ["1004"],
    words: "login fail: ",
  },
  {
    id: "minimax.content_policy",
    meaning: "content_policy",
    source: MINIMAX_PAGE,
    codes: ["1026", "1027"],
  },
  {
    id: "zhipu.prompt_length",
    meaning: "context_overflow",
    source: `zeroclaw-labs/zeroclaw#4124, ${ZHIPU_PAGE}`,
    words: "prompt (?:exceeds max length|超长)",
  },
  {
    id: "zhipu.funds",
    meaning: "quota",
    source: ZHIPU_PAGE,
    statuses: [429],
    codes: ["1113"],
  },
  {
    id: "zhipu.funds_words",
    meaning: "quota",
    source: "continuedev/continue#10296",
    statuses: [429],
    words: "(?:余额不足或无可用资源包[,，] ?请充值|您的账户已欠费[,，] ?请充值后重试)",
  },
  {
    id: "zhipu.plan",
    meaning: "quota",
    source: ZHIPU_PAGE,
    // What a subscription allows is used up, for hours or weeks.
    statuses: [429],
    codes: ["1308", "1309", "1310"],
  },
  {
    id: "zhipu.account",
    meaning: "credential",
    source: ZHIPU_PAGE,
    statuses: [401, 403, 429],
    codes: ["1110", "1111", "1112", "1121"],
  },
  {
    id: "zhipu.unknown_model",
    meaning: "unknown_model",
    source: ZHIPU_PAGE,
    codes: ["1211", "1311"],
  },
  {
    id: "zhipu.content_policy",
    meaning: "content_policy",
    source: ZHIPU_PAGE,
    codes: ["1301"],
  },
  {
    id: "zhipu.overloaded",
    meaning: "overloaded",
    source: "https://docs.bigmodel.cn/cn/api/api-code",
    statuses: [429, 503],
    codes: ["1305", "1312"],
  },
  {
    id: "zhipu.rate_limit",
    meaning: "rate_limit",
    source: ZHIPU_PAGE,
    statuses: [429],
    codes: ["1302", "1303", "1304"],
  },
  {
    id: "dashscope.input_length",
    meaning: "context_overflow",
    source: "QwenLM/qwen-code#98",
    words: `(?:<\\d{1,3}> )?(?:internalerror\\.algo\\.invalidparameter: )?range of input length should be \\[${N}, ?${maximum}\\]`,
  },
  {
    id: "dashscope.max_tokens",
    meaning: "output_limit",
    source: "open-webui/open-webui#10507",
    words: `(?:<\\d{1,3}> )?(?:internalerror\\.algo\\.invalidparameter: )?range of max_tokens should be \\[${N}, ?${maximum}\\]`,
  },
  {
    id: "dashscope.content_policy",
    meaning: "content_policy",
    source: "https://developer.aliyun.com/ask/578425",
    codes: ["DataInspectionFailed", "data_inspection_failed"],
  },
  {
    id: "dashscope.arrears",
    meaning: "quota",
    source: "https://help.aliyun.com/en/model-studio/error-code",
    codes: ["Arrearage"],
  },
  {
    id: "dashscope.free_tier",
    meaning: "quota",
    source: "666ghj/BettaFish#609",
    codes: ["AllocationQuota.FreeTierOnly"],
  },
  {
    id: "dashscope.credential",
    meaning: "credential",
    source: DASHSCOPE_PAGE,
    statuses: [401],
    codes: ["InvalidApiKey"],
  },
  {
    id: "dashscope.unknown_model",
    meaning: "unknown_model",
    source: DASHSCOPE_PAGE,
    statuses: [400, 404],
    codes: ["ModelNotFound"],
  },
  {
    id: "dashscope.rate_limit",
    meaning: "rate_limit",
    source: DASHSCOPE_PAGE,
    statuses: [429],
    codes: ["Throttling", "Throttling.RateQuota", "Throttling.AllocationQuota"],
  },
  {
    id: "dashscope.unsupported",
    meaning: "unsupported_parameter",
    source: "https://help.aliyun.com/en/model-studio/error-code",
    statuses: [400],
    words:
      "(?:parameter\\.enable_thinking (?:must be set to false for non-streaming calls|only support stream)|this model (?:does not support enable_search|only support stream mode))",
  },
  {
    id: "volcengine.input_length",
    meaning: "context_overflow",
    source: "langgenius/dify#32221",
    words: `input length ${tokens} exceeds the maximum length ${maximum}`,
  },
  {
    id: "volcengine.overdue",
    meaning: "quota",
    source: ARK_PAGE,
    statuses: [403],
    codes: ["AccountOverdueError"],
  },
  {
    id: "volcengine.credential",
    meaning: "credential",
    source: ARK_PAGE,
    statuses: [401],
    codes: ["AuthenticationError"],
  },
  {
    id: "volcengine.unknown_model",
    meaning: "unknown_model",
    source: ARK_PAGE,
    statuses: [400, 404],
    codes: ["InvalidEndpointOrModel.NotFound", "ModelNotOpen", "InvalidEndpoint.ClosedEndpoint"],
  },
  {
    id: "volcengine.content_policy",
    meaning: "content_policy",
    source: "https://www.volcengine.com/docs/82379/1099476",
    codes: ["InputTextRiskDetection", "InputImageRiskDetection"],
  },
  {
    id: "qianfan.prompt_length",
    meaning: "context_overflow",
    source: "https://cloud.baidu.com/doc/qianfan-api/s/rmwbl43x7",
    codes: ["tokens_too_long", "characters_too_long"],
  },
];
