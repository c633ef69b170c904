/**
 * Connections to addresses that were checked. They are dialled by address, so nothing is looked up here. A kept one belongs to
 * its origin and address, and is used again only by a call that has just been allowed this very address: one that the name
 * had at its last look-up, 30 seconds ago at most.
 */
import type { ClientRequest, ClientRequestArgs } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import type { Timers } from "../base/clock.ts";
import { Agent } from "../base/network/node-http.ts";
import { type Address, readAddress } from "./address.ts";
import { OutboundError, type Phase } from "./failure.ts";

/** Where a request goes, and what became of its connection. */
export interface Dial {
  readonly origin: string;
  readonly address: Address;
  readonly port: number;
  /** Who the certificate must be for; undefined: without TLS. */
  readonly serverName: string | undefined;
  /** Limit for TCP to connect, where there is another address to try; undefined: that of the call. */
  readonly connectMs: number | undefined;
  /** Asked once more when it is connected: something of the installation may have begun to listen there meanwhile. */
  readonly isAllowed: () => boolean;
  phase: Phase;
}

/** The options of a request that goes through this agent. */
export interface DialArgs extends ClientRequestArgs {
  readonly dial: Dial;
}

export interface AgentOptions {
  readonly timers: Timers;
  /** Certificates of authorities (PEM) that are trusted beside the list that Node carries. */
  readonly ca: readonly string[];
  /** Connections without a call; the one that has waited longest is closed for a new one. */
  readonly maxIdle: number;
  /** After this time a connection without a call is closed, or earlier if the receiver says so (`Keep-Alive`). */
  readonly idleMs: number;
}

const nameOf = ({ origin, address }: Dial): string => `${origin} ${address.text}`;

/** Has no `proxyEnv`, and does not use Node's way to connect: no proxy of the environment is asked. */
export class CheckedAgent extends Agent {
  readonly #timers: Timers;
  readonly #context: SecureContext;
  readonly #maxIdle: number;
  /** Those that have waited longest come first. */
  readonly #idle = new Set<Socket>();
  readonly #open = new Set<Socket>();

  constructor({ timers, ca, maxIdle, idleMs }: AgentOptions) {
    super({ keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdle });
    this.#timers = timers;
    this.#maxIdle = maxIdle;
    // Once for all connections: reading certificates takes milliseconds.
    this.#context = createSecureContext({
      minVersion: "TLSv1.2",
      ...(ca.length > 0 && { ca: [...rootCertificates, ...ca] }),
    });
  }

  /** Number of connections, idle ones included. */
  get connections(): number {
    return this.#open.size;
  }

  /** Closes connections without a call to the same origin and address. */
  closeIdle(dial: Dial): void {
    for (const socket of this.freeSockets[nameOf(dial)] ?? []) socket.destroy();
  }

  // -- Agent --

  override getName(options?: ClientRequestArgs): string {
    return nameOf((options as DialArgs).dial);
  }

  override createConnection(options: ClientRequestArgs): Socket {
    const { dial } = options as DialArgs;
    const socket = this.#dial(dial);
    const endConnecting = this.#limitConnecting(socket, dial.connectMs);
    this.#open.add(socket);
    // Between two requests nobody else listens for a moment, and an error without a listener ends the process.
    socket.on("error", () => {});
    socket.once("connect", () => {
      endConnecting();
      // The second look, before anything is sent: what is connected is what was checked.
      const { remoteAddress } = socket;
      if (remoteAddress === undefined) {
        // The peer has closed it already.
        socket.destroy(new OutboundError("connect", { code: "ECONNRESET" }));
        return;
      }
      if (readAddress(remoteAddress)?.text !== dial.address.text || !dial.isAllowed()) {
        socket.destroy(new OutboundError("refused_address"));
        return;
      }
      dial.phase = dial.serverName === undefined ? "open" : "handshake";
    });
    socket.once("secureConnect", () => {
      dial.phase = "open";
    });
    socket.once("close", () => {
      endConnecting();
      this.#open.delete(socket);
      this.#idle.delete(socket);
    });
    return socket;
  }

  override keepSocketAlive(socket: Socket): boolean {
    // Declared without a result, and false where the receiver is about to close it.
    const isKept: unknown = super.keepSocketAlive(socket);
    if (isKept === false) return false;
    if (this.#idle.size >= this.#maxIdle) {
      const [oldest] = this.#idle;
      oldest?.destroy();
    }
    this.#idle.add(socket);
    return true;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    this.#idle.delete(socket);
    super.reuseSocket(socket, request);
  }

  #limitConnecting(socket: Socket, ms: number | undefined): () => void {
    if (ms === undefined) return () => {};
    return this.#timers.after(ms, () => socket.destroy(new OutboundError("connect", { code: "ETIMEDOUT" })));
  }

  #dial({ address, port, serverName }: Dial): Socket {
    const host = address.text;
    if (serverName === undefined) return connectTcp({ host, port, noDelay: true });
    return connectTls({
      host,
      port,
      // Addresses have no place in SNI (RFC 6066, 3); the certificate is then compared with `host`.
      servername: readAddress(serverName) === undefined ? serverName : "",
      ALPNProtocols: ["http/1.1"],
      secureContext: this.#context,
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
    }).setNoDelay(true);
  }
}
