/** What answers a client: `edge` fills this port, and steps of a call write to it. */

/** The answer's socket. Every method is safe after the client has gone: it then does nothing. */
export interface ClientReply {
  readonly gone: boolean;
  /** A whole answer. @param headers lines `name: value`, one or more, each with its line end. */
  send(status: number, headers: string, body: Buffer | string): void;
  /**
   * Status 200 and headers of an event stream; nothing may follow but `write` and `end`.
   * @param filler what may stand between any two writes and says nothing to the client.
   */
  openStream(headers: string, filler: string): void;
  /**
   * Takes all of the chunk before it returns: the caller may overwrite it then.
   * False: the client reads slower than we write; wait for `onDrain`.
   */
  write(chunk: Buffer): boolean;
  end(chunk?: Buffer): void;
  /** Ends the connection without ending the answer, so that a cut answer cannot pass for a whole one. */
  abort(): void;
  onDrain(resume: () => void): void;
  /** Tells one listener, at once where the client has gone already. */
  onGone(gone: () => void): void;
}
