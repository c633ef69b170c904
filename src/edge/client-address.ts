/**
 * The address of the client behind proxies. `X-Forwarded-For` is what its sender says, so only what a trusted proxy appended is
 * believed: the list is read from its end, and the first address that is no trusted proxy is the client's.
 */
import ipaddr from "ipaddr.js";
import { cidrAllows } from "../base/network/cidr-list.ts";
import { addressText } from "./request.ts";

/**
 * @param peer 4 or 16 bytes of who connected
 * @param forwardedFor the header; empty where missing
 * @returns the client's bytes
 */
export type ClientAddress = (peer: ArrayBuffer, forwardedFor: string) => ArrayBuffer;

/** More hops than that are nobody's real chain. */
const MOST_HOPS = 20;

/** @param trusted addresses and CIDRs of the proxies in front; empty: the peer is the client */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return (peer) => peer;
  const isTrusted = (address: string) => cidrAllows(trusted, address);
  return (peer, forwardedFor) => {
    if (forwardedFor === "" || !isTrusted(addressText(peer))) return peer;
    const hops = forwardedFor.slice(-1000).split(",").slice(-MOST_HOPS);
    let client = peer;
    for (const hop of hops.reverse()) {
      const text = hop.trim();
      if (!ipaddr.isValid(text)) return client;
      client = Uint8Array.from(ipaddr.process(text).toByteArray()).buffer;
      if (!isTrusted(text)) return client;
    }
    return client;
  };
}
