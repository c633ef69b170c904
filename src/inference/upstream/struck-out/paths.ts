/** Paths of files. A JSON pointer begins with none of these folders, or goes on with a number. */

const FOLDERS = [
  "home|root|usr|opt|app|srv|var|tmp|mnt|workspaces?|models?|Users|proc|etc|dev|data",
  "vllm-workspace|sgl-workspace|model[-_]cache|models[-_]cache|hf[-_]cache|huggingface|runpod-volume|volumes?|checkpoints?|weights",
  "nix|github|builds?|kaggle|snap|private|Volumes|Applications|Library|System|sys|run|lib(?:32|64)?|s?bin|nfs|scratch|gpfs|lustre|fsx",
  "efs|dbfs|databricks|secrets|logs?|code|conda|venv",
].join("|");

/** What a path may hold, up to a sign that ends it. */
const REST = "[^\\s\"'`,;:)\\]}>]{1,300}";

const PATHS: readonly RegExp[] = [
  new RegExp(`(?<![\\w.:/\\]-])/(?:${FOLDERS})/(?!\\d{1,6}(?:[/\\s]|$))${REST}`, "g"),
  new RegExp(`(?<![\\w.~-])~/(?=[\\w.])${REST}`, "g"),
  /(?<![\w.:/\]-])\/proc\/\d{1,7}\/[\w/]{1,100}/g,
  /\bfile:\/{1,3}(?=[\w~.])[^\s"'`,;)\]}>]{1,300}/gi,
  /\b[A-Za-z]:\\{1,2}(?:[\w.-]{1,100}\\{1,2})[^\s"'`,;)\]}>]{1,300}/g,
  /\b[A-Z]:\/(?!\/)[\w.-]{1,100}\/[^\s"'`,;)\]}>]{1,300}/g,
  // A share: `\\host\share\file`. Commands of TeX begin alike.
  /(?<![\w\\])(?:\\{2}|\\{4})(?:(?=[a-z-]{0,60}[\d.-])|(?=[\w.-]{2,64}(?:\\{1,2}[\w$.-]{2,80}){2}))[A-Za-z\d][\w.-]{1,63}\\{1,2}[\w$.-]{2,80}(?:\\{1,2}[\w$.-]{1,100}){0,20}/gi,
];

/** Removes paths of files from a provider's message. */
export function withoutPaths(message: string): string {
  let text = message;
  for (const paths of PATHS) text = text.replaceAll(paths, "[path]");
  return text;
}
