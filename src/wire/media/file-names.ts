/** What the name of a file tells of its type, and a name that tells it. */
import { hasMark } from "../neutral/source.ts";

/** By ending. The first ending of a type is the one that a name gets. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["htm", "text/html"],
  ["json", "application/json"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ["doc", "application/msword"],
  ["xls", "application/vnd.ms-excel"],
  ["ppt", "application/vnd.ms-powerpoint"],
]);

const ENDINGS: ReadonlyMap<string, string> = new Map(
  [...TYPES].reverse().map(([ending, type]) => [type, ending]),
);

/** The media type that a file's name tells; "" where it tells none. @param name whole, no mark of a source. */
export const fileType = (name: string): string =>
  TYPES.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "") ?? "";

/** A name for data of a type, for dialects that require one and read the type off its ending (OpenAI). */
export function fileName(name: string | undefined, mediaType: string): string {
  if (name === undefined || name === "") {
    const ending = ENDINGS.get(mediaType) ?? (mediaType.startsWith("text/") ? "txt" : undefined);
    return ending === undefined ? "document" : `document.${ending}`;
  }
  const ending = ENDINGS.get(mediaType);
  // A mark stands for a long name, whose ending is not seen here.
  return ending === undefined || hasMark(name) || fileType(name) === mediaType ? name : `${name}.${ending}`;
}
