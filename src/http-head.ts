/** What an operation may read of its request's head, beside path and query: for sessions, directories and hooks. */
export interface HttpHead {
  /** Empty where there is none; of two lines of one name the first. @param name in lower case */
  header(name: string): string;
  cookie(name: string): string | undefined;
  /** Of the client, or of the proxy in front of it: `203.0.113.7`, `2001:db8::1`. */
  readonly address: string;
}
