/**
 * Anthropic's betas that Bedrock takes for a model (`additionalModelRequestFields.anthropic_beta`). It refuses a call with any other one
 * ("invalid beta flag"), and from Claude 4.7 on with nearly all.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html, as listed in
 * BerriAI/litellm#19877 and coder/aibridge#226; anthropics/claude-code#49370, #49648 for 4.7; https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
 * for `tool-search-tool-2025-10-19`, which Converse does not have.
 */
import { claudeVersion } from "../claude.ts";
import type { Written } from "../format.ts";
import { objectOf } from "../neutral/reader.ts";
import type { ConverseRequestBody } from "./body.ts";
import { familyOf } from "./models.ts";

/** Versions as of {@link claudeVersion}, both inclusive. */
interface BetaRow {
  readonly from: number;
  readonly to: number;
  /** Absent: every size of Claude. */
  readonly sizes?: readonly string[];
}

/** The last version that takes betas. */
const LAST = 406;
const LARGE = ["opus"];
const NOT_SMALL = ["opus", "sonnet"];

const BETAS: ReadonlyMap<string, BetaRow> = new Map<string, BetaRow>([
  ["computer-use-2024-10-22", { from: 305, to: 305, sizes: ["sonnet"] }],
  ["computer-use-2025-01-24", { from: 307, to: LAST }],
  ["computer-use-2025-11-24", { from: 405, to: LAST, sizes: LARGE }],
  ["token-efficient-tools-2025-02-19", { from: 307, to: LAST }],
  ["output-128k-2025-02-19", { from: 307, to: 307 }],
  ["interleaved-thinking-2025-05-14", { from: 400, to: LAST }],
  ["dev-full-thinking-2025-05-14", { from: 400, to: LAST }],
  ["context-1m-2025-08-07", { from: 400, to: LAST, sizes: NOT_SMALL }],
  ["context-management-2025-06-27", { from: 405, to: LAST }],
  ["effort-2025-11-24", { from: 405, to: 405, sizes: LARGE }],
  ["tool-examples-2025-10-29", { from: 405, to: LAST, sizes: NOT_SMALL }],
]);

/** Whether Bedrock takes a beta for a model, by the model's id. */
export function takesBeta(beta: string, upstreamModel: string): boolean {
  const row = BETAS.get(beta);
  if (row === undefined || familyOf(upstreamModel) !== "anthropic") return false;
  const version = claudeVersion(upstreamModel);
  const isOfSize = row.sizes === undefined || row.sizes.some((size) => upstreamModel.includes(size));
  return version >= row.from && version <= row.to && isOfSize;
}

/** A body that asks for these betas, too. */
export function withBetas({ body, dropped }: Written, betas: readonly string[]): Written {
  const { additionalModelRequestFields: fields, ...rest } = objectOf(body) as unknown as ConverseRequestBody;
  return {
    body: { ...rest, additionalModelRequestFields: { ...fields, anthropic_beta: betas } },
    dropped,
  };
}
