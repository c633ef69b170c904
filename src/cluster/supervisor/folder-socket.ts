/**
 * A socket file in a folder: the lock by which one process holds the folder, and where it answers what it is doing. The system
 * ends a dead process's lock by itself: its socket refuses connections.
 */
import { linkSync, renameSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { atPath } from "../../base/file-errors.ts";

export interface HeldFolder {
  release(): void;
}

const TRIES = 20;
const ANSWER_MS = 5000;
/** A question is one line. */
const MAX_ASKED = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Takes the lock, or resolves with undefined where a living process has it.
 * @param answer what somebody who asks by the socket is told; `asked` is "" where only the state is asked for
 */
export async function holdFolder(
  folder: string,
  name: string,
  answer: (asked: string) => string | Promise<string> = () => "",
): Promise<HeldFolder | undefined> {
  for (let tries = 0; tries < TRIES; tries++) {
    const server = createServer({ allowHalfOpen: true }, (socket) => answerOn(socket, answer));
    if (await bound(server, folder, name)) {
      server.unref();
      // Closing the server removes the file, by the name it was bound to.
      return { release: () => void within(folder, () => server.close()) };
    }
    if (await isAlive(folder, name)) return undefined;
    takeAway(folder, name);
    if (await isAlive(folder, asideOf(name))) putBack(folder, name);
    else rmSync(join(folder, asideOf(name)), { force: true });
  }
  return undefined;
}

/** Reads the question to its end, and answers. */
function answerOn(socket: Socket, answer: (asked: string) => string | Promise<string>): void {
  let asked = "";
  socket.setEncoding("utf8").setTimeout(ANSWER_MS, () => socket.destroy());
  socket.on("error", () => {});
  socket.on("data", (chunk: string) => {
    asked += chunk;
    if (asked.length > MAX_ASKED) socket.destroy();
  });
  socket.once("end", () => {
    socket.setTimeout(0);
    void Promise.resolve(answer(asked)).then((text) => socket.end(text));
  });
}

/**
 * What the holder answers; undefined where nobody holds the folder.
 * @param asked "" asks for its state
 * @throws Error if the holder does not answer within the time
 */
export function askHolder(
  folder: string,
  name: string,
  asked = "",
  withinMs = ANSWER_MS,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connectIn(folder, name);
    let text = "";
    socket.end(asked);
    socket.setEncoding("utf8").setTimeout(withinMs, () => {
      socket.destroy();
      reject(new Error(`the process that holds ${folder} does not answer`));
    });
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > MAX_ANSWER_BYTES) socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
    socket.once("close", () => resolve(text));
  });
}

/**
 * Connects to a socket file of the folder. The path of a socket may have about 100 bytes, and that of a folder more: the call is
 * made from within the folder, in one synchronous step, so that no other code sees the change.
 */
export const connectIn = (folder: string, name: string): Socket => within(folder, () => connect(name));

function within<T>(folder: string, act: () => T): T {
  const back = process.cwd();
  process.chdir(folder);
  try {
    return act();
  } finally {
    process.chdir(back);
  }
}

const bound = (server: Server, folder: string, name: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(atPath(error, join(folder, name))),
    );
    within(folder, () => server.listen(name, () => resolve(true)));
  });

/** Whether a living process listens on the socket. */
export const isAlive = (folder: string, name: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectIn(folder, name);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    // A full queue belongs to a living process that is busy.
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });

const asideOf = (name: string): string => `${name}.${process.pid}`;

/** Two processes may find the same dead socket, and the slower one would remove what the faster one has just bound. */
function takeAway(folder: string, name: string): void {
  try {
    renameSync(join(folder, name), join(folder, asideOf(name)));
  } catch {
    // Another process was faster.
  }
}

function putBack(folder: string, name: string): void {
  try {
    linkSync(join(folder, asideOf(name)), join(folder, name));
  } catch {
    // A third process holds it by now.
  }
  rmSync(join(folder, asideOf(name)), { force: true });
}
