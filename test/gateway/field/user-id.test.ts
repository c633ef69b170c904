/**
 * Names of end users that are longer than upstreams take, such as Claude Code's 135 characters (looplj/axonhub#1669,
 * maximhq/bifrost#1000): they are told as a keyed hash, alike at each call, that says nothing of who the user is.
 */
import { expect } from "vitest";
import { type Asking, type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

/** 137 characters. */
const CLAUDE_CODE = JSON.stringify({
  device_id: "0123456789abcdef".repeat(4),
  account_uuid: "",
  session_id: "8a1b2c3d-0000-4000-8000-00000000cafe",
});
const VERY_LONG = "u".repeat(300);
const USER = { role: "user", content: "x" };

const asking = (user: string): Asking => ({
  chat: { messages: [USER], user },
  messages: { max_tokens: 9, messages: [USER], metadata: { user_id: user } },
  responses: { input: [USER], store: false, safety_identifier: user },
});

/** https://platform.openai.com/docs/api-reference: 64; https://docs.anthropic.com/en/api/messages: 256. */
const MOST = { chat: 64, responses: 64, messages: 256, gemini: 0, converse: 0 };

/** As the dialect says it; undefined where it does not. */
const told = ({ up }: Exchange): string | undefined =>
  up.json.metadata?.user_id ?? up.json.user ?? up.json.safety_identifier;

/** Bytes pass. */
const isSplice = ({ client, dialect }: Exchange): boolean => client === dialect;

const named = (name: string, user: string, isTaken: (exchange: Exchange) => boolean): Kind => ({
  name,
  ask: asking(user),
  async check(exchange) {
    const { dialect, up } = exchange;
    const id = told(exchange);
    if (isSplice(exchange)) {
      expect(id).toBe(user);
      return;
    }
    if (MOST[dialect as keyof typeof MOST] === 0) {
      expect(id).toBeUndefined();
      expect(up.raw).not.toContain(JSON.stringify(user).slice(1, -1));
      return;
    }
    if (isTaken(exchange)) {
      expect(id).toBe(user);
      return;
    }
    expect(id).toMatch(/^[a-zA-Z0-9]{32}$/);
    expect(up.raw).not.toContain(user.slice(0, 12));
    expect(told(await exchange.ask(asking(user)))).toBe(id);
    const other = await exchange.ask(asking(`${user}b`));
    if (told(other) !== `${user}b`) expect(told(other)).not.toBe(id);
  },
});

const fits =
  (user: string) =>
  ({ dialect }: Exchange): boolean =>
    user.length <= MOST[dialect as keyof typeof MOST];

kinds("names of end users", [
  named("Claude Code's", CLAUDE_CODE, fits(CLAUDE_CODE)),
  named("longer than any dialect takes", VERY_LONG, fits(VERY_LONG)),
  named("of 64 characters", "a-b_".repeat(16), () => true),
  named("of 65 characters", `${"a-b_".repeat(16)}c`, ({ dialect }) => dialect === "messages"),
  // Anthropic answers that no address and no number of a telephone may stand there.
  named("an address", "grace.hopper@navy.example", ({ dialect }) => dialect !== "messages"),
  named(
    "a name and an address",
    "Grace Hopper <grace@navy.example>",
    ({ dialect }) => dialect !== "messages",
  ),
  named("an address in JSON", '{"mail":"grace@navy.example","n":5}', ({ dialect }) => dialect !== "messages"),
  named("a sign of addresses alone", "grace@navy", () => true),
  named("digits of a telephone among others", "session 415 555 2671 of 8", () => true),
]);
