/** Tunnels by SOCKS 5 (RFC 1928), with a user's password where the proxy asks for one (RFC 1929). */
import { lookup } from "node:dns/promises";
import { isIP, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { SocksClient } from "socks";
import { peerOf } from "./dial.ts";
import { ConnectError, codeOf } from "./errors.ts";
import type { TunnelRequest } from "./route.ts";

/**
 * Asks over an open connection to the proxy; leaves the socket paused.
 * @throws ConnectError
 */
export async function askForTunnel(
  socket: Socket,
  { proxy, origin, connectTimeoutMs }: TunnelRequest,
): Promise<void> {
  const { host, port } = peerOf(origin);
  // The library writes the length into one byte, and throws where nothing catches it.
  if (host.length > MAX_NAME_BYTES) throw new ConnectError("proxy_name_too_long");
  const destination = { host: proxy.scheme === "socks5h" ? host : await addressOf(host), port };
  const { credentials } = proxy;
  const signIn = credentials && {
    userId: credentials.user.toString(),
    password: credentials.password.toString(),
  };
  try {
    await SocksClient.createConnection({
      proxy: { host: proxy.host, port: proxy.port, type: 5, ...signIn },
      command: "connect",
      destination,
      existing_socket: socket,
      timeout: connectTimeoutMs,
    });
  } catch (error) {
    // The library's error holds the password: only its words are read.
    throw new ConnectError(codeOfWords(error instanceof Error ? error.message : "", signIn !== undefined));
  }
  await assertSilent(socket);
}

/**
 * The library gives what came behind the proxy's answer to whoever listens, in the next turn. No provider speaks first: such bytes
 * would be taken for its answer to the first request.
 */
async function assertSilent(socket: Socket): Promise<void> {
  let isSilent = true;
  const onData = () => {
    isSilent = false;
  };
  socket.on("data", onData);
  await turn();
  socket.removeListener("data", onData).pause();
  if (!isSilent) throw new ConnectError("proxy_invalid_answer");
}

/** @throws ConnectError with the code of `getaddrinfo`: it is the provider whose name is unknown */
async function addressOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  try {
    return (await lookup(host)).address;
  } catch (error) {
    throw new ConnectError(codeOf(error), error);
  }
}

/** RFC 1928, 5: one byte for the length of a name. */
const MAX_NAME_BYTES = 255;

/** The names that the library has for the replies of RFC 1928, 6. */
const REPLY = /rejected connection - (\w{1,40})$/;

function codeOfWords(message: string, hasPassword: boolean): string {
  const reply = REPLY.exec(message)?.[1];
  // The proxy grants the connection, but in another version of SOCKS.
  if (reply !== undefined) return reply === "Granted" ? "proxy_invalid_answer" : `proxy_socks_${reply}`;
  if (message.includes("Authentication failed"))
    return hasPassword ? "proxy_socks_password_refused" : "proxy_socks_password_needed";
  if (message.includes("no accepted authentication")) return "proxy_socks_password_needed";
  return message === "Socket closed" ? "proxy_connection_closed" : "proxy_invalid_answer";
}
