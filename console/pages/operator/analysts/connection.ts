/** The connection of an analyst as one address. Pure. */

interface Connection {
  /** ClickHouse's HTTP interface. */
  readonly url: string;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

/** `https://user:password@host:8443/?database=weir`, as clients of ClickHouse's HTTP interface take it. */
export function connectionOf({ url, database, username, password }: Connection): string {
  const address = new URL(url);
  address.username = encodeURIComponent(username);
  address.password = encodeURIComponent(password);
  address.searchParams.set("database", database);
  return address.href;
}
