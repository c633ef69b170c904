/**
 * Finds the member of a client's body that asks for a capability, for the pointer of a refusal. Looked for only then; the
 * body is not built, long strings stay out of it.
 */
import { pointerTo } from "../base/document/document.ts";
import type { Capabilities } from "../base/endpoint.ts";
import type { ClientFormat, ClientRequest, FormatName } from "./format.ts";
import { memberOf } from "./json/json.ts";
import { LARGE_BODY_BYTES } from "./neutral/contract.ts";

type Needed = Exclude<keyof Capabilities, "cache">;

/** JSON pointer to the part or member; to the whole prompt where more cannot be said. */
export function neededAt(
  { name, promptAt }: Pick<ClientFormat, "name" | "promptAt">,
  request: ClientRequest,
  needed: Needed,
): string {
  const types = PARTS[needed];
  if (types !== undefined) return partAt(request, promptAt, types) ?? promptAt;
  const places = (PLACES[name]?.[needed] ?? []).filter(([member]) => memberOf(request.members, member));
  return places[0] === undefined ? promptAt : pointerTo(places[0]);
}

/** `type` of the parts, in every format that has them. */
const PARTS: Partial<Readonly<Record<Needed, ReadonlySet<unknown>>>> = {
  vision: new Set(["image_url", "image", "input_image", "computer_screenshot"]),
  audio: new Set(["input_audio", "audio"]),
};

/** Where a format says that it wants the thing: the first whose member is there. */
const PLACES: Partial<
  Readonly<Record<FormatName, Partial<Readonly<Record<Needed, readonly (readonly [string, ...string[]])[]>>>>>
> = {
  chat: {
    tools: [["tools"]],
    parallelTools: [["parallel_tool_calls"]],
    jsonSchema: [["response_format"]],
  },
  responses: {
    tools: [["tools"]],
    parallelTools: [["parallel_tool_calls"]],
    jsonSchema: [["text", "format"]],
  },
  messages: {
    tools: [["tools"]],
    parallelTools: [["tool_choice", "disable_parallel_tool_use"]],
    jsonSchema: [["output_config", "format"], ["output_format"]],
  },
  generate: {
    tools: [["tools"]],
    parallelTools: [["parallel_tools"]],
    jsonSchema: [["format"]],
  },
};

/** Members of items and parts that hold parts. */
const HOLDERS: ReadonlySet<string> = new Set(["content", "output", "source"]);

function partAt(request: ClientRequest, promptAt: string, types: ReadonlySet<unknown>): string | undefined {
  const prompt = skeletonOf(request, promptAt.slice(1));
  if (prompt === undefined) return undefined;
  const path = pathTo(prompt, types);
  return path && promptAt + pointerTo(path);
}

/**
 * A member's value, its long strings emptied. Undefined where it is missing or still so large that reading it takes long.
 */
function skeletonOf({ bytes, members, elided }: ClientRequest, name: string): unknown {
  const member = memberOf(members, name);
  if (member === undefined) return undefined;
  const kept: string[] = [];
  let length = 0;
  let from = member.valueStart;
  for (const { start, end } of [...elided, { start: member.valueEnd, end: member.valueEnd }]) {
    if (start < from || start > member.valueEnd) continue;
    length += start - from;
    if (length > LARGE_BODY_BYTES) return undefined;
    kept.push(bytes.toString("latin1", from, start));
    from = end;
  }
  return JSON.parse(kept.join(""));
}

/** In the order of the text. The body's reader has bounded its depth. */
function pathTo(value: unknown, types: ReadonlySet<unknown>): string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value) && "type" in value && types.has(value.type)) return [];
  for (const [key, inner] of Object.entries(value)) {
    // Not into a tool's arguments: they are the model's words.
    const path = Array.isArray(value) || HOLDERS.has(key) ? pathTo(inner, types) : undefined;
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}
