/** What commands ask of a running supervisor, by the socket in its folder: a question and an answer, each of one connection. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { askHolder } from "./folder-socket.ts";
import type { BackupCall } from "./messages.ts";

export const SUPERVISOR_SOCKET = "supervisor.sock";

export type Request =
  /** The cell, by number or name, stops in good order and stays stopped. */
  | { readonly drain: string }
  /** A cell that was drained starts again. */
  | { readonly start: string }
  /** For a backup of the folder of the cell with this number. */
  | { readonly backup: number; readonly call: BackupCall; readonly withinMs: number };

/** The supervisor's side. @param asked "" asks for the state @returns what to answer; it never rejects */
export async function answerTo(
  asked: string,
  state: () => unknown,
  act: (request: Request) => Promise<unknown>,
): Promise<string> {
  if (asked === "") return JSON.stringify(state());
  try {
    return JSON.stringify({ value: (await act(JSON.parse(asked) as Request)) ?? null });
  } catch (error) {
    return JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
  }
}

/** @throws Error with a line for the operator: what the supervisor refuses, or that none runs on the folder */
export async function askSupervisor(dataDir: string, request: Request, withinMs: number): Promise<unknown> {
  const asked = JSON.stringify(request);
  const text = existsSync(join(dataDir, SUPERVISOR_SOCKET))
    ? await askHolder(dataDir, SUPERVISOR_SOCKET, asked, withinMs)
    : undefined;
  if (text === undefined) throw new Error(`no supervisor of several cells runs on DATA_DIR=${dataDir}`);
  // A supervisor of a release before answers its state to whatever it is asked, and one that ends answers nothing.
  const answer: { value?: unknown; error?: unknown } = text === "" ? {} : JSON.parse(text);
  if (!("value" in answer || "error" in answer))
    throw new Error("the supervisor does not know this request: start it again with this release");
  if (typeof answer.error === "string") throw new Error(answer.error);
  return answer.value;
}
