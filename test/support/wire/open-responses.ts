/**
 * Responses objects and streamed events, held to the schema of Open Responses (`test/fixtures/open-responses`). Where OpenAI's API,
 * which its clients are made for, says otherwise than the schema, the API is followed: {@link AMENDED} and {@link RENAMED} list it.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Json } from "../conformance/ask.ts";
import { expectSame } from "../same.ts";

const published: Json = JSON.parse(
  readFileSync(new URL("../../fixtures/open-responses/schema.json", import.meta.url), "utf8"),
);

/** The members whose schema is amended, by model and name. */
const AMENDED: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  // The schema allows null alone. The API repeats the client's schema here (API reference, "Response", `text.format`).
  JsonSchemaResponseFormat: { schema: { type: "object" } },
  // The API has these efforts as well (API reference, "Create a model response", `reasoning.effort`).
  ReasoningEffortEnum: { enum: ["none", "minimal", "low", "medium", "high", "xhigh", "max"] },
};

/** Events that the API has under another name (API reference, "Streaming events"). */
const RENAMED: Readonly<Record<string, string>> = {
  "response.reasoning_text.delta": "response.reasoning.delta",
  "response.reasoning_text.done": "response.reasoning.done",
};

/** Events of free-form tools, which the schema leaves to extensions (API reference, "Streaming events"): their texts by type. */
const FREE_FORM: Readonly<Record<string, string>> = {
  "response.custom_tool_call_input.delta": "delta",
  "response.custom_tool_call_input.done": "input",
};

/** What the schema leaves to extensions: items and tools of these kinds are checked as far as every one goes. */
const ITEMS: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "reasoning",
  "compaction",
]);
const CHOICES: ReadonlySet<string> = new Set(["function", "allowed_tools"]);

const schemas: Json = { ...published, $defs: amended() };

function amended(): Json {
  const { ReasoningEffortEnum, ...members } = AMENDED;
  const models = { ...published.$defs };
  models.ReasoningEffortEnum = { ...models.ReasoningEffortEnum, ...ReasoningEffortEnum };
  for (const [model, changed] of Object.entries(members)) {
    models[model] = { ...models[model], properties: { ...models[model].properties, ...changed } };
  }
  return models;
}

/** The model of each event by the event's type. */
const EVENTS: ReadonlyMap<string, string> = new Map(
  Object.keys(published.$defs)
    .filter((name) => name.endsWith("StreamingEvent"))
    .map((name) => [typeOf(published.$defs[name]), name]),
);

function typeOf({ properties }: Json): string {
  const { $ref, ...own } = properties.type;
  return ($ref === undefined ? own : published.$defs[$ref.split("/").at(-1)]).enum[0];
}

const parsers = new Map<string, z.ZodType>();

function parserOf(model: string): z.ZodType {
  const made = parsers.get(model) ?? z.fromJSONSchema({ ...schemas, $ref: `#/$defs/${model}` } as never);
  parsers.set(model, made);
  return made;
}

const faultsOf = (model: string, value: unknown): string => {
  const { error } = parserOf(model).safeParse(value);
  return error === undefined ? "" : z.prettifyError(error);
};

/** @throws where the response object is not as the schema says */
export function expectResponse(response: Json): void {
  expectSame(faultsOf("ResponseResource", known(response)), "", JSON.stringify(response));
  for (const item of response.output) expectItem(item);
  for (const tool of response.tools) expectSame(typeof tool.type, "string", JSON.stringify(tool));
}

/** @throws where a streamed event, or what it holds, is not as the schema says, or where the schema has no such event */
export function expectEvent(event: Json): void {
  const { type, response, item } = event;
  const text = FREE_FORM[type];
  if (text !== undefined) {
    const { sequence_number, item_id, output_index, [text]: said } = event;
    expectSame(
      [sequence_number, item_id, output_index, said].map((value) => typeof value),
      ["number", "string", "number", "string"],
      JSON.stringify(event),
    );
    return;
  }
  const model = EVENTS.get(RENAMED[type] ?? type);
  if (model === undefined) throw new Error(`There is no event "${type}" in the schema.`);
  const standing = { ...event, type: RENAMED[type] ?? type };
  if (response !== undefined) standing.response = known(response);
  if (item !== undefined && !ITEMS.has(item.type)) standing.item = null;
  expectSame(faultsOf(model, standing), "", JSON.stringify(event));
  if (response !== undefined) expectResponse(response);
  if (item !== undefined) expectItem(item);
}

/** Every kind of item has these members, and one of the schema's own kinds all of the model's. */
function expectItem(item: Json): void {
  for (const name of ["id", "type"]) expectSame(typeof item[name], "string", JSON.stringify(item));
  if (item.type === "custom_tool_call") {
    for (const name of ["call_id", "name", "input"]) {
      expectSame(typeof item[name], "string", JSON.stringify(item));
    }
  }
}

/** The response without what the schema leaves to extensions. */
const known = (response: Json): Json => ({
  ...response,
  output: response.output.filter(({ type }: Json) => ITEMS.has(type)),
  tools: response.tools?.filter(({ type }: Json) => type === "function"),
  tool_choice:
    typeof response.tool_choice === "object" && !CHOICES.has(response.tool_choice?.type)
      ? "auto"
      : response.tool_choice,
});
