/**
 * The Converse request as far as the gateway writes it (Amazon Bedrock API Reference, "Converse"). Bytes are base64 text.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import type { JsonText, Placed } from "../json/json-text.ts";

export type BlobSource = { readonly bytes: string } | { readonly s3Location: { readonly uri: string } };

export interface MediaBlock {
  readonly format: string;
  readonly source: BlobSource;
}

export interface DocumentBlock {
  readonly format?: string;
  readonly name: string;
  readonly source: BlobSource | { readonly text: string };
  readonly context?: string;
  readonly citations?: { readonly enabled: true };
}

export interface CachePoint {
  readonly cachePoint: { readonly type: "default"; readonly ttl?: "5m" | "1h" };
}

export type ResultContent = PlainContent | { readonly json: JsonText | Record<string, never> };

type PlainContent =
  | { readonly text: string }
  | { readonly image: MediaBlock }
  | { readonly document: DocumentBlock };

type ReasoningContent =
  | { readonly reasoningText: { readonly text: string; readonly signature: string } }
  | { readonly redactedContent: string };

export type ContentBlock =
  | PlainContent
  | { readonly video: MediaBlock }
  | { readonly audio: MediaBlock }
  | {
      readonly toolUse: {
        readonly toolUseId: string;
        readonly name: string;
        readonly input: Placed;
      };
    }
  | {
      readonly toolResult: {
        readonly toolUseId: string;
        readonly content: ResultContent[];
        readonly status?: "error";
      };
    }
  | { readonly reasoningContent: ReasoningContent }
  | CachePoint;

export interface ConverseMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock[];
}

export type SystemBlock = { readonly text: string } | CachePoint;

interface ToolSpec {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { readonly json: Placed };
  readonly strict?: true;
}

export type ToolChoiceBlock =
  | { readonly auto: Record<string, never> }
  | { readonly any: Record<string, never> }
  | { readonly tool: { readonly name: string } };

export interface ToolConfig {
  readonly tools: ({ readonly toolSpec: ToolSpec } | CachePoint)[];
  readonly toolChoice?: ToolChoiceBlock;
}

export interface InferenceConfig {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly string[];
}

export interface TextFormat {
  readonly type: "json_schema";
  readonly structure: {
    readonly jsonSchema: {
      /** JSON text. */
      readonly schema: string;
      readonly name?: string;
      readonly description?: string;
    };
  };
}

export interface ConverseRequestBody {
  readonly messages: ConverseMessage[];
  readonly system?: SystemBlock[];
  readonly inferenceConfig?: InferenceConfig;
  readonly toolConfig?: ToolConfig;
  readonly outputConfig?: { readonly textFormat?: TextFormat; readonly effort?: string };
  /** Members that only some models take, in the models' own format. */
  readonly additionalModelRequestFields?: Record<string, unknown>;
  readonly requestMetadata?: Readonly<Record<string, string>>;
  readonly serviceTier?: { readonly type: string };
}
