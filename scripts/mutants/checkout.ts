/** A copy of the repository in the state in which it is, committed or not, so that no fault is ever in a file of the user's. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

export const REPO = join(import.meta.dirname, "../..");

/** Texts and the tests of scripts change no coverage. */
const RUN =
  /^(?:src|simulator|config)\/|^test\/(?!unit\/(?:scripts|tidy|docs)\/|README\.md$)|^package-lock\.json$/;

export interface Checkout {
  readonly folder: string;
  /** Names the state of what tests run. */
  readonly state: string;
}

/** @param folder that is empty */
export function checkOut(folder: string): Checkout {
  const hash = createHash("sha256");
  for (const path of files()) {
    const from = join(REPO, path);
    const to = join(folder, path);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to, { verbatimSymlinks: true, preserveTimestamps: true });
    if (RUN.test(path)) hash.update(path).update(readFileSync(from));
  }
  linkPackages(folder);
  return { folder, state: hash.digest("hex").slice(0, 16) };
}

/** One by one, so that what runs of tests keep in the packages' cache stays the copy's own. */
function linkPackages(folder: string): void {
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(join(REPO, "node_modules"))) {
    if (name !== ".cache") symlinkSync(join(REPO, "node_modules", name), join(folder, "node_modules", name));
  }
}

export const readFrom = ({ folder }: Checkout, path: string): string =>
  readFileSync(join(folder, path), "utf8");

/** Runs with this text in place of a file's, which is put back whatever happens. */
export async function withText<T>(
  { folder }: Checkout,
  path: string,
  text: string,
  run: () => Promise<T>,
): Promise<T> {
  const original = readFileSync(join(folder, path), "utf8");
  writeFileSync(join(folder, path), text);
  try {
    return await run();
  } finally {
    writeFileSync(join(folder, path), original);
  }
}

/** All that git knows of or would add. */
function files(): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: REPO,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  // In a further worktree the packages may be a link, which is no folder to git.
  return listed
    .split("\0")
    .filter((path) => path !== "" && path !== "node_modules" && existsSync(join(REPO, path)));
}
