/** Tells the other cells once a second which share of the calls to each endpoint failed: what users see is over all cells. */
import { z } from "zod";
import type { Health } from "./health.ts";
import type { Signals } from "./signals.ts";

const EVERY_MS = 1000;
/** Endpoints of one message. Others are told of with their next call. */
const MOST = 500;

const figure = z.number().min(0).max(1e9);
const told = z.array(z.tuple([z.string().max(500), figure, figure, figure])).max(MOST);

/** @returns ends it */
export function shareErrors(signals: Signals, health: Health, everyMs = EVERY_MS): () => void {
  const timer = setInterval(() => {
    const rows = health.errorsWithin(2 * everyMs, MOST).map(([id, errors]) => [id, ...errors]);
    if (rows.length > 0) signals.tell("errors", rows);
  }, everyMs).unref();
  signals.on("errors", (content, from) => {
    for (const [id, ...errors] of told.safeParse(content).data ?? []) health.heardErrors(from, id, errors);
  });
  return () => clearInterval(timer);
}
