/**
 * Reads a Bedrock Converse request and its headers. Unknown fields are refused, so that a member left over from another
 * dialect is detected. Shapes: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import { fail } from "../src/base/errors.ts";
import { type Message, readMessages, refused, textOfMessage, unsignedTurnOf } from "./converse-turns.ts";
import type { Headers } from "./dialect.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { contentText, parseObject, prompted, type SimulatedRequest, type Tool } from "./simulated-request.ts";
import { pathName, shown } from "./simulated-route.ts";

export interface ConverseRequest extends SimulatedRequest {
  /** Additional members of the model's own answer to return, as JSON pointers. */
  readonly responsePaths: readonly string[];
}

const FIELDS = [
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "guardrailConfig",
  "additionalModelRequestFields",
  "promptVariables",
  "additionalModelResponseFieldPaths",
  "requestMetadata",
  "performanceConfig",
  "serviceTier",
  "outputConfig",
  "simulator",
];
const INFERENCE_FIELDS = ["maxTokens", "temperature", "topP", "stopSequences"];
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const SIGNED =
  /^AWS4-HMAC-SHA256 Credential=\S+?\/(?<day>\d{8})\/[a-z0-9-]+\/bedrock\/aws4_request, ?SignedHeaders=(?<signed>[a-z0-9;-]+), ?Signature=[0-9a-f]{64}$/;

/**
 * @throws WeirError 403 unless there is an API key other than `invalid`, or a signature of the right form (not
 *   verified)
 */
export function checkAuthorization(headers: Headers): void {
  const { authorization = "" } = headers;
  const refuse = (message: string) => fail("denied_by_policy", message, { status: 403 });
  if (authorization === "Bearer invalid") {
    throw refuse("Authentication failed: Please make sure your API Key is valid.");
  }
  if (/^Bearer \S+$/.test(authorization)) return;
  if (authorization === "") throw refuse("Missing Authentication Token");
  const parts = SIGNED.exec(authorization)?.groups;
  if (parts === undefined)
    throw refuse(`Authorization header is not a bearer token nor a signature of version 4.`);
  const signed = (parts.signed ?? "").split(";");
  const time = /^(\d{8})T\d{6}Z$/.exec(headers["x-amz-date"] ?? "");
  if (time === null || !signed.includes("host") || !signed.includes("x-amz-date")) {
    throw refuse("Authorization header requires the headers 'host' and 'X-Amz-Date', both signed.");
  }
  if (time[1] !== parts.day)
    throw refuse("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP.");
}

/** @throws WeirError `invalid_json` or `invalid_value`, as the service would refuse the request */
export function readConverse(body: Buffer, match: RegExpExecArray): ConverseRequest {
  const json = parseObject(body);
  refuseUnknown(json, FIELDS);
  const inference = objectAt(json, "inferenceConfig");
  refuseUnknown(inference, INFERENCE_FIELDS, "inferenceConfig");
  checkSampling(inference);
  const { tools, toolChoice } = readToolConfig(json.toolConfig);
  const messages = readMessages(json.messages, json.toolConfig !== undefined);
  checkThinking(objectAt(json, "additionalModelRequestFields"), inference, toolChoice);
  const system = readSystem(json.system);
  const unsigned = unsignedTurnOf(messages);
  return {
    model: pathName(match.groups?.model),
    stream: match.groups?.method === "converse-stream",
    includeUsage: true,
    n: 1,
    maxTokens: wholeAt(inference, "maxTokens") ?? Number.POSITIVE_INFINITY,
    tools,
    toolChoice,
    format: readFormat(objectAt(json, "outputConfig")),
    stopSequences: textsAt(inference, "stopSequences"),
    responsePaths: textsAt(json, "additionalModelResponseFieldPaths"),
    ...prompted(json, [...system, ...messages.map(textOfMessage)], lastUserText(messages)),
    ...(unsigned === undefined ? {} : { unsignedTurn: unsigned }),
  };
}

/** The last text of the user, without tool results. */
function lastUserText(messages: readonly Message[]): string {
  const texts = messages.map(({ role, content }) => (role === "user" ? contentText(content) : ""));
  return texts.findLast((text) => text !== "") ?? "";
}

function refuseUnknown(json: JsonObject, known: readonly string[], at = "#"): void {
  const stranger = Object.keys(json).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  const message = `Malformed input request: ${at}: extraneous key [${stranger}] is not permitted, please reformat your input and try again.`;
  throw refused(at === "#" ? stranger : `${at}.${stranger}`, message);
}

function objectAt(json: JsonObject, name: string): JsonObject {
  const value = json[name] ?? {};
  if (isObject(value)) return value;
  throw refused(
    name,
    `The format of the value at ${name} is invalid. Provide a json object for the field and try again.`,
  );
}

function textsAt(json: JsonObject, name: string): string[] {
  const value = json[name] ?? [];
  if (Array.isArray(value) && value.every((text) => typeof text === "string" && text !== "")) return value;
  throw refused(name, `The value at ${name} is not a list of texts.`);
}

function wholeAt(json: JsonObject, name: string): number | undefined {
  const value = json[name];
  if (value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= 1))
    return value;
  throw refused(
    `inferenceConfig.${name}`,
    `Value '${shown(value)}' at 'inferenceConfig.${name}' failed to satisfy constraint: Member must have value greater than or equal to 1`,
  );
}

function checkSampling(inference: JsonObject): void {
  for (const name of ["temperature", "topP"] as const) {
    const value = inference[name];
    if (value === undefined || (typeof value === "number" && value >= 0 && value <= 1)) continue;
    throw refused(
      `inferenceConfig.${name}`,
      `Value '${shown(value)}' at 'inferenceConfig.${name}' failed to satisfy constraint: Member must have value less than or equal to 1`,
    );
  }
}

/** The members of `additionalModelRequestFields` that Claude knows are checked as Claude does. */
function checkThinking(
  more: JsonObject,
  inference: JsonObject,
  toolChoice: SimulatedRequest["toolChoice"],
): void {
  const { thinking } = more;
  if (!isObject(thinking) || thinking.type === "disabled") return;
  const refuse = (message: string) =>
    refused("additionalModelRequestFields.thinking", `The model returned the following errors: ${message}`);
  const { type, budget_tokens: budget } = thinking;
  if (type !== "enabled" && type !== "adaptive")
    throw refuse("thinking.type: Input should be 'enabled', 'adaptive' or 'disabled'");
  if (type === "enabled") {
    if (typeof budget !== "number" || budget < 1_024) {
      throw refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
    }
    if (typeof inference.maxTokens === "number" && inference.maxTokens <= budget) {
      throw refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
    }
  }
  if (inference.temperature !== undefined && inference.temperature !== 1) {
    throw refuse("`temperature` may only be set to 1 when thinking is enabled.");
  }
  if (toolChoice === "required" || typeof toolChoice === "object") {
    throw refuse("Thinking may not be enabled when tool_choice forces tool use.");
  }
}

function readSystem(system: unknown): string[] {
  if (system === undefined) return [];
  if (!Array.isArray(system)) throw refused("system", "The value at system is not a list.");
  return system.map((block: unknown, i) => {
    const names = isObject(block) ? Object.keys(block) : [];
    if (names.length !== 1 || !["text", "guardContent", "cachePoint"].includes(names[0] ?? "")) {
      throw refused(
        `system.${i}`,
        `The union at system.${i} must have exactly one of text, guardContent, cachePoint.`,
      );
    }
    if (isObject(block) && block.text === "") {
      throw refused(
        `system.${i}`,
        `The text field in the SystemContentBlock object at system.${i} is blank. Add text to the text field, and try again.`,
      );
    }
    return contentText([block]);
  });
}

function readToolConfig(config: unknown): Pick<SimulatedRequest, "tools" | "toolChoice"> {
  if (config === undefined) return { tools: [], toolChoice: "auto" };
  if (!isObject(config) || !Array.isArray(config.tools) || config.tools.length === 0) {
    throw refused(
      "toolConfig.tools",
      "Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
    );
  }
  refuseUnknown(config, ["tools", "toolChoice"], "toolConfig");
  const tools = config.tools.flatMap(readTool);
  const choice = config.toolChoice ?? { auto: {} };
  const names = isObject(choice) ? Object.keys(choice) : [];
  if (isObject(choice) && names.length === 1) {
    if (isObject(choice.auto)) return { tools, toolChoice: "auto" };
    if (isObject(choice.any)) return { tools, toolChoice: "required" };
    const name = isObject(choice.tool) ? choice.tool.name : undefined;
    if (typeof name === "string" && tools.some((tool) => tool.name === name))
      return { tools, toolChoice: { name } };
  }
  throw refused(
    "toolConfig.toolChoice",
    "The toolChoice at toolConfig must be auto, any, or a tool among the tools.",
  );
}

function readTool(tool: unknown, index: number): Tool[] {
  const at = `toolConfig.tools.${index}`;
  const names = isObject(tool) ? Object.keys(tool) : [];
  if (!isObject(tool) || names.length !== 1)
    throw refused(at, `The union at ${at} must have exactly one member.`);
  if (isObject(tool.cachePoint) || isObject(tool.systemTool)) return [];
  const spec = tool.toolSpec;
  if (!isObject(spec) || typeof spec.name !== "string" || !TOOL_NAME.test(spec.name)) {
    throw refused(
      `${at}.toolSpec.name`,
      `The name at ${at}.toolSpec must satisfy the pattern [a-zA-Z0-9_-]+ and 64 characters.`,
    );
  }
  refuseUnknown(spec, ["name", "description", "inputSchema", "strict"], `${at}.toolSpec`);
  if (spec.description === "") {
    throw refused(
      `${at}.toolSpec.description`,
      `The description at ${at}.toolSpec must have length greater than or equal to 1.`,
    );
  }
  const schema = isObject(spec.inputSchema) ? spec.inputSchema.json : undefined;
  if (!isObject(schema) || schema.type !== "object") {
    throw refused(
      `${at}.toolSpec.inputSchema.json`,
      `The value at ${at}.toolSpec.inputSchema.json.type must be one of the following: object.`,
    );
  }
  return [{ name: spec.name, parameters: schema }];
}

/** The answer's schema is JSON in a string. */
function readFormat({ textFormat }: JsonObject): SimulatedRequest["format"] {
  if (textFormat === undefined) return "text";
  const at = "outputConfig.textFormat";
  const structure = isObject(textFormat) && isObject(textFormat.structure) ? textFormat.structure : {};
  const text = isObject(structure.jsonSchema) ? structure.jsonSchema.schema : undefined;
  if (!isObject(textFormat) || textFormat.type !== "json_schema" || typeof text !== "string") {
    throw refused(at, `The value at ${at} must be of type json_schema with its schema as a text.`);
  }
  try {
    const schema: unknown = JSON.parse(text);
    return { schema };
  } catch {
    throw refused(at, `The schema at ${at} is not JSON.`);
  }
}
