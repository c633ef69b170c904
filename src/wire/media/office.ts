/**
 * Documents of offices. They are zip files (ECMA-376, part 2) or, older ones, OLE files ([MS-CFB]), and so are many other things: which
 * one it is, the label or the file's name says, or the folders that a zip file names.
 */
import type { Source } from "../neutral/source.ts";
import { fileType } from "./file-names.ts";
import { lettersOf, OLE, ZIP } from "./first-bytes.ts";
import { isText, isVague, kindOf, PDF } from "./types.ts";

export const XLS = "application/vnd.ms-excel";
const OLDER: readonly string[] = ["application/msword", XLS, "application/vnd.ms-powerpoint"];

/** By the folder that holds the document itself. */
const ZIPPED: Readonly<Record<string, string>> = {
  word: fileType(".docx"),
  xl: fileType(".xlsx"),
  ppt: fileType(".pptx"),
};

const FOLDER = /(?<![\w/ .-])(word|xl|ppt)\//;

/** Letters of base64 for three bytes. */
const LETTERS = 4;

/** Characters of base64 at each end of a zip file where its folders are looked for: its first files, and the list of all. */
const LOOKED_AT = 4096;

/**
 * The type of a file that begins as a container; the container's own where nothing tells more.
 * @param container its type, as the first bytes tell it @param name of the file, whole @param data base64, or its mark
 */
export function typeInside(
  container: string,
  label: string,
  name: string,
  data: string,
  source: Source,
): string {
  if (fits(label, container)) return label;
  const named = fileType(name);
  if (fits(named, container)) return named;
  return (container === ZIP && ZIPPED[folderIn(data, source)]) || container;
}

/** Whether files of a type may be in the container. A newer document is in an OLE file where a password encrypts it. */
function fits(type: string, container: string): boolean {
  if (isVague(type) || isText(type) || kindOf(type) !== "document") return false;
  if (type === PDF || type === ZIP || type === OLE) return false;
  return container === OLE || !OLDER.includes(type);
}

function folderIn(data: string, source: Source): string {
  const { head, tail } = source.ends(data, LOOKED_AT);
  const last = lettersOf(tail);
  // The end of base64 is the end of four letters; how many the tail has depends on the escapes in it.
  for (const letters of [lettersOf(head), last.slice(last.length % LETTERS)]) {
    const folder = FOLDER.exec(Buffer.from(letters, "base64").toString("latin1"))?.[1];
    if (folder !== undefined) return folder;
  }
  return "";
}
