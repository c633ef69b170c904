/**
 * Claude Code, Anthropic's coding agent, as its users run it without a terminal: the pinned program from npm, with settings, home and
 * work folder of its own, asking a gateway by the messages format. https://code.claude.com/docs/en/headless and …/llm-gateway
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentFromNpm } from "./install.ts";

const { program, missing } = agentFromNpm({
  name: "claude",
  packageName: "@anthropic-ai/claude-code",
  bin: "@anthropic-ai/claude-code/bin/claude.exe",
  // Puts the program for this machine, which is a package of its own, in the place of a file that only says it is missing.
  script: "@anthropic-ai/claude-code/install.cjs",
});

/** @returns why it cannot be had; undefined where it can. Installs it if need be, which takes minutes at worst */
export const missingClaude = missing;

export interface Claude {
  /** Where its commands run and its files are. */
  readonly work: string;
  /** Asks in a new conversation. @returns what it printed; rejects where it failed */
  ask(prompt: string): Promise<string>;
  /** Asks in the last conversation. */
  resume(prompt: string): Promise<string>;
  /** Ends it, where a test has not waited for that, and removes its folders. */
  remove(): void;
}

/** @param settings further variables, such as `API_TIMEOUT_MS` */
export function claudeAt(
  gatewayUrl: string,
  key: string,
  model: string,
  settings: Readonly<Record<string, string>> = {},
): Claude {
  const root = mkdtempSync(join(tmpdir(), "weir-claude-"));
  const [home, work] = [join(root, "home"), join(root, "work")];
  for (const folder of [home, work]) mkdirSync(folder);
  const env = { ...settingsOf(gatewayUrl, key, model), HOME: home, CLAUDE_CONFIG_DIR: home, ...settings };
  let child: ChildProcess | undefined;
  const run = async (...args: string[]): Promise<string> => {
    const flags = ["--print", "--dangerously-skip-permissions", "--strict-mcp-config"];
    const started = spawn(program, [...flags, ...args], {
      cwd: work,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    let printed = "";
    for (const stream of [started.stdout, started.stderr]) stream.on("data", (chunk) => (printed += chunk));
    const [code] = await once(started, "close");
    if (code !== 0) throw new Error(`Claude Code ended with ${code}: ${printed}`);
    return printed;
  };
  return {
    work,
    ask: (prompt) => run(prompt),
    resume: (prompt) => run("--continue", prompt),
    remove() {
      child?.kill("SIGKILL");
      rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** Nothing but the gateway is asked: no updates, no metrics; and of what the test runs in it sees where programs are. */
const settingsOf = (gatewayUrl: string, key: string, model: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  ANTHROPIC_BASE_URL: gatewayUrl,
  ANTHROPIC_AUTH_TOKEN: key,
  ANTHROPIC_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  // As root it refuses to go without permissions, except in what says that it is a sandbox.
  IS_SANDBOX: "1",
});
