/**
 * A few questions to a Redis server over its socket file, each on a connection of its own: who are you, how are you set. Not for
 * the data of calls.
 * Format: https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
import { connectIn } from "./folder-socket.ts";

const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Sends one inline command. Resolves with the answer's lines, lengths and counts left out; an error answer is one line that
 * starts with `-`. Undefined where nobody listens, or nothing complete comes in time.
 */
export function askRedis(
  folder: string,
  socketName: string,
  command: string,
  withinMs: number,
): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    const socket = connectIn(folder, socketName);
    let text = "";
    const done = (answer: readonly string[] | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => done(undefined), withinMs);
    socket.setEncoding("utf8").once("connect", () => socket.write(`${command}\r\n`));
    socket.on("data", (chunk: string) => {
      text += chunk;
      const answer = text.length > MAX_ANSWER_BYTES ? [] : linesOf(text);
      if (answer !== undefined) done(answer.length === 0 ? undefined : answer);
    });
    socket.once("error", () => done(undefined));
    socket.once("close", () => done(undefined));
  });
}

/** Undefined while the answer is incomplete. ASCII is assumed: lengths are bytes. */
function linesOf(text: string): string[] | undefined {
  const end = text.indexOf("\r\n");
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const count = Number(head.slice(1));
  if (head.startsWith("$")) {
    if (count < 0) return ["-nil"];
    const body = text.slice(end + 2);
    return body.length >= count + 2 ? body.slice(0, count).split("\r\n") : undefined;
  }
  if (!head.startsWith("*")) return [head];
  const parts = text.slice(end + 2).split("\r\n");
  // Each part is two lines, its length and itself; the last one is followed by an empty one.
  return parts.length > 2 * count ? parts.filter((_, i) => i < 2 * count && i % 2 === 1) : undefined;
}
