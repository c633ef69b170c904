/**
 * The generateContent request as far as the gateway writes it (Google AI for Developers, "Generating content";
 * https://ai.google.dev/api/generate-content). Vertex takes the same.
 */
import type { JsonText, Placed } from "../json/json-text.ts";

export type GeminiMedia =
  /** Data in base64. */
  | { readonly inlineData: { readonly mimeType: string; readonly data: string } }
  | { readonly fileData: { readonly fileUri: string; readonly mimeType?: string } };

interface FunctionResponse {
  readonly id: string;
  readonly name: string;
  readonly response: JsonText | { readonly result: string } | { readonly error: JsonText | string };
  readonly parts?: GeminiMedia[];
}

export type GeminiPart = (
  | { readonly text: string; readonly thought?: true }
  | GeminiMedia
  | {
      readonly functionCall: {
        readonly id: string;
        readonly name: string;
        readonly args: Placed;
      };
    }
  | { readonly functionResponse: FunctionResponse }
) & { readonly thoughtSignature?: string };

export interface GeminiContent {
  readonly role: "user" | "model";
  readonly parts: GeminiPart[];
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly description?: string;
  /** Any JSON schema of an object. The older `parameters` takes a dialect of OpenAPI's and refuses what it does not know. */
  readonly parametersJsonSchema: Placed;
}

export interface ThinkingConfig {
  readonly includeThoughts?: boolean;
  readonly thinkingBudget?: number;
  readonly thinkingLevel?: string;
}

export interface GenerationConfig {
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly responseLogprobs?: boolean;
  readonly logprobs?: number;
  readonly candidateCount?: number;
  readonly responseMimeType?: string;
  readonly responseJsonSchema?: JsonText;
  readonly thinkingConfig?: ThinkingConfig;
}

export interface FunctionCallingConfig {
  readonly mode: "AUTO" | "ANY" | "NONE";
  readonly allowedFunctionNames?: string[];
}

export interface GeminiRequestBody {
  readonly systemInstruction?: { readonly parts: { readonly text: string }[] };
  readonly contents: GeminiContent[];
  readonly tools?: { readonly functionDeclarations: FunctionDeclaration[] }[];
  readonly toolConfig?: { readonly functionCallingConfig: FunctionCallingConfig };
  readonly generationConfig?: GenerationConfig;
  readonly serviceTier?: string;
}
