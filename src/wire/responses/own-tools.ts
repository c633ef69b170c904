/**
 * Tools that OpenAI defines and the client runs, as functions for other dialects, and what they gave, as words (OpenAI API reference,
 * "Local shell", "Shell", "Apply patch"). Their descriptions say what OpenAI's models know without being told.
 */
import { JsonText } from "../json/json-text.ts";
import type { OwnKind } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";

interface OwnFunction {
  readonly description: string;
  readonly parameters: JsonText;
}

const TEXT = { type: "string" };

/** Their arguments are the `action` of a shell's call, and the `operation` of a patch. A client says itself how its search is called. */
export const OWN_FUNCTIONS: Readonly<Record<Exclude<OwnKind, "tool_search">, OwnFunction>> = {
  local_shell: {
    description: "Runs a command in a shell on the user's machine, and returns its output.",
    parameters: JsonText.of({
      type: "object",
      properties: {
        command: { type: "array", items: TEXT, description: "The program and its arguments." },
        working_directory: TEXT,
        timeout_ms: { type: "integer" },
        env: { type: "object", additionalProperties: TEXT },
      },
      required: ["command"],
    }),
  },
  shell: {
    description: "Runs commands in a shell on the user's machine, and returns the output of each.",
    parameters: JsonText.of({
      type: "object",
      properties: {
        commands: {
          type: "array",
          items: TEXT,
          description: "Lines for a shell. They may run at the same time.",
        },
        timeout_ms: { type: "integer", description: "How long each may take." },
        max_output_length: { type: "integer", description: "Characters to return of each one's output." },
      },
      required: ["commands"],
    }),
  },
  apply_patch: {
    description: "Creates, changes or deletes a file of the user's. Each call is about one file.",
    parameters: JsonText.of({
      type: "object",
      properties: {
        type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
        path: { type: "string", description: "The file, relative to the workspace." },
        diff: {
          type: "string",
          description:
            "For create_file all lines of the file, each behind a +. For update_file the changes in the V4A format: each begins with a line @@, which may name the class or function it is in, then come lines behind a space (kept, about three before and after), a - (removed) or a + (added). There are no line numbers and no header. Not for delete_file.",
        },
      },
      required: ["type", "path"],
    }),
  },
};

/** The kind of a tool that the client runs; undefined of all others. A shell without an environment is older than those of the provider. */
export function ownKindOf({ type, environment, execution }: JsonObject): OwnKind | undefined {
  if (type === "local_shell" || type === "apply_patch") return type;
  if (type === "shell") return (objectOf(environment).type ?? "local") === "local" ? type : undefined;
  return type === "tool_search" && execution === "client" ? type : undefined;
}

/** What a shell's commands gave, one after the other. @param output a list with the output of each */
export const shellText = (output: unknown): string => listOf(output).map(commandText).join("\n\n");

function commandText(given: unknown): string {
  const { stdout, stderr, outcome } = objectOf(given);
  const { type, exit_code: code } = objectOf(outcome);
  const lines: string[] = [];
  if (stringOf(stdout) !== "") lines.push(stringOf(stdout));
  if (stringOf(stderr) !== "") lines.push(`stderr:\n${stringOf(stderr)}`);
  if (type === "timeout") lines.push("timed out");
  else if (typeof code === "number") lines.push(`exit code: ${code}`);
  return lines.join("\n");
}

/** Whether a shell's result has the output of commands: clients also give a text, or parts as other tools do. */
export const isOfCommands = (output: unknown): boolean =>
  Array.isArray(output) && output.every((one) => isObject(one) && one.type == null);

/** What there is to say of a patch; undefined where its output says all. @param hasOutput it has one */
export function patchNote(status: unknown, hasOutput: boolean): string | undefined {
  if (status === "failed") return "The patch could not be applied.";
  return hasOutput ? undefined : "The patch was applied.";
}
