/**
 * Codex, OpenAI's coding agent, as its users run it without a terminal: the pinned program from npm, with settings, home and work
 * folder of its own, asking a gateway by the responses format. https://developers.openai.com/codex/noninteractive
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentFromNpm } from "./install.ts";

const { program, missing } = agentFromNpm({
  name: "codex",
  packageName: "@openai/codex",
  bin: ".bin/codex",
});

/** @returns why it cannot be had; undefined where it can. Installs it if need be, which takes minutes at worst */
export const missingCodex = missing;

export interface Codex {
  /** Where its commands run and its patches apply. */
  readonly work: string;
  /** Asks in a new conversation. @returns what it printed; rejects where it failed */
  exec(prompt: string): Promise<string>;
  /** Asks in the last conversation. */
  resume(prompt: string): Promise<string>;
  /** Ends it, where a test has not waited for that, and removes its folders. */
  remove(): void;
}

/**
 * @param model Codex chooses its tools by it: by what stands behind the last `/`, and by the longest name that it knows of that
 * @param compresses whether it sends its requests in zstd, which it does for who is signed in at ChatGPT: the token is the key then
 */
export function codexAt(gatewayUrl: string, key: string, model: string, compresses = false): Codex {
  const root = mkdtempSync(join(tmpdir(), "weir-codex-"));
  const [home, work] = [join(root, "home"), join(root, "work")];
  for (const folder of [home, work]) mkdirSync(folder);
  writeFileSync(join(home, "config.toml"), settings(gatewayUrl, model, compresses ? SIGNED_IN : WITH_KEY));
  if (compresses) writeFileSync(join(home, "auth.json"), signedIn(key));
  let child: ChildProcess | undefined;
  const run = async (...args: string[]): Promise<string> => {
    // Its processes see nothing of this one but where programs are.
    const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, WEIR_KEY: key };
    const started = spawn(program, ["exec", ...args], { cwd: work, env, stdio: ["ignore", "pipe", "pipe"] });
    child = started;
    let printed = "";
    for (const stream of [started.stdout, started.stderr]) stream.on("data", (chunk) => (printed += chunk));
    const [code] = await once(started, "close");
    if (code !== 0) throw new Error(`Codex ended with ${code}: ${printed}`);
    return printed;
  };
  return {
    work,
    exec: (prompt) => run("--skip-git-repo-check", prompt),
    resume: (prompt) => run("resume", "--last", "--skip-git-repo-check", prompt),
    remove() {
      child?.kill("SIGKILL");
      rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** Nothing but the gateway is asked: no updates, no metrics, no second try. */
const settings = (gatewayUrl: string, model: string, credential: string): string => `
model = "${model}"
model_provider = "weir"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
chatgpt_base_url = "${gatewayUrl}/none"

[model_providers.weir]
${credential}
base_url = "${gatewayUrl}/v1"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`;

const WITH_KEY = 'name = "Weir"\nenv_key = "WEIR_KEY"';
/** Its requests are compressed for a provider of this name alone. */
const SIGNED_IN = 'name = "OpenAI"\nrequires_openai_auth = true';

/** `auth.json` of a person who is signed in; the id token only says who. */
function signedIn(accessToken: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const account = { chatgpt_plan_type: "pro", chatgpt_account_id: "account", chatgpt_user_id: "user" };
  const claims = { email: "person@example.test", "https://api.openai.com/auth": account };
  const tokens = {
    id_token: `${part({ alg: "none" })}.${part(claims)}.none`,
    access_token: accessToken,
    refresh_token: "none",
    account_id: "account",
  };
  return JSON.stringify({ auth_mode: "chatgpt", tokens, last_refresh: new Date().toISOString() });
}
