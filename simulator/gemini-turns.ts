/**
 * Checks the contents of a Gemini request like the provider: roles, parts, function calls with their responses, and
 * thought signatures. Signatures are digests of their content, so a byte altered, or a move to another part, is
 * detected. Rules: https://ai.google.dev/gemini-api/docs/function-calling,
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
import { fail } from "../src/base/errors.ts";
import { refuseUnknown } from "./google-error.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { signatureOf } from "./signature.ts";

/** Values that the provider accepts instead of a signature for a call that it did not make itself. */
const UNVALIDATED: ReadonlySet<unknown> = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

/** A part has exactly one of these members, except that an empty text may carry a signature alone. */
const PART_DATA = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];
const PART_FIELDS: ReadonlySet<string> = new Set([
  ...PART_DATA,
  "thought",
  "thoughtSignature",
  "videoMetadata",
  "mediaResolution",
  "partMetadata",
]);
const CONTENT_FIELDS: ReadonlySet<string> = new Set(["role", "parts"]);
const CALL_FIELDS: ReadonlySet<string> = new Set(["id", "name", "args"]);
const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "name",
  "response",
  "parts",
  "willContinue",
  "scheduling",
]);

export interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly JsonObject[];
}

/** The signature of a function call: over its name and its arguments, in any order of members. */
export const callSignature = (name: string, args: unknown): string =>
  signatureOf(`call ${name} ${JSON.stringify(sorted(args))}`);

/** The signature that follows the text of a turn. */
export const textSignature = (text: string): string => signatureOf(`text ${text}`);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

/** @throws WeirError `invalid_value` as the provider refuses such contents */
export function readContents(json: unknown): Content[] {
  if (!Array.isArray(json) || json.length === 0) {
    throw fail("invalid_value", "* GenerateContentRequest.contents: contents is not specified", {
      param: "contents",
    });
  }
  const contents = json.map((content: unknown, i) => readContent(content, `contents[${i}]`));
  contents.forEach((content, i) => {
    checkCalls(contents, content, i);
  });
  checkSignatures(contents);
  return contents;
}

/** One content of a conversation, or a system instruction or a text to embed. @throws WeirError `invalid_value` */
export function readContent(json: unknown, where: string): Content {
  if (!isObject(json)) throw fail("invalid_value", `Invalid value at '${where}'.`, { param: where });
  refuseUnknown(json, CONTENT_FIELDS, where);
  const role = json.role ?? "user";
  if (role !== "user" && role !== "model") {
    throw fail("invalid_value", "Please use a valid role: user, model.", { param: `${where}.role` });
  }
  if (!Array.isArray(json.parts) || json.parts.length === 0) {
    const message = `* GenerateContentRequest.${where}.parts: contents.parts must not be empty.`;
    throw fail("invalid_value", message, { param: `${where}.parts` });
  }
  return {
    role: role === "model" ? "model" : "user",
    parts: json.parts.map((part: unknown, i) => readPart(part, `${where}.parts[${i}]`)),
  };
}

function readPart(part: unknown, where: string): JsonObject {
  if (!isObject(part)) throw fail("invalid_value", `Invalid value at '${where}'.`, { param: where });
  refuseUnknown(part, PART_FIELDS, where);
  const data = PART_DATA.filter((name) => part[name] !== undefined);
  if (data.length > 1) {
    const message = `Invalid value at '${where}' (oneof), oneof field 'data' is already set. Cannot set '${data[1]}'`;
    throw fail("invalid_value", message, { param: where });
  }
  if (data.length === 0 && typeof part.thoughtSignature !== "string") {
    const message = `* GenerateContentRequest.${where}.data: required oneof field 'data' must have one initialized field`;
    throw fail("invalid_value", message, { param: `${where}.data` });
  }
  if (part.text !== undefined && typeof part.text !== "string") {
    throw fail("invalid_value", `Invalid value at '${where}.text' (TYPE_STRING)`, { param: `${where}.text` });
  }
  for (const [name, fields] of [
    ["functionCall", CALL_FIELDS],
    ["functionResponse", RESPONSE_FIELDS],
  ] as const) {
    if (part[name] === undefined) continue;
    const named = memberOf(part, name);
    if (typeof named.name !== "string" || named.name === "") {
      const snake = name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`);
      const message = `* GenerateContentRequest.${where}.${snake}.name: Name cannot be empty.`;
      throw fail("invalid_value", message, { param: `${where}.${name}.name` });
    }
    refuseUnknown(named, fields, `${where}.${name}`);
    const value = name === "functionCall" ? (named.args ?? {}) : named.response;
    if (!isObject(value)) {
      throw fail(
        "invalid_value",
        `Invalid value at '${where}.${name}' (type.googleapis.com/google.protobuf.Struct)`,
        {
          param: `${where}.${name}`,
        },
      );
    }
  }
  return part;
}

const memberOf = (part: JsonObject, name: string): JsonObject => {
  const value = part[name];
  return isObject(value) ? value : {};
};

const named = (content: Content | undefined, name: "functionCall" | "functionResponse"): JsonObject[] =>
  (content?.parts ?? []).filter((part) => part[name] !== undefined).map((part) => memberOf(part, name));

/** Calls follow a user content, and the next content answers them, one response per call, by name and by id. */
function checkCalls(contents: readonly Content[], content: Content, index: number): void {
  const before = contents[index - 1];
  const refuse = (message: string) => fail("invalid_value", message, { param: `contents[${index}]` });
  const calls = named(content, "functionCall");
  if (calls.length > 0 && (content.role !== "model" || before?.role !== "user")) {
    throw refuse(
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    );
  }
  const next = contents[index + 1];
  if (calls.length > 0 && next !== undefined && named(next, "functionResponse").length !== calls.length) {
    throw refuse(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
  }
  const responses = named(content, "functionResponse");
  if (responses.length === 0) return;
  const asked = named(before, "functionCall");
  if (content.role !== "user" || asked.length === 0) {
    throw refuse("Please ensure that function response turn comes immediately after a function call turn.");
  }
  for (const response of responses) {
    const at = asked.findIndex(
      (call) => call.name === response.name && (response.id === undefined || call.id === response.id),
    );
    if (at < 0) {
      throw refuse(
        `Function response '${String(response.name)}' does not match any function call before it.`,
      );
    }
    asked.splice(at, 1);
  }
}

/**
 * The first call of each step of the current turn must return its signature; any signature present must be correct. The
 * current turn begins after the last content in which the user sends anything but responses.
 */
function checkSignatures(contents: readonly Content[]): void {
  const turn = contents.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some((part) => part.functionResponse === undefined),
  );
  contents.forEach(({ role, parts }, index) => {
    if (role !== "model") return;
    const first = parts.find((part) => part.functionCall !== undefined);
    if (index > turn && first !== undefined && first.thoughtSignature === undefined) {
      const name = String(memberOf(first, "functionCall").name);
      throw fail(
        "invalid_value",
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}.`,
        { param: `contents[${index}]` },
      );
    }
    let text = "";
    parts.forEach((part, at) => {
      if (part.thought === true) return;
      text += typeof part.text === "string" ? part.text : "";
      const signature = part.thoughtSignature;
      if (signature === undefined || UNVALIDATED.has(signature)) return;
      const call = memberOf(part, "functionCall");
      const right =
        part.functionCall === undefined
          ? textSignature(text)
          : callSignature(String(call.name), call.args ?? {});
      if (signature !== right) {
        throw fail("invalid_value", "Corrupted thought signature.", {
          param: `contents[${index}].parts[${at}].thoughtSignature`,
        });
      }
    });
  });
}

/** The text of a content as counted in prompts: texts and function responses. */
export function textOfContent({ parts }: Content): string {
  return parts
    .map((part) => {
      if (part.functionResponse !== undefined)
        return JSON.stringify(memberOf(part, "functionResponse").response);
      return typeof part.text === "string" ? part.text : "";
    })
    .join("");
}
