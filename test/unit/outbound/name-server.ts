/** A name server over a real socket: the few bytes of RFC 1035 that an answer to one question needs. */
import { createSocket } from "node:dgram";

export interface NameServer {
  /** As `Resolver.setServers` takes it. */
  readonly at: string;
  /** `A name` and `AAAA name` of every question so far. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const TYPES: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA" };
const NO_SUCH_NAME = 3;
const SERVER_FAILURE = 2;

/**
 * @param zone the addresses (as bytes) of `A name` or `AAAA name`; `fails` for a server failure, `silent` for no answer.
 *   A name without any entry does not exist.
 */
export async function startNameServer(
  zone: Readonly<Record<string, readonly (readonly number[])[] | "fails" | "silent">>,
): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = questionOf(query);
    asked.push(`${type} ${name}`);
    const found = zone[`${type} ${name}`];
    if (found === "silent") return;
    const exists = Object.keys(zone).some((key) => key.endsWith(` ${name}`));
    const code = found === "fails" ? SERVER_FAILURE : exists ? 0 : NO_SUCH_NAME;
    const records = typeof found === "object" ? found : [];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8580 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records.map(recordOf)]), from.port);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    at: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES[query.readUInt16BE(at + 1)] ?? "other";
  return { name: labels.join(".").toLowerCase(), type, end: at + 5 };
}

/** A record with the name of the question (a pointer to it), for a minute. */
const recordOf = (address: readonly number[]): Buffer =>
  Buffer.from([0xc0, 12, 0, address.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, address.length, ...address]);
