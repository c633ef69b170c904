/** Commands beside a start, run in this process or in one of their own. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { runCommandLine } from "../../../src/host/commands/command-line.ts";
import { removeFolder, testGateway } from "../../support/gateway.ts";
import { MAIN, type Placed, place, run } from "../../support/process.fixtures.ts";

/** A command in this process: as `src/main.ts` runs it, without the second that a process takes to load it. */
export async function weir(where: Pick<Placed, "env">, ...words: string[]) {
  const said: string[] = [];
  const errors: string[] = [];
  const shell = {
    env: where.env,
    isTerminal: false,
    out: (text: string) => said.push(text),
    err: (text: string) => {
      said.push(text);
      errors.push(text);
    },
  };
  const code = await runCommandLine(words, shell);
  return { code, output: said.join(""), stderr: errors.join("") };
}

/** A command as a process of its own, to its end: for what stands in the way of another process. */
export async function weirProcess(where: Pick<Placed, "env">, ...words: string[]) {
  const { child, ended, output } = run(process.execPath, [MAIN, ...words], {
    env: where.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const errors: string[] = [];
  child.stderr?.on("data", (data) => errors.push(String(data)));
  const { code } = await ended;
  return { code, output: output(), stderr: errors.join("") };
}

/** A data folder, and the environment of commands on it. */
export async function withData(folder: string) {
  onTestFinished(() => removeFolder(folder));
  const dataDir = join(folder, "data");
  const { env } = await place({ DATA_DIR: dataDir });
  return { folder, dataDir, env };
}

/** A gateway in this process: for a command, the one that has the data folder. */
export const running = (folder: string) => testGateway({ folder });
