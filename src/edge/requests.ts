/** Port of one of several gateways, which has to know at its stop when the requests that came are answered. */
export interface Requests {
  /** @returns whether its client shall connect anew, elsewhere: the answer then closes the connection */
  requestBegan(): boolean;
  /** It is answered, or its client is gone. */
  requestEnded(): void;
}
