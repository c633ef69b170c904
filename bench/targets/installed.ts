/** Finds commands of this machine and binaries that are given, and installs packages of peers once into the bench's cache. */
import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Unavailable } from "./target.ts";

const INSTALL_LIMIT_MS = 600_000;
const run = promisify(execFile);

/** The path of an executable, looked up in PATH and then in `also`. */
export function findCommand(name: string, also: readonly string[] = []): string | undefined {
  return [...(process.env.PATH ?? "").split(delimiter), ...also]
    .filter((dir) => dir !== "")
    .map((dir) => join(dir, name))
    .find(isExecutable);
}

/**
 * The path of a gateway's binary, which an environment variable has.
 * @throws Unavailable that names the variable, where it is not set, or has a path at which nothing can be run.
 */
export function givenBinary(variable: string): string {
  const path = process.env[variable] ?? "";
  if (path === "") throw new Unavailable(`${variable} does not name its binary`);
  if (!isExecutable(path)) throw new Unavailable(`${variable}: ${path} cannot be run`);
  return path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Runs an installer.
 * @throws Unavailable with the last line that says why, when it fails or takes longer than ten minutes.
 */
export async function install(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<void> {
  try {
    await run(command, [...args], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      timeout: INSTALL_LIMIT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const stderr =
      typeof error === "object" && error !== null ? String(Reflect.get(error, "stderr") ?? "") : "";
    const reason = stderr.trim().split("\n").slice(-2).join(" ") || String(error);
    throw new Unavailable(`${command} ${args[0]} failed: ${reason.slice(0, 300)}`);
  }
}
