/**
 * Descriptors that a child process would get beside those it is given: what this process itself got from a parent that left them
 * open, such as a shell. Node closes its own in children, but not those.
 */
import { openSync, readdirSync, readFileSync } from "node:fs";

const FDS = "/proc/self/fd";
/** Octal, as `/proc` writes it. https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html */
const CLOSED_IN_CHILDREN = 0o2000000;
const FIRST = 3;

/**
 * Further places of `stdio` for `spawn`, after the first three: /dev/null takes the place of each such descriptor.
 * Where there is no /proc, none is found.
 */
export function nothingInherited(): ("ignore" | number)[] {
  const open = descriptors().filter((fd) => fd >= FIRST && isInherited(fd));
  if (open.length === 0) return [];
  opened ??= openSync("/dev/null", "r+");
  const nothing = opened;
  return Array.from({ length: Math.max(...open) - FIRST + 1 }, (_, at) =>
    open.includes(at + FIRST) ? nothing : "ignore",
  );
}

/** /dev/null. Stays open: one for all children. */
let opened: number | undefined;

function descriptors(): number[] {
  try {
    return readdirSync(FDS).map(Number);
  } catch {
    // Not Linux.
    return [];
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "";
    return (Number.parseInt(flags, 8) & CLOSED_IN_CHILDREN) === 0;
  } catch {
    // The one that the listing itself used.
    return false;
  }
}
