/**
 * Google's embedding of one content, and of several in one request, each with its own fields. Shapes:
 * https://ai.google.dev/api/embeddings
 */
import { fail } from "../src/base/errors.ts";
import { modelPath } from "./gemini.ts";
import { readContent, textOfContent } from "./gemini-turns.ts";
import { googleError, refuseInvalidKey, refuseUnknown } from "./google-error.ts";
import type { Instruction } from "./instruction.ts";
import { isObject, type JsonObject } from "./schema.ts";
import {
  pathName,
  type RouteRequest,
  readRoute,
  routeUsage,
  type SimulatedRoute,
  tokensOf,
} from "./simulated-route.ts";
import { dimensionsOf, vectorOf } from "./vectors.ts";

interface Wanted {
  readonly text: string;
  readonly dimensions: number;
}

interface GeminiEmbedRequest extends RouteRequest {
  readonly wanted: readonly Wanted[];
}

const FIELDS: ReadonlySet<string> = new Set([
  "model",
  "content",
  "taskType",
  "title",
  "outputDimensionality",
  "autoTruncate",
]);
const BATCH_FIELDS: ReadonlySet<string> = new Set(["requests"]);
const TASK_TYPES: ReadonlySet<unknown> = new Set([
  "RETRIEVAL_QUERY",
  "RETRIEVAL_DOCUMENT",
  "SEMANTIC_SIMILARITY",
  "CLASSIFICATION",
  "CLUSTERING",
  "QUESTION_ANSWERING",
  "FACT_VERIFICATION",
  "CODE_RETRIEVAL_QUERY",
  "TASK_TYPE_UNSPECIFIED",
]);
const MAX_REQUESTS = 100;

function readWanted(json: JsonObject, where?: string): Wanted {
  refuseUnknown(json, FIELDS, where);
  const place = where === undefined ? "" : `${where}.`;
  if (json.taskType !== undefined && !TASK_TYPES.has(json.taskType)) {
    const message = `Invalid value at '${place}task_type' (type.googleapis.com/TaskType), ${JSON.stringify(json.taskType)}`;
    throw fail("invalid_value", message, { param: `${place}task_type` });
  }
  if (json.title !== undefined && json.taskType !== "RETRIEVAL_DOCUMENT") {
    const message = "Titles are only supported for embeddings of task type RETRIEVAL_DOCUMENT.";
    throw fail("invalid_value", message, { param: `${place}title` });
  }
  const text = textOfContent(readContent(json.content, `${place}content`));
  if (text === "") {
    throw fail("invalid_value", "* EmbedContentRequest.content: content is empty", {
      param: `${place}content`,
    });
  }
  return { text, dimensions: dimensionsOf(json, "outputDimensionality") };
}

function readBatch(json: JsonObject, model: string): Wanted[] {
  refuseUnknown(json, BATCH_FIELDS);
  const { requests } = json;
  if (!Array.isArray(requests) || requests.length === 0 || requests.length > MAX_REQUESTS) {
    const message = `* BatchEmbedContentsRequest.requests: at least one and at most ${MAX_REQUESTS} requests can be in one batch`;
    throw fail("invalid_value", message, { param: "requests" });
  }
  return requests.map((request: unknown, i) => {
    const where = `requests[${i}]`;
    if (!isObject(request)) throw fail("invalid_value", `Invalid value at '${where}'.`, { param: where });
    if (request.model !== `models/${model}`) {
      const message = `* BatchEmbedContentsRequest.${where}.model: the model must be the path's, in the form models/{model}`;
      throw fail("invalid_value", message, { param: `${where}.model` });
    }
    return readWanted(request, where);
  });
}

const valuesOf = ({ text, dimensions }: Wanted) => ({ values: Array.from(vectorOf(text, dimensions)) });

function usageMetadata(wanted: readonly Wanted[], instruction: Instruction): JsonObject | undefined {
  const tokens = tokensOf(wanted.map(({ text }) => text));
  return routeUsage(instruction, tokens, (promptTokenCount) => ({ promptTokenCount }));
}

export const geminiEmbed: SimulatedRoute<GeminiEmbedRequest> = {
  path: modelPath("embedContent"),
  checkHeaders: refuseInvalidKey,
  read: (body) => readRoute(body, (json) => ({ wanted: [readWanted(json)] })),
  reply({ wanted }, instruction) {
    const [embedding] = wanted.map(valuesOf);
    return JSON.stringify({ embedding, usageMetadata: usageMetadata(wanted, instruction) });
  },
  error: googleError,
};

export const geminiBatchEmbed: SimulatedRoute<GeminiEmbedRequest> = {
  path: modelPath("batchEmbedContents"),
  checkHeaders: refuseInvalidKey,
  read(body, match) {
    const model = pathName(match.groups?.model);
    return readRoute(body, (json) => ({ wanted: readBatch(json, model) }));
  },
  reply({ wanted }, instruction) {
    const embeddings = wanted.map(valuesOf);
    return JSON.stringify({ embeddings, usageMetadata: usageMetadata(wanted, instruction) });
  },
  error: googleError,
};
