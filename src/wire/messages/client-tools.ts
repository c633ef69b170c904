/**
 * Tools that Anthropic defines and the client runs, as functions for other dialects: a call of one is a `tool_use` like any other. Their
 * schemas are built into Anthropic's models, so the descriptions say what those know (Anthropic, "Bash tool", "Text editor tool").
 */
import { JsonText } from "../json/json-text.ts";

interface ClientTool {
  readonly description: string;
  readonly parameters: JsonText;
}

const BASH: ClientTool = {
  description:
    "Runs commands in a bash session on the user's machine, which stays open from call to call, and returns their output.",
  parameters: JsonText.of({
    type: "object",
    properties: {
      command: { type: "string", description: "The command to run. Required unless restart is true." },
      restart: { type: "boolean", description: "True begins a new session." },
    },
  }),
};

const PATH = { type: "string", description: "The file or directory." };

/** @param commands of the version @param inserted the member with the text that `insert` adds */
const editorOf = (commands: readonly string[], inserted: "new_str" | "insert_text"): ClientTool => ({
  description: "Views, creates and edits files on the user's machine.",
  parameters: JsonText.of({
    type: "object",
    properties: {
      command: { type: "string", enum: commands },
      path: PATH,
      view_range: {
        type: "array",
        items: { type: "integer" },
        description: "For view: the first and the last line to show, from 1; -1 is the end of the file.",
      },
      file_text: { type: "string", description: "For create: the content of the file." },
      old_str: {
        type: "string",
        description: "For str_replace: the text to replace. It must be in the file exactly once.",
      },
      new_str: {
        type: "string",
        description: `For str_replace: the text in its place.${inserted === "new_str" ? " For insert: the text to insert." : ""}`,
      },
      insert_line: {
        type: "integer",
        description: "For insert: the line behind which the text is inserted; 0 is the beginning.",
      },
      ...(inserted === "insert_text" && {
        insert_text: { type: "string", description: "For insert: the text to insert." },
      }),
    },
    required: ["command", "path"],
  }),
});

const COMMANDS = ["view", "create", "str_replace", "insert"];
const OLDER_EDITOR = editorOf([...COMMANDS, "undo_edit"], "new_str");
/** Models insert `insert_text`, though a page of Anthropic's said `new_str` (anthropics/anthropic-sdk-python#1155). */
const EDITOR = editorOf(COMMANDS, "insert_text");

/** The first version for Claude 4. */
const EDITOR_OF_CLAUDE_4 = 20250429;

const VERSIONED = /^(bash|text_editor)_(\d{8})$/;

/** Undefined of types that the client does not run, or that are not known. */
export function clientTool(type: unknown): ClientTool | undefined {
  const [, name, version] = (typeof type === "string" && VERSIONED.exec(type)) || [];
  if (name === undefined) return undefined;
  if (name === "bash") return BASH;
  return Number(version) < EDITOR_OF_CLAUDE_4 ? OLDER_EDITOR : EDITOR;
}
