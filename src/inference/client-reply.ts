/** Port for answering a client: `edge` implements it, and the steps of a call write to it. */

/** The client's connection. Every method is safe after the client has disconnected: it then does nothing. */
export interface ClientReply {
  readonly gone: boolean;
  /** Sends a complete answer. @param headers lines `name: value`, one or more, each with its line end. */
  send(status: number, headers: string, body: Buffer | string): void;
  /** Sends a complete answer of JSON to a call. @param headers as of `send`, without the type */
  sendJson(status: number, headers: string, body: Buffer | string): void;
  /**
   * Starts an event stream with status 200; only `write` and `end` may follow.
   * @param filler bytes that may be inserted between any two writes without meaning to the client.
   */
  openStream(headers: string, filler: string): void;
  /**
   * Copies the chunk before it returns: the caller may overwrite it then. False: the client reads slower than we write;
   * wait for `onDrain`.
   */
  write(chunk: Buffer): boolean;
  end(chunk?: Buffer): void;
  /** Closes the connection without ending the answer, so that a truncated answer cannot pass for a complete one. */
  abort(): void;
  onDrain(resume: () => void): void;
  /** Calls the listener when the client disconnects, at once if it already has. One listener only. */
  onGone(gone: () => void): void;
}

/** Whether bytes that are written are what may stand between any two writes without meaning. @param filler as of `openStream` */
export const isFiller = (chunk: Buffer, filler: string): boolean =>
  chunk.length === filler.length && chunk.toString("latin1") === filler;
