/**
 * Tunnels that proxies open to providers: by CONNECT (RFC 9110, 9.3.6) or by SOCKS. What a proxy says is bounded, and its
 * words are never passed on.
 */
import { connect as connectTcp, type Socket } from "node:net";
import { openTls, peerOf, proxyPeerOf, type Sessions } from "./dial.ts";
import { ConnectError, codeOf } from "./errors.ts";
import { authorizationTo, type TunnelRequest } from "./route.ts";

interface TunnelOptions extends TunnelRequest {
  readonly sessions: Sessions;
}

interface TunnelEvents {
  /** The provider is at the other end. What it has sent already is read from the socket, which is paused. */
  onOpen(socket: Socket): void;
  /** It could not be opened, and its socket is closed. */
  onClosed(error: ConnectError): void;
}

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = "\r\n\r\n";
const BEGINNING = "HTTP/1.";
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |\r\n|$)/;

/** Whether the bytes so far may begin an HTTP head. A server of another protocol, or one that ends its lines in LF, never completes one. */
const mayBeHead = (head: string): boolean =>
  head.startsWith(BEGINNING.slice(0, head.length)) && !head.includes("\n\n");

/** @returns the socket to the proxy; to destroy it with an error is to give the tunnel up. One of the events follows. */
export function openTunnel(options: TunnelOptions, events: TunnelEvents): Socket {
  const { scheme } = options.proxy;
  const peer = proxyPeerOf(options.proxy);
  const socket = peer.isTls
    ? openTls(peer, options.sessions, "proxy")
    : connectTcp({ host: peer.host, port: peer.port });
  let fault: unknown;
  const onClose = () => events.onClosed(ofProxy(fault));
  const onFault = (error: unknown) => {
    fault ??= error;
    socket.destroy();
  };
  const onOpen = () => {
    // It was given up meanwhile: its close follows, or has been.
    if (socket.destroyed) return;
    socket.removeListener("close", onClose);
    events.onOpen(socket);
  };
  return socket
    .once(peer.isTls ? "secureConnect" : "connect", () => {
      if (scheme === "http" || scheme === "https") askByConnect(socket, options, onOpen);
      else askBySocks(socket, options, onOpen, onFault);
    })
    .on("error", onFault)
    .once("close", onClose);
}

/** An error on the way to a provider, where its proxy is the cause: the code says so. */
export const ofProxy = (error: unknown): ConnectError =>
  error instanceof ConnectError
    ? error
    : new ConnectError(`proxy_${codeOf(error) || "connection_closed"}`, error);

function askByConnect(socket: Socket, { proxy, origin }: TunnelOptions, onOpen: () => void): void {
  const { port } = peerOf(origin);
  const authority = `${origin.hostname}:${port}`;
  let head = "";
  /** Bytes of the 1xx heads before. */
  let bytesBefore = 0;
  const onData = (chunk: Buffer) => {
    // The end of the head may have begun in the read before.
    const from = Math.max(0, head.length - HEAD_END.length + 1);
    head += chunk.toString("latin1");
    const status = finalStatus(from);
    if (status === undefined) return;
    socket.removeListener("data", onData);
    if (status < 200 || status > 299) {
      socket.destroy(new ConnectError(`proxy_${status}`));
      return;
    }
    // A body that the head announces does not exist: all that follows is the tunnel's.
    socket.pause();
    if (head !== "") socket.unshift(Buffer.from(head, "latin1"));
    onOpen();
  };
  /** Undefined while the head is incomplete; 1xx heads before it are dropped. Leaves what follows it in `head`. */
  const finalStatus = (searchFrom: number): number | undefined => {
    let from = searchFrom;
    for (;;) {
      const end = head.indexOf(HEAD_END, from);
      if (bytesBefore + (end < 0 ? head.length : end) > MAX_HEAD_BYTES) {
        socket.destroy(new ConnectError("proxy_head_too_large"));
        return undefined;
      }
      if (end < 0) {
        if (!mayBeHead(head)) socket.destroy(new ConnectError("proxy_invalid_answer"));
        return undefined;
      }
      const status = Number(STATUS_LINE.exec(head)?.[1] ?? 0);
      if (status === 0) {
        socket.destroy(new ConnectError("proxy_invalid_answer"));
        return undefined;
      }
      head = head.slice(end + HEAD_END.length);
      if (status >= 200 || status === 101) return status;
      bytesBefore += end;
      from = 0;
    }
  };
  socket.on("data", onData);
  socket.write(
    `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\nuser-agent: weir\r\n${authorizationTo(proxy)}\r\n`,
  );
}

/** Loaded at the first use: few gateways have such proxies. */
function askBySocks(
  socket: Socket,
  options: TunnelOptions,
  onOpen: () => void,
  onFault: (error: unknown) => void,
): void {
  import("./socks.ts").then(({ askForTunnel }) => askForTunnel(socket, options)).then(onOpen, onFault);
}
