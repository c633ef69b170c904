/**
 * Errors of files in one sentence for the operator: which file, what cannot be done with it, why, and what helps. Node's own say
 * "EIO: i/o error, fsync", without the file where it was open.
 */
import { readFileSync } from "node:fs";

/** What was to be done, by the system call: the end of "… cannot be". */
const DONE: Readonly<Record<string, string>> = {
  open: "opened",
  read: "read",
  scandir: "read",
  stat: "looked at",
  lstat: "looked at",
  statfs: "looked at",
  write: "written",
  ftruncate: "written",
  copyfile: "written",
  utime: "written",
  chmod: "made private",
  fsync: "written to the disk",
  fdatasync: "written to the disk",
  rename: "given its name",
  mkdir: "made",
  listen: "made",
  symlink: "made",
  link: "made",
  unlink: "removed",
  rm: "removed",
  rmdir: "removed",
};

interface Reason {
  readonly why: string;
  readonly remedy: string;
}

const CHECK = "Check the path";
const NO_RIGHT: Reason = {
  why: "this user may not",
  remedy: "Give this user the right to it (chown, chmod)",
};

const REASONS: Readonly<Record<string, Reason>> = {
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  EROFS: { why: "the file system is read-only", remedy: "Mount it for writing, or name a folder elsewhere" },
  ENOSPC: { why: "the disk is full", remedy: "Free some space on it" },
  EDQUOT: { why: "this user's quota on the disk is used up", remedy: "Free some space, or raise the quota" },
  EIO: { why: "the disk failed", remedy: "See the system's log (dmesg), and mend or replace the disk" },
  EFBIG: { why: "it may not grow that large", remedy: "Raise `ulimit -f`" },
  EMFILE: { why: "this process may open no more files", remedy: "Raise `ulimit -n`" },
  ENFILE: { why: "the system may open no more files", remedy: "End other programs, or raise fs.file-max" },
  ENOENT: { why: "it, or a folder on its path, is missing", remedy: CHECK },
  ENOTDIR: { why: "a part of its path is a file, not a folder", remedy: CHECK },
  EISDIR: { why: "it is a folder", remedy: CHECK },
  EEXIST: { why: "it is there already, and is of another kind", remedy: CHECK },
};

/** Why, and what helps, for a code of the system such as `EIO`; undefined for one that is not about files. */
export const reasonOf = (code: string): Reason | undefined => REASONS[code];

/**
 * The sentence. Undefined for everything but an error of the system that names a file: Node names it where it was given a path,
 * `onFile` elsewhere.
 */
export function fileErrorText(error: unknown): string | undefined {
  const { code, syscall, path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
  const reason = REASONS[code ?? ""];
  if (!(error instanceof Error) || reason === undefined || syscall === undefined || path === undefined)
    return undefined;
  return `${dest ?? path} cannot be ${DONE[syscall] ?? "used"}: ${reason.why} (${code}). ${reason.remedy}, then try again`;
}

/** The system's or a library's code of an error, such as `ENOENT`; "" if it has none. */
export function codeOf(error: unknown): string {
  const hasCode = typeof error === "object" && error !== null && "code" in error;
  return hasCode && typeof error.code === "string" ? error.code : "";
}

/** Runs what works on a file that is open already: an error of the system gets the file's path. @throws what `act` throws */
export function onFile<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw atPath(error, path);
  }
}

/** A file as text. @throws Error of the system, with the path also where the file opens and cannot be read */
export const readText = (path: string): string => onFile(path, () => readFileSync(path, "utf8"));

/** The error of the system with the path, unless it has one; any other as it is. */
export function atPath(error: unknown, path: string): unknown {
  const isBare = error instanceof Error && "syscall" in error && !("path" in error);
  return isBare ? Object.assign(error, { path }) : error;
}
