/**
 * The parts of a request's head that an operation may read, besides path and query: for sessions, directories and
 * hooks.
 */
export interface HttpHead {
  /** Empty where missing; of repeated headers the first. @param name in lower case */
  header(name: string): string;
  cookie(name: string): string | undefined;
  /** Address of the client, or of the proxy in front of it: `203.0.113.7`, `2001:db8::1`. */
  readonly address: string;
}
