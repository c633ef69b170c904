/**
 * Cool-downs over cells: a key that a provider refuses at one cell (for lack of capacity, with its Retry-After, or for good) is out
 * at all of them within a few dozen milliseconds. What is not heard is learned by a refused call, as in a gateway alone.
 */
import { z } from "zod";
import type { Timers } from "../../base/clock.ts";
import type { Endpoint, ProviderKey } from "../../base/endpoint.ts";
import type { Health } from "./health.ts";
import { writtenLane } from "./health-memory.ts";
import type { Signals } from "./signals.ts";

/** Refusals of many calls at once are told together. */
const TELL_MS = 20;
/** Keys of one message. More wait for the next. */
const MOST = 500;
/** Keys that wait to be told of; others are learned by refused calls. */
const MOST_WAITING = 5000;

const text = z.string().max(500);
const coolDowns = z.array(
  writtenLane.extend({ keyId: text, hint: text, endpointId: text, isByok: z.boolean() }),
);

export interface CoolDownDeps {
  readonly signals: Signals;
  readonly health: Health;
  readonly timers: Timers;
}

export function shareCoolDowns({ signals, health, timers }: CoolDownDeps): void {
  const refused = new Map<string, readonly [endpoint: Endpoint, key: ProviderKey]>();
  let isArmed = false;

  function arm(): void {
    if (isArmed) return;
    isArmed = true;
    timers.after(TELL_MS, tell);
  }

  function tell(): void {
    isArmed = false;
    const told = [];
    for (const [id, [endpoint, key]] of refused) {
      if (told.length === MOST) break;
      refused.delete(id);
      const found = health.cooling(endpoint, key);
      if (found === undefined) continue;
      const { isForbidden: _, ...cooling } = found;
      told.push({ ...cooling, endpointId: endpoint.id, isByok: key.isByok });
    }
    if (told.length > 0) signals.tell("cool-downs", told);
    if (refused.size > 0) arm();
  }

  health.onRefused((endpoint, key) => {
    if (refused.size >= MOST_WAITING) return;
    refused.set(`${endpoint.id} ${key.id}`, [endpoint, key]);
    arm();
  });
  signals.on("cool-downs", (content) => {
    for (const { endpointId, isByok, ...cooling } of coolDowns.safeParse(content).data ?? [])
      health.heardOf(endpointId, isByok, cooling);
  });
}
