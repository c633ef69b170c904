/** Port: counts the requests of a gateway that is one of several. When it stops, it waits until the count of open ones is 0. */
export interface OpenRequests {
  /** @returns whether its client shall connect anew, elsewhere: the answer then closes the connection */
  requestBegan(): boolean;
  /** It is answered, or its client is gone. */
  requestEnded(): void;
}
