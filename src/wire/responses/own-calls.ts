/**
 * Calls of tools that OpenAI defines and the client runs, as items: the members of each that a client reads are there, whatever the
 * model wrote (OpenAI API reference, "The response object", `output`). All JSON is latin1.
 */
import { jsonIn } from "../../base/json.ts";
import { applyEdits, jsonAt, memberOf, membersOf, utf8Of } from "../json/json.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import type { OwnKind } from "../neutral/neutral.ts";
import type { ItemStatus } from "./kinds.ts";

/** The item as JSON. @param args JSON text of an object, on one line */
export function ownCallJson(
  kind: OwnKind,
  ids: { readonly id: string; readonly call_id: string },
  status: ItemStatus,
  args: string,
): string {
  const { id, call_id } = ids;
  const head = (told: ItemStatus) =>
    latin1OfJson({ id, type: `${kind}_call`, status: told, call_id }).slice(0, -1);
  switch (kind) {
    case "tool_search":
      return `${head(status)},"execution":"client","arguments":${args}}`;
    case "local_shell":
      return `${head(status)},"action":${filledIn(withList(args, "command", forBash), ACTION)}}`;
    case "shell":
      return `${head(status)},"environment":{"type":"local"},"action":${filledIn(withList(args, "commands", alone), ACTIONS)}}`;
    case "apply_patch":
      // The API has no word for a patch that was cut off.
      return `${head(status === "incomplete" ? "in_progress" : status)},"operation":${operationOf(args)}}`;
  }
}

/** Members that an object must have, with the JSON text of each where the model wrote none. */
type Needed = Readonly<Record<string, string>>;

const ACTION: Needed = { type: '"exec"', command: "[]", env: "{}" };
const ACTIONS: Needed = { commands: "[]", timeout_ms: "null", max_output_length: "null" };
const OPERATION: Needed = { type: '"update_file"', path: '""' };
const WITH_DIFF: Needed = { ...OPERATION, diff: '""' };

function operationOf(args: string): string {
  const type = jsonAt(args, membersOf(args) ?? [], "type");
  return filledIn(args, type === '"delete_file"' ? OPERATION : WITH_DIFF);
}

function filledIn(args: string, needed: Needed): string {
  const members = membersOf(args);
  // One that has a name twice, or more names than are looked at.
  if (members === undefined) return args;
  const added = Object.entries(needed).flatMap(([key, json]) =>
    memberOf(members, key) === undefined ? [`"${key}":${json}`] : [],
  );
  if (added.length === 0) return args;
  const rest = members.length === 0 ? "}" : `,${args.slice(args.indexOf("{") + 1)}`;
  return `{${added.join(",")}${rest}`;
}

/** As Codex's own models call its shell. */
const forBash = (line: string): string[] => ["bash", "-lc", line];
const alone = (line: string): string[] => [line];

/** A client reads a list; models write it as one text too, of the list or of a line for a shell. */
function withList(args: string, name: string, listOf: (line: string) => string[]): string {
  const member = memberOf(membersOf(args) ?? [], name);
  if (member === undefined || args[member.valueStart] !== '"') return args;
  const { valueStart: start, valueEnd: end } = member;
  const line = JSON.parse(utf8Of(args.slice(start, end))) as string;
  return applyEdits(args, [{ start, end, text: latin1OfJson(textsIn(line) ?? listOf(line)) }]);
}

/** The list of texts that a JSON text is; undefined where it is none. */
function textsIn(json: string): string[] | undefined {
  if (!json.startsWith("[")) return undefined;
  const texts = jsonIn(json);
  return Array.isArray(texts) && texts.every((text) => typeof text === "string") ? texts : undefined;
}
