/** Refuses a Redis that is not to be trusted with money: it lacks a setting, or replicas. */
import type { RedisLink, RedisValue } from "./redis.ts";
import { REQUIRED_SETTINGS } from "./required-settings.ts";

/** For replicas to have what was written so far. */
const REPLICAS_MS = 2000;

/** Redis has settings with which it would lose what it acknowledged. */
export class UnsafeSettings extends Error {}

/**
 * Refuses a Redis whose settings would lose what it acknowledged.
 * Source: https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/
 * @throws UnsafeSettings with a line for the operator that names the setting
 */
export async function assertSettings(link: RedisLink): Promise<void> {
  const settings = await settingsOf(link);
  for (const [name, value] of Object.entries(REQUIRED_SETTINGS)) {
    const found = settings.get(name);
    if (found !== value)
      throw new UnsafeSettings(
        `Redis has ${name} ${found ?? "unknown"}: set it to ${value}, or money could be lost`,
      );
  }
}

/**
 * Refuses a Redis that lacks replicas: nothing that is written to it would count.
 * @throws Error with a line for the operator
 */
export async function assertReplicas(link: RedisLink, replicas: number): Promise<void> {
  if (replicas === 0) return;
  const found = Number(await link.call("WAIT", replicas, REPLICAS_MS));
  if (found < replicas)
    throw new Error(
      `REDIS_REPLICAS: ${replicas} must have each write, and Redis has ${found} that follow it: start them first`,
    );
}

/** The required settings, as Redis has them. @throws Error with a line for the operator where it does not tell them */
export async function settingsOf(link: RedisLink): Promise<Map<string, string>> {
  const asked = Object.keys(REQUIRED_SETTINGS);
  const answers = await Promise.all(asked.map((name) => link.call("CONFIG", "GET", name))).catch(
    (error: Error) => {
      if (error.name !== "ReplyError") throw error;
      throw new Error(
        `Redis does not tell its settings (${error.message.trim()}): allow this user CONFIG GET, so that a start can check them`,
      );
    },
  );
  const texts = (answer: RedisValue) => (Array.isArray(answer) ? answer.map(String) : []);
  return new Map(answers.map((answer) => texts(answer) as [string, string]));
}
