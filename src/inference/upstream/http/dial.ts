/** What is at the other end of a socket, a provider or a proxy, and TLS to it. */
import { isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type ProxyAddress, withoutBrackets } from "../../../base/network/proxy-address.ts";

export interface Peer {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Sessions of TLS of earlier connections, which the next one may resume. */
export interface Sessions {
  provider?: Buffer;
  proxy?: Buffer;
}

/** The origin's own end; its port is the scheme's where the URL has none. */
export const peerOf = ({ protocol, hostname, port }: URL): Peer => {
  const isTls = protocol === "https:";
  return { host: withoutBrackets(hostname), port: Number(port) || (isTls ? 443 : 80), isTls };
};

/** The proxy's end. */
export const proxyPeerOf = ({ scheme, host, port }: ProxyAddress): Peer => ({
  host,
  port,
  isTls: scheme === "https",
});

/**
 * Begins TLS to a peer.
 * @param of whose session is resumed and kept
 * @param through a tunnel to the peer; without it, a connection is made
 */
export function openTls(
  { host, port }: Peer,
  sessions: Sessions,
  of: keyof Sessions,
  through?: Socket,
): TLSSocket {
  const session = sessions[of];
  const socket = connectTls({
    host,
    port,
    // Addresses have no place in SNI (RFC 6066, 3).
    servername: isIP(host) === 0 ? host : "",
    ALPNProtocols: ["http/1.1"],
    ...(session !== undefined && { session }),
    ...(through !== undefined && { socket: through }),
  });
  return socket.on("session", (next: Buffer) => {
    sessions[of] = next;
  });
}
