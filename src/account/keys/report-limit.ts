/**
 * How many secrets a client may report: enough for whoever has found some, too few to try or to load the store. Each process counts for
 * itself: several cells together take as many times more, which is still too few. In memory and bounded; where clients are more than there is room for, those that came first are forgotten first.
 */
import ipaddr from "ipaddr.js";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";

const WINDOW_MS = 60_000;
const MOST_A_WINDOW = 30;
const MOST_CLIENTS = 10_000;
/** Bytes of an IPv6 address that name the network which one client has to itself (RFC 6177). */
const NETWORK_BYTES = 8;

/** @returns what to call with the address of each report. @throws WeirError `rpm` for too many within a minute */
export function reportLimit({ monotonic }: Pick<Clock, "monotonic">, mostClients = MOST_CLIENTS) {
  /** By client, in the order in which their minutes began. */
  const seen = new Map<string, { readonly fromMs: number; count: number }>();
  return (address: string): void => {
    const client = clientOf(address);
    const nowMs = monotonic();
    const known = seen.get(client);
    if (known === undefined || nowMs >= known.fromMs + WINDOW_MS) {
      seen.delete(client);
      if (seen.size >= mostClients) seen.delete(seen.keys().next().value ?? "");
      seen.set(client, { fromMs: nowMs, count: 1 });
      return;
    }
    if (known.count >= MOST_A_WINDOW) {
      throw fail("rpm", `An address may report ${MOST_A_WINDOW} secrets a minute.`, {
        retryAfterMs: known.fromMs + WINDOW_MS - nowMs,
      });
    }
    known.count++;
  };
}

/** An IPv4 address, or the /64 of an IPv6 one. */
function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return "";
  const ip = ipaddr.process(address);
  return ip.kind() === "ipv4" ? ip.toString() : ip.toByteArray().slice(0, NETWORK_BYTES).join(".");
}
