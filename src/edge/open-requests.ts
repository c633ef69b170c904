/** Port: counts the requests of a gateway. When it stops, it waits until the counts are 0. */
export interface OpenRequests {
  /** @returns whether its client shall connect anew, elsewhere: the answer then closes the connection */
  requestBegan(): boolean;
  /** It is answered, or its client is gone, or it goes on until its client leaves, so that nothing can wait for it. */
  requestEnded(): void;
  /** An answer is whole, but the client has yet to take a part of it (1), or has taken all, or is gone (-1). */
  sending(change: 1 | -1): void;
}
